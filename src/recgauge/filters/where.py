"""Rows are kept by what a further column of the table says, such as the kind of an event."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, SchemaError, did_you_mean, listed
from recgauge.filters import RowFilter
from recgauge.utils.checks import BoolArray, shown


@dataclass(frozen=True)
class Where(RowFilter):
    """Keep rows whose column has one of some values, such as purchases in a log of events.

    Parameters
    ----------
    column : str or int
        A column of the table (``dataset=table``), by name, or counted from 0 where there is no header.
    values : sequence of str or int
        What rows that stay have in it, as the table writes it.

    Raises
    ------
    ConfigError
        If no value is named.
    SchemaError
        On application, if the table has no such column, or no row with one of the values.

    Examples
    --------
    >>> events = {"event": ["view", "cart", "view"]}
    >>> log = Interactions.from_ids(["ann", "ann", "bob"], ["x", "y", "x"], attributes=events)
    >>> Where("event", ["cart"]).keep(log).tolist()
    [False, True, False]
    """

    column: str | int
    values: Sequence[str | int]

    def __post_init__(self) -> None:
        super().__post_init__()
        is_named = self.column not in ("", None)
        if is_named and isinstance(self.values, str | int):
            raise ConfigError(
                f"Where: values must be a list, got {shown(self.values)}. "
                f"Write 'filters.where.values=[{str(self.values).strip('[]')}]'."
            )
        if not is_named or not self.values:
            raise ConfigError(
                "Where: name a column and the values of rows that stay, such as "
                "filters.where.column=event_type filters.where.values=[purchase,cart]; got "
                f"{shown(self.column)} and {shown(self.values)}."
            )

    @property
    def attributes(self) -> tuple[str, ...]:
        """The column."""
        return (str(self.column),)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        column = interactions.attribute(str(self.column), "Where")
        names = [str(name) for name in column.names.tolist()]
        for value in self.values:
            if str(value) not in names:
                raise SchemaError(
                    f"Where: no row has {shown(value)} in the column {self.column}. "
                    f"{did_you_mean(str(value), names)}It has {listed(names, most=10)}."
                )
        chosen = np.isin(np.array(names, object), [str(value) for value in self.values])
        return chosen[column.codes]

    def __str__(self) -> str:
        return f"rows whose {self.column} is not {' or '.join(map(str, self.values))}"
