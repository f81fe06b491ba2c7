"""What a filter is, and the walk through the filters of a run, before the split, in their order."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.data.split import Step
from recgauge.errors import EmptySplitError
from recgauge.utils.checks import BoolArray, Checked
from recgauge.utils.lazy import lazy_names
from recgauge.utils.randomness import stream

if TYPE_CHECKING:
    from recgauge.filters.rows import Binarise as Binarise
    from recgauge.filters.rows import DateRange as DateRange
    from recgauge.filters.rows import Duplicates as Duplicates
    from recgauge.filters.rows import ItemRows as ItemRows
    from recgauge.filters.rows import MinRating as MinRating
    from recgauge.filters.rows import NCore as NCore
    from recgauge.filters.rows import PopularItems as PopularItems
    from recgauge.filters.rows import SampleUsers as SampleUsers
    from recgauge.filters.rows import UserRows as UserRows
    from recgauge.filters.where import Where as Where
else:
    __getattr__, __dir__ = lazy_names(__name__)


class Filter(Checked, ABC):
    """Makes another data set of a data set, before the split.

    Filters see every row, those that will be held out included. ``str`` of a filter says what it drops. One
    with a setting that is not valid is refused with a ConfigError when it is made.
    """

    @property
    def changes(self) -> str:
        """What happens to the values of rows that stay, in words; empty if they stay as they are."""
        return ""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Further columns of the table that the filter looks at, by name."""
        return ()

    def broken_in(self, interactions: Interactions) -> str:  # noqa: ARG002 - contract
        """Say who no longer has what the filter asks for, after later ones; empty if nobody."""
        return ""

    @abstractmethod
    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:
        """Return what is left of `dataset`, over the users and items that have rows left.

        Parameters
        ----------
        dataset : Dataset
        rng : numpy.random.Generator
            The stream of this filter alone, the only source of chance.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If the data do not have what the filter needs.
        """


class RowFilter(Filter):
    """A filter that only chooses rows; values stay as they are."""

    @abstractmethod
    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:  # noqa: ARG002 - contract
        """Return the data set of the chosen rows."""
        return dataset.with_interactions(dataset.interactions.take(self.keep(dataset.interactions)))


def with_values(dataset: Dataset, values: npt.NDArray[np.floating], *, implicit: bool = False) -> Dataset:
    """Return the data set with other values, (n,); of `implicit` ones every row is relevant."""
    rows = dataset.interactions
    revalued = Interactions(
        rows.user, rows.item, values, rows.timestamp, rows.user_ids, rows.item_ids, rows.attributes
    )
    if implicit:
        dataset = replace(dataset, feedback="implicit", relevant_from=None, scale=None)
    return replace(dataset, interactions=revalued)


def apply_filters(
    dataset: Dataset, filters: Sequence[Filter], *, seed: int = 0
) -> tuple[Dataset, tuple[Step, ...]]:
    """Run `filters` in their order; users and items without rows leave the data set.

    Parameters
    ----------
    dataset : Dataset
    filters : sequence of Filter
        The same filter may be used several times.
    seed : int
        The run's seed. Each filter draws from a stream of its own, named by its class and how often the
        class was used before, so filters without chance never change what another one draws.

    Returns
    -------
    Dataset
        The rows that are left, with new codes.
    tuple of Step
        Counts before and after each filter.

    Raises
    ------
    EmptySplitError
        If a filter leaves no rows.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> from recgauge.filters.rows import MinRating
    >>> from recgauge.filters.rows import NCore
    >>> filtered, steps = apply_filters(Demo().load(), (MinRating(4), NCore(10)))
    >>> [step.name for step in steps], steps[-1].rows[1] == len(filtered.interactions)
    (['ratings below 4', 'users and items outside the 10-core'], True)
    """
    if filters:
        dataset = _with_scale(dataset)
    steps: list[Step] = []
    used: Counter[str] = Counter()
    for rule in filters:
        name = type(rule).__name__
        filtered = rule.apply(dataset, rng=stream(seed, f"filter {name} {used[name]}"))
        used[name] += 1
        n_rows = len(dataset.interactions)
        if len(filtered.interactions) == 0:
            raise EmptySplitError(
                f"Filters: dropping {rule} leaves no row of the {n_rows} in {dataset.name}"
                f"{''.join(f'; before: {step}' for step in steps)}. Use a weaker filter."
            )
        step = Step.between(str(rule), dataset.interactions, filtered.interactions)
        steps.append(replace(step, stage="filters", note=_note(rule, dataset, filtered)))
        dataset = _with_scale(filtered)
    return dataset, tuple(steps)


def _with_scale(dataset: Dataset) -> Dataset:
    """Fix the scale before rows are dropped: low ratings that are gone still belong to it."""
    return dataset if dataset.feedback == "implicit" else replace(dataset, scale=dataset.rating_scale())


def _note(rule: Filter, before: Dataset, after: Dataset) -> str:
    """Say what became of the values: in words, and from which range to which."""
    if not rule.changes:
        return ""
    old, new = (
        f"{values.min():.6g}..{values.max():.6g}"
        for values in (before.interactions.value, after.interactions.value)
    )
    note = rule.changes if old == new else f"{rule.changes}; values {old} become {new}"
    if after.feedback != before.feedback:
        note += f", feedback {after.feedback}"
    if after.relevant_from != before.relevant_from:
        relevant = "every row" if after.relevant_from is None else f"a value from {after.relevant_from:g}"
        note += f", relevant is {relevant}"
    return note
