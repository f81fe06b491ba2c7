"""What becomes of a (user, item) pair that has several rows."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.filters import Filter, with_values
from recgauge.utils.checks import BoolArray, LongArray, check_choice, shown

Policy = Literal["error", "first", "last", "mean", "max", "count"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
_VALUES = {
    "mean": "a pair counts once, with the mean of its values",
    "max": "a pair counts once, with its highest value",
    "count": "a pair counts once, with the number of its rows",
}


@dataclass(frozen=True)
class Duplicates(Filter):
    """Leave one row of each (user, item) pair.

    Parameters
    ----------
    policy : {"error", "first", "last", "mean", "max", "count"}
        ``error``: refuse data with repeated pairs. ``first``, ``last``: the row with the earliest or latest
        time stays; rows of one time, and all rows if there are no times, go by their order. ``mean``,
        ``max``, ``count``: the last row stays, with this value; after ``count`` feedback is implicit and
        every held-out row is relevant.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from recgauge.datasets.demo import Demo
    >>> plays = Interactions.from_ids(["a", "a", "b"], [1, 1, 1], [2.0, 5.0, 3.0])
    >>> twice = replace(Demo().load(), interactions=plays, item_titles=None, item_features=None)
    >>> Duplicates("mean").apply(twice, rng=np.random.default_rng(0)).interactions.value.tolist()
    [3.5, 3.0]
    """

    policy: Policy

    def __post_init__(self) -> None:
        check_choice("Duplicates: policy", self.policy, POLICIES)

    @property
    def changes(self) -> str:
        """What happens to the values."""
        return _VALUES.get(self.policy, "")

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:  # noqa: ARG002 - contract
        """Return the data set with one row a pair.

        Raises
        ------
        SchemaError
            If `policy` is ``error`` and a pair is repeated.
        """
        rows = dataset.interactions
        order, begins = _repeated_rows(rows)
        first = np.flatnonzero(begins)
        if self.policy == "error" and len(first):
            raise _refusal(dataset, order[~begins])
        n_rows = np.diff(first, append=len(order))
        chosen = order[first] if self.policy == "first" else order[first + n_rows - 1]
        kept = np.ones(len(rows), dtype=bool)
        kept[order] = False
        kept[chosen] = True
        left = dataset.with_interactions(rows.take(kept))
        if not self.changes:
            return left
        if self.policy == "count":
            numbers = np.ones(len(rows))
            numbers[chosen] = n_rows
            return with_values(left, numbers[kept], feedback="implicit", relevant_from=None)
        values = rows.value.astype(np.float64)
        if len(first):
            merge = np.maximum if self.policy == "max" else np.add
            merged = merge.reduceat(values[order], first)
            values[chosen] = merged if self.policy == "max" else merged / n_rows
        return with_values(
            left,
            values[kept],
            feedback=dataset.feedback,
            relevant_from=dataset.relevant_from,
            scale=dataset.scale,
        )

    def __str__(self) -> str:
        kept = self.policy if self.policy in ("first", "last") else "last"
        return f"further rows of a (user, item) pair (the {kept} one stays)"


def _repeated_rows(rows: Interactions) -> tuple[LongArray, BoolArray]:
    """Return the rows of repeated pairs by pair, time and position, and where in them a pair begins."""
    pair = rows.user.astype(np.int64) * rows.n_items + rows.item
    ordered = np.sort(pair)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    # only the few rows of repeated pairs go through the slow sort, which is stable: ties stay in their order
    at = np.minimum(np.searchsorted(repeated, pair), max(len(repeated) - 1, 0))
    concerned = np.flatnonzero(repeated[at] == pair) if len(repeated) else np.zeros(0, np.int64)
    pair = pair[concerned]
    times = np.zeros(len(pair), np.int64) if rows.timestamp is None else rows.timestamp[concerned]
    order = np.lexsort((times, pair))
    begins = np.ones(len(pair), dtype=bool)
    begins[1:] = pair[order][1:] != pair[order][:-1]
    return concerned[order], begins


def _refusal(dataset: Dataset, repeats: LongArray) -> SchemaError:
    rows, row = dataset.interactions, int(repeats.min())
    return SchemaError(
        f"Duplicates: {dataset.name} must have one row per (user, item) pair, got {len(repeats)} rows more "
        f"than pairs; row {row + 1} repeats user {shown(rows.user_ids[rows.user[row]])}, "
        f"item {shown(rows.item_ids[rows.item[row]])}. Choose what stays: "
        f"filters.duplicates.policy={'|'.join(POLICIES[1:])}."
    )
