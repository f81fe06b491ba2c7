"""The long tail of a data set: items by popularity and where the head ends, as a table to draw."""

from dataclasses import dataclass

import numpy as np

from recgauge.errors import SchemaError
from recgauge.metrics.beyond.tail import by_popularity, short_head
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray, check_choice, check_real, read_only


@dataclass(frozen=True, slots=True, eq=False)
class LongTail:
    """Items with interactions, most popular first.

    Parameters
    ----------
    items : ndarray of int64, shape (n,)
        Item codes; equal counts by rising code.
    counts : ndarray of int64, shape (n,)
        Interactions, falling.
    cumulative_share : ndarray of float64, shape (n,)
        Share of all interactions that the items down to each one hold; the last is 1.
    in_head : ndarray of bool, shape (n,)
        True down to where the tail begins.
    """

    items: LongArray
    counts: LongArray
    cumulative_share: DoubleArray
    in_head: BoolArray

    def __post_init__(self) -> None:
        for name in ("items", "counts", "cumulative_share", "in_head"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_head(self) -> int:
        """Number of items in the head."""
        return int(self.in_head.sum())

    @property
    def n_tail(self) -> int:
        """Number of items with interactions in the tail."""
        return len(self.items) - self.n_head


def long_tail(counts: LongArray, head: float = 0.5, boundary: str = "tail") -> LongTail:
    """Sort items by popularity and split them into head and tail.

    Parameters
    ----------
    counts : ndarray of int, shape (n_items,)
        Interactions of each item.
    head : float
        Share of all interactions that the head holds.
    boundary : {"head", "tail"}
        Where the item goes with which the share is crossed.

    Returns
    -------
    LongTail
        Items without interactions are left out.

    Raises
    ------
    ConfigError
        If `head` or `boundary` cannot be used.
    SchemaError
        If no item has an interaction.

    Notes
    -----
    The defaults split as recmetrics' long_tail_plot does; ``head=0.8, boundary="head"`` is the short head
    of Elliot and of `LongTailShare`.

    References
    ----------
    .. [1] C. Anderson, "The Long Tail", Hyperion, 2006.

    Examples
    --------
    >>> table = long_tail(np.array([1, 6, 0, 3]), head=0.8)
    >>> table.items.tolist(), table.cumulative_share.tolist(), table.in_head.tolist()
    ([1, 3, 0], [0.6, 0.9, 1.0], [True, False, False])
    """
    check_real("long_tail: head", head, low=0, high=1, low_open=True)
    check_choice("long_tail: boundary", boundary, ("head", "tail"))
    total = int(counts.sum())
    if total == 0:
        raise SchemaError("long_tail: counts must hold interactions, got none.")
    items = by_popularity(counts)[: int(np.count_nonzero(counts))]
    ordered = counts[items].astype(np.int64)
    return LongTail(items, ordered, np.cumsum(ordered) / total, short_head(counts, head, boundary)[items])
