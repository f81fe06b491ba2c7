"""Which end of a list is its best: what ordered it, and whether its hits stand at the other end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from recgauge.errors import listed
from recgauge.utils.checks import BoolArray, LongArray

FEWEST_USERS, LEAST_RATIO, SURE = 20, 1.5, 4.0
"""Users with hits and misses, by how much lists must be better from their end, and standard errors of it."""
MOST_LISTS = 10_000
"""Lists that are looked at, which are enough to see it."""

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

    def sentence(self, order: ListOrder) -> str:
        """Return what was seen and how the lists are read the other way."""
        way = order.other or "write the best item first"
        return (
            f"the lists are better from their end: the first hit of {self.n_users:,} users with hits has a "
            f"mean reciprocal rank of {self.as_ordered:.4f}, and {self.reverse:.4f} from the end. They were "
            f"ordered by {order}. If they stand upside down: {way}"
        )


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
