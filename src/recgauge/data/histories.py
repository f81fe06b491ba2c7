"""Rows by user and time: the order of any table's rows, and where each is in its user's history.

The order that a split gives them, by its rule for rows of one time, is in `recgauge.data.sequences`.
"""

import numpy as np

from recgauge.data.interactions import Interactions, pair_codes
from recgauge.utils.checks import LongArray


def oldest_first(rows: Interactions) -> LongArray:
    """Return the positions of rows, users one after the other, each from the oldest row to the newest.

    Rows of one user and time, and all rows of a user where there are no times, stay in the table's order.

    Examples
    --------
    >>> rows = Interactions.from_ids(["a", "b", "a", "a"], ["x", "x", "y", "z"], timestamp=[9, 5, 7, 9])
    >>> oldest_first(rows).tolist(), newer_rows(rows).tolist()
    ([2, 0, 3, 1], [1, 0, 2, 0])
    """
    times = () if rows.timestamp is None else (rows.timestamp,)
    return np.lexsort((*times, rows.user))


def ranks_of(rows: Interactions, order: LongArray) -> LongArray:
    """Return each row's rank among its user's, from 0, shape (n,); `order`: positions, user after user.

    Examples
    --------
    >>> rows = Interactions.from_ids(["a", "b", "a"], ["x", "x", "y"])
    >>> ranks_of(rows, np.array([2, 0, 1])).tolist()
    [1, 0, 0]
    """
    counts, ranks = rows.user_counts(), np.empty(len(rows), np.int64)
    ranks[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


def newer_rows(rows: Interactions) -> LongArray:
    """Return how many rows of the same user come after each row, shape (n,): 0 for the newest."""
    return rows.user_counts()[rows.user] - 1 - ranks_of(rows, oldest_first(rows))


def newest_of_pairs(rows: Interactions, newer: LongArray) -> LongArray:
    """Return the position of each (user, item) pair's newest row, by rising pair; `newer`: `newer_rows`."""
    newest_first = np.argsort(newer, kind="stable")
    _, first = np.unique(pair_codes(rows)[newest_first], return_index=True)
    newest: LongArray = newest_first[first]
    return newest
