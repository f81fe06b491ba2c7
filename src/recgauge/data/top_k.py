"""Ranked lists: each user's best items with their scores."""

from dataclasses import dataclass

import numpy as np

from recgauge.errors import ScoreError
from recgauge.utils.checks import DoubleArray, FloatArray, IntArray, LongArray, read_only
from recgauge.utils.notebook import html_table


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """What scores as the last item of a full list and is not in the list.

    Parameters
    ----------
    size : ndarray of int64, shape (m,)
        How many candidates of each user; 0: the list does not end inside a group of equal scores.
    start : ndarray of int64, shape (m + 1,)
        User j's part of `gains` is ``start[j]:start[j + 1]``.
    gains : ndarray of float64, shape (g,)
        Grades of the relevant ones among them.
    drawn : ndarray of int32, shape (n_draws, t, k)
        For the t users with a `size` above 0: the first items of random orders of the whole group.
    """

    size: LongArray
    start: LongArray
    gains: DoubleArray
    drawn: IntArray

    def spread(self, rows: LongArray, n_users: int) -> "Beyond":
        """Return the same over more users: this one's user j moves to row ``rows[j]``."""
        size, counts = np.zeros(n_users, np.int64), np.zeros(n_users, np.int64)
        size[rows], counts[rows] = self.size, np.diff(self.start)
        by_row = np.argsort(np.repeat(rows, np.diff(self.start)), kind="stable")
        drawn = self.drawn[:, np.argsort(rows[self.size > 0])]
        return Beyond(size, np.concatenate(([0], np.cumsum(counts))), self.gains[by_row], drawn)

    def take(self, rows: LongArray) -> "Beyond":
        """Return the same of some users, given by rising rows."""
        counts = np.diff(self.start)
        kept = np.zeros(len(self.size), np.bool_)
        kept[rows] = True
        drawn = self.drawn[:, kept[self.size > 0]]
        start = np.concatenate(([0], np.cumsum(counts[rows])))
        return Beyond(self.size[rows], start, self.gains[np.repeat(kept, counts)], drawn)


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """Ranked lists, best item first.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes, distinct.
    items : ndarray of int32, shape (m, k)
        Item codes, distinct in a row; -1 pads lists that are shorter than k.
    scores : ndarray of float32, shape (m, k)
        Falling in a row, equal scores by rising item code unless ties are shuffled; -inf where padded.
    beyond : Beyond or None
        What ties with the last items of the lists; None: not known.
    distinct : bool
        Whether no list is known to hold an item twice, so that it need not be looked for again.
    """

    users: IntArray
    items: IntArray
    scores: FloatArray
    beyond: Beyond | None = None
    distinct: bool = False

    def __post_init__(self) -> None:
        if self.items.shape != self.scores.shape or len(self.items) != len(self.users):
            raise ScoreError(
                "TopK: items and scores must have shape (n_users, k), got "
                f"{self.items.shape} and {self.scores.shape} for {len(self.users)} users."
            )
        for name in ("users", "items", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __repr__(self) -> str:
        """Return how many lists there are and how long they are, in one line."""
        return f"TopK({len(self.users):,} users, k={self.items.shape[1]})"

    def _repr_html_(self) -> str:
        """Return the beginnings of the first lists, as codes."""
        rows = [
            [str(user), ", ".join(str(item) for item in items[:10] if item >= 0)]
            for user, items in zip(self.users[:5], self.items[:5], strict=True)
        ]
        return html_table(rows, ["user code", "item codes, best first"], [repr(self)])

    @property
    def lengths(self) -> IntArray:
        """Number of items in each list, shape (m,), none of which follows an empty place."""
        # nearly all lists are full: only the others are counted, which saves a pass over everything
        lengths = np.full(len(self.items), self.items.shape[1], np.int32)
        short = np.flatnonzero(self.items[:, -1:].ravel() < 0)
        lengths[short] = (self.items[short] >= 0).sum(axis=1)
        return lengths

    def of(self, users: IntArray) -> "TopK":
        """Return the lists of some of the users; both are rising codes."""
        if len(users) == len(self.users):
            return self
        rows = np.searchsorted(self.users, users)
        beyond = None if self.beyond is None else self.beyond.take(rows)
        return TopK(users, self.items[rows], self.scores[rows], beyond, self.distinct)
