"""Which end of a list is its best: what ordered it, and whether its hits stand at the other end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from recgauge.data.interactions import pairs_matrix, stored
from recgauge.data.lists import Relevant, TopK
from recgauge.errors import listed
from recgauge.files.rows import Rows, as_scores
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray

FEWEST_USERS, LEAST_RATIO, SURE = 20, 1.5, 4.0
"""Users with hits and misses, by how much lists must be better from their end, and standard errors of it."""
MOST_LISTS = 10_000
"""Lists that are looked at, which are enough to see it."""
FEWEST_RISING, MOST_RISE = 10, 0.95
"""From how many lists, and which share of them, scores that rise or count the items are no chance."""
LEAST_FALL = 0.5
"""Share of lists that stand in falling order from which scores that count the items are no ranks."""

_Eligible = Callable[[IntArray, IntArray], BoolArray]
Direction = Literal["rank, rising", "score, falling", "row"]


@dataclass(frozen=True, slots=True)
class ListOrder:
    """What ordered lists: ranks, scores, or the rows and cells of the file, best first.

    Parameters
    ----------
    direction : {"rank, rising", "score, falling", "row"}
    column : str
        Of ranks or scores; empty if there is none.
    other : str
        Words that read the lists the other way.
    """

    direction: Direction = "row"
    column: str = ""
    other: str = ""

    @classmethod
    def of(cls, rows: Rows, *, by_rank: bool, words: Callable[[str, str], str], keep: str) -> Self:
        """Return what orders the lists of rows; `words` choose a column, and `keep` scores that rise."""
        label = rows.labels.get("rank" if by_rank else "score", "")
        if by_rank and not label:
            return cls()
        label = label or "a list's own"
        way = words("score" if by_rank else "rank", label.removeprefix("column "))
        if by_rank:  # the numbers mostly rise from row to row
            return cls("rank, rising", label, f"{way} {keep}")
        values = rows.numbers["score"]
        if not ((values >= 0) & (values == np.floor(values))).all():
            way = as_scores(rows, "score")
        return cls("score, falling", label, way)

    def question(self, keep: str) -> str:
        """Return which end may be the best, with the words for either; `keep` reads falling scores."""
        return f"If the lowest number is the best: {self.other}. If the highest is: {keep}."

    def __str__(self) -> str:
        """Return both in words, such as ``rank, rising (column 2)``."""
        return f"{self.direction} ({self.column})" if self.column else self.direction


@dataclass(frozen=True, slots=True)
class Reversal:
    """How much better lists are from their end to their beginning.

    Parameters
    ----------
    n_users : int
        Users whose lists have both hits and misses.
    as_ordered, reverse : float
        Mean reciprocal rank of the first hit, from either end.
    """

    n_users: int
    as_ordered: float
    reverse: float

    @classmethod
    def of(cls, start: LongArray, hit: BoolArray) -> Self | None:
        """Look at lists back to back, list j at ``start[j]:start[j + 1]``; None unless the end is better.

        A list's mean place of hits is in the middle by chance. Over the users it must be behind the middle by
        `SURE` standard errors, and the first hit so much nearer to the end that chance in few users, or a
        poor model, is no explanation.

        Examples
        --------
        >>> lists, hit = np.arange(0, 330, 11), np.zeros(319, bool)
        >>> hit[9::11] = True
        >>> Reversal.of(lists, hit)
        Reversal(n_users=29, as_ordered=0.1, reverse=0.5)
        >>> Reversal.of(lists, hit[::-1]) is None
        True
        """
        start = start[: MOST_LISTS + 1]
        lengths = np.diff(start)
        at = np.flatnonzero(hit[: start[-1]])
        owner = np.searchsorted(start, at, side="right") - 1
        place = at - start[owner]
        n_hits = np.bincount(owner, minlength=len(lengths))
        users = np.flatnonzero((n_hits > 0) & (n_hits < lengths))
        if len(users) < FEWEST_USERS:
            return None
        middle = (lengths[users] - 1) / 2
        behind = np.bincount(owner, place, minlength=len(lengths))[users] / n_hits[users] / middle - 1
        error = behind.std(ddof=1) / np.sqrt(len(users))
        first, last = np.searchsorted(owner, users), np.searchsorted(owner, users, side="right") - 1
        ordered = round(float((1 / (place[first] + 1)).mean()), 4)
        reverse = round(float((1 / (lengths[users] - place[last])).mean()), 4)
        if behind.mean() <= SURE * error or reverse < LEAST_RATIO * ordered:
            return None
        return cls(len(users), ordered, reverse)

    @classmethod
    def of_top_k(cls, lists: TopK, relevant: Relevant, eligible: _Eligible, n_items: int) -> Self | None:
        """Look at lists without the items that are not `eligible`; None unless the end is better.

        Parameters
        ----------
        lists : TopK
        relevant : Relevant
        eligible : callable
            Says of users (n,) and items (n,) which pairs are looked at (n,).
        n_items : int
            Above all codes of items.
        """
        row, place = np.nonzero(lists.items[:MOST_LISTS] >= 0)
        users, items = lists.users[row], lists.items[row, place]
        kept = eligible(users, items)
        users, items, row = users[kept], items[kept], row[kept]
        shape = int(max(users.max(initial=-1), relevant.users.max(initial=-1))) + 1, n_items
        owner = np.repeat(relevant.users, np.diff(relevant.start))
        hit = stored(pairs_matrix(owner, relevant.items, shape), users, items)
        lengths = np.bincount(row, minlength=min(len(lists.users), MOST_LISTS))
        return cls.of(np.concatenate(([0], np.cumsum(lengths))), hit)

    def sentence(self, order: ListOrder) -> str:
        """Return what was seen and how the lists are read the other way."""
        way = order.other or "write the best item first"
        return (
            f"the lists are better from their end: the first hit of {self.n_users:,} users with hits has a "
            f"mean reciprocal rank of {self.as_ordered:.4f}, and {self.reverse:.4f} from the end. They were "
            f"ordered by {order}. If they stand upside down: {way}"
        )


def lists_like_ranks(
    start: LongArray, score: DoubleArray, row: IntArray | LongArray | None
) -> BoolArray | None:
    """Return which lists, by falling score, have scores that look like ranks; None if too few have.

    Scores look like ranks where they rise as they were written, or are 1 to n in any other order, in nearly
    all lists of three different scores or more. Few or very short lists do so by chance.

    Parameters
    ----------
    start : ndarray of int64, shape (m + 1,)
        List j is at ``start[j]:start[j + 1]``.
    score : ndarray of float64, shape (n,)
    row : ndarray of int, shape (n,), or None
        Where the items were written; None: in this order.

    Returns
    -------
    ndarray of bool, shape (m,), or None

    Examples
    --------
    >>> start, score, row = np.arange(0, 33, 3), np.tile([0.9, 0.5, 0.1], 10), np.arange(30)
    >>> lists_like_ranks(start, score, row) is None, lists_like_ranks(start, score, row[::-1]).sum()
    (True, np.int64(10))
    """
    if row is None:
        return None
    steps = np.ones(max(0, len(score) - 1), bool)
    steps[start[1:-1] - 1] = False
    steps &= score[1:] < score[:-1]
    n_lists, at = len(start) - 1, np.flatnonzero(steps)
    of_list = np.searchsorted(start, at, side="right") - 1
    n_steps = np.bincount(of_list, minlength=n_lists)
    n_rising = np.bincount(of_list[row[at + 1] < row[at]], minlength=n_lists)
    n_unit_steps = np.bincount(of_list[score[at] - score[at + 1] == 1], minlength=n_lists)
    ordered = n_steps > 1
    rising: BoolArray = ordered & (n_rising == n_steps)
    numbered: BoolArray = ordered & (n_unit_steps == np.diff(start) - 1)
    numbered[numbered] = score[start[1:][numbered] - 1] == 1
    if np.count_nonzero(ordered & (n_rising == 0)) >= LEAST_FALL * np.count_nonzero(ordered):
        numbered[:] = False
    for mask in (rising, numbered):
        if mask.sum() >= FEWEST_RISING and mask.sum() >= MOST_RISE * ordered.sum():
            return mask
    return None


def opposite_orders(orders: Mapping[str, str]) -> str:
    """Return that runs were ordered by rank and by score, with their names; empty if they were not.

    `orders` are texts of `ListOrder`.

    Examples
    --------
    >>> opposite_orders({"a": "rank, rising (column 2)", "b": "score, falling (column 2)"})
    'a ordered by rank, rising (column 2); b by score, falling (column 2): one of them may be upside down'
    >>> opposite_orders({"a": "rank, rising (place)", "b": "row"})
    ''
    """
    runs: dict[str, list[str]] = {}
    for name, order in orders.items():
        runs.setdefault(order, []).append(name)
    kinds = {order.partition(",")[0] for order in runs} & {"rank", "score"}
    if len(kinds) < 2:
        return ""
    texts = [f"{listed(names, most=4)} by {order}" for order, names in runs.items()]
    texts[0] = texts[0].replace(" by ", " ordered by ", 1)
    columns = {order.partition("(")[2] for order in runs if order != "row"}
    warning = "one of them may be upside down" if len(columns) == 1 else "is that meant?"
    return f"{'; '.join(texts)}: {warning}"
