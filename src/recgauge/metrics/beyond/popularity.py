"""What lists have of what is known: popular items, the long tail, and items that the user has seen."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond import mean_over_list, row_blocks, seen_items, train_rows, train_users
from recgauge.metrics.metric import UserMetric, divide, list_length, number
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray


@dataclass(frozen=True)
class LongTailShare(UserMetric):
    r"""Share of the list outside the short head (average percentage of long tail items, APLT).

    .. math:: \mathrm{APLT@}k(u) = \frac{|L_k \setminus H|}{|L_k|}

    Parameters
    ----------
    head : float, default 0.8
        Share of all training interactions that the most popular items must reach to be the head.
    boundary : {"head", "tail"}, default "head"
        Where the item goes with which the share is crossed.
    untrained : {"tail", "neither"}, default "tail"
        Whether items without training interactions are in the tail.
    divisor : {"k", "list"}, default "list"
        What the number of tail items is divided by.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    In plain Python
    ---------------
    >>> def long_tail_share(items, k, train, n_items):
    ...     count = {item: sum(item in seen for seen in train.values()) for item in range(n_items)}
    ...     head, held = set(), 0
    ...     for item in sorted(count, key=lambda item: -count[item]):
    ...         if held >= 0.8 * sum(count.values()) - 1e-9:
    ...             break
    ...         head.add(item)
    ...         held += count[item]
    ...     tail = [item not in head for item in items[:k]]
    ...     return sum(tail) / len(tail) if tail else math.nan

    Notes
    -----
    Range [0, 1]; higher is better where popularity bias is to be avoided. NaN for an empty
    list with ``divisor="list"``.

    Elliot APLT: ``untrained="neither"`` (source). recmetrics 0.1.5 long_tail_plot splits with ``head=0.5,
    boundary="tail"``.

    References
    ----------
    .. [1] H. Abdollahpouri, R. Burke, B. Mobasher, "Controlling popularity bias in learning-to-rank
       recommendation", RecSys 2017.

    Examples
    --------
    Items 0 and 1 hold five of six interactions; the lists' others are tail:

    >>> from recgauge.metrics.examples import beyond_example
    >>> LongTailShare().per_user(beyond_example(), 2)
    array([1. , 0.5])
    """

    name: ClassVar[str] = "long_tail_share"
    label: ClassVar[str] = "LongTailShare"
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    head: float = number(0.8, low=0.0, high=1.0, low_open=True)
    boundary: Literal["head", "tail"] = "head"
    untrained: Literal["tail", "neither"] = "tail"
    divisor: Literal["k", "list"] = "list"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the tail's share of each list, shape (m,)."""
        rows = train_rows(self, judged)
        tail = ~short_head(rows, self.head, self.boundary)
        if self.untrained == "neither":
            tail &= rows > 0
        return mean_over_list(tail, judged, k, self.divisor)


@dataclass(frozen=True)
class TailPercentage(UserMetric):
    r"""Share of the list among the least popular items.

    .. math:: \frac{|L_k \cap T|}{k}

    Parameters
    ----------
    tail : float, default 0.1
        Share of the items with training interactions that is the tail; their number is rounded down, but
        at least one.
    divisor : {"k", "list"}, default "k"
        What the number of tail items is divided by.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    In plain Python
    ---------------
    >>> def tail_percentage(items, k, train, n_items):
    ...     count = {item: sum(item in seen for seen in train.values()) for item in range(n_items)}
    ...     known = sorted((item for item in count if count[item]), key=count.get)
    ...     tail = known[: max(1, len(known) // 10)]
    ...     return sum(item in tail for item in items[:k]) / k

    Notes
    -----
    Range [0, 1]; higher is better: less popularity bias. Equal counts: lower item codes are in the tail
    first, so the value depends on the ids. Items without training interactions are never in the tail.

    RecBole 1.2.1 TailPercentage: defaults.

    References
    ----------
    .. [1] W. X. Zhao et al., "RecBole 2.0: towards a more up-to-date recommendation library", CIKM 2022.

    Examples
    --------
    Of the items 0, 1, 2 the least popular third is item 2:

    >>> from recgauge.metrics.examples import beyond_example
    >>> TailPercentage(tail=0.34).per_user(beyond_example(), 2)
    array([0.5, 0. ])
    """

    name: ClassVar[str] = "tail_percentage"
    label: ClassVar[str] = "TailPercentage"
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    tail: float = number(0.1, low=0.0, high=1.0, low_open=True)
    divisor: Literal["k", "list"] = "k"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the tail's share of each list, shape (m,)."""
        return mean_over_list(least_popular(train_rows(self, judged), self.tail), judged, k, self.divisor)


def by_popularity(counts: LongArray) -> LongArray:
    """Return item codes, most popular first, equal counts by rising code, shape (n_items,)."""
    return np.argsort(-counts, kind="stable")


def whole(share: float, count: int) -> int:
    """Return a share of a count, rounded down, yet 0.29 of 100 is 29 whatever floats make of it.

    Examples
    --------
    >>> whole(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return int(share * count * (1 + 1e-12))


def short_head(counts: LongArray, share: float, boundary: str) -> BoolArray:
    """Mark the most popular items that together hold a share of the interactions.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_items,)
        Interactions of each item.
    share : float
        Of all interactions, in (0, 1].
    boundary : {"head", "tail"}
        Where the item goes with which the share is crossed.

    Returns
    -------
    ndarray of bool, shape (n_items,)
        Items without interactions are never in the head.

    Examples
    --------
    >>> short_head(np.array([1, 6, 3]), 0.8, "head")
    array([False,  True,  True])
    >>> short_head(np.array([1, 6, 3]), 0.8, "tail")
    array([False,  True, False])
    """
    order = by_popularity(counts)
    reached = np.cumsum(counts[order])
    wanted = share * counts.sum()
    # a hair of tolerance, since 0.55 of 100 is a little more than 55 as floats
    if boundary == "head":
        size = int(np.searchsorted(reached, wanted * (1 - 1e-12), side="left")) + 1
    else:
        size = int(np.searchsorted(reached, wanted * (1 + 1e-12), side="right"))
    head = np.zeros(len(counts), np.bool_)
    head[order[:size]] = True
    return head & (counts > 0)


def least_popular(counts: LongArray, share: float) -> BoolArray:
    """Mark the least popular items among those with interactions.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_items,)
        Interactions of each item.
    share : float
        Of the items with interactions, in (0, 1]; their number is rounded down, but at least one.

    Returns
    -------
    ndarray of bool, shape (n_items,)
        Equal counts: lower codes first.

    Examples
    --------
    >>> least_popular(np.array([2, 0, 1, 1]), 0.5)
    array([False, False,  True, False])
    """
    known = np.flatnonzero(counts)
    order = known[np.argsort(counts[known], kind="stable")]
    tail = np.zeros(len(counts), np.bool_)
    tail[order[: max(1, whole(share, len(known)))]] = True
    return tail


@dataclass(frozen=True)
class ItemPopularity(UserMetric):
    r"""Mean popularity of the recommended items in training (average recommendation popularity, ARP).

    .. math:: \mathrm{ARP@}k(u) = \frac{1}{|L_k|} \sum_{i \in L_k} \mathrm{pop}(i)

    Parameters
    ----------
    value : {"count", "share", "quantile"}, default "count"
        An item's popularity: its training rows; their share of all rows; or the item's rank by training
        users, from 0 (nobody) to 1 (the most popular), ties with their mean rank.
    divisor : {"k", "list"}, default "list"
        What the sum is divided by.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def popularity(items, k, train):
    ...     counts = [sum(item in seen for seen in train.values()) for item in items[:k]]
    ...     return sum(counts) / len(counts) if counts else math.nan

    Notes
    -----
    Range [0, inf) for counts, [0, 1] otherwise. Lower is better where popularity bias is to be avoided;
    accuracy usually falls with it. NaN for an empty list with
    ``divisor="list"``.

    RecTools 0.19.0 AvgRecPopularity and Elliot ARP: defaults; RecTools ``normalize=True``:
    ``value="share"``. RecBole 1.2.1 AveragePopularity: ``divisor="k"``. LensKit 2026 MeanPopRank
    (source): ``value="quantile"``.

    References
    ----------
    .. [1] H. Yin et al., "Challenging the long tail recommendation", VLDB 5(9), 2012.
    .. [2] H. Abdollahpouri, R. Burke, B. Mobasher, "Managing popularity bias in recommender systems with
       personalized re-ranking", FLAIRS 2019.

    Examples
    --------
    Items of 1 and 0, and of 2 and 0 training rows:

    >>> from recgauge.metrics.examples import beyond_example
    >>> ItemPopularity().per_user(beyond_example(), 2)
    array([0.5, 1. ])
    """

    name: ClassVar[str] = "popularity"
    label: ClassVar[str] = "Popularity"
    higher_is_better: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    value: Literal["count", "share", "quantile"] = "count"
    divisor: Literal["k", "list"] = "list"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the mean popularity of each list, shape (m,)."""
        rows = train_rows(self, judged)
        mean_rows = mean_over_list(rows, judged, k, self.divisor)
        match self.value:
            case "count":
                return mean_rows
            case "share":
                return mean_rows / max(1, int(rows.sum()))
            case _:
                return mean_over_list(_quantile(train_users(self, judged)), judged, k, self.divisor)


def _quantile(counts: LongArray) -> DoubleArray:
    from scipy.stats import rankdata  # a second of start-up that only this definition needs

    quantile = np.zeros(len(counts))
    known = counts > 0
    quantile[known] = rankdata(counts[known]) / max(1, int(known.sum()))
    return quantile


@dataclass(frozen=True)
class SeenShare(UserMetric):
    r"""Share of the recommended items that are among the user's training items.

    .. math:: \frac{|L_k \cap S_u|}{|L_k|}

    Parameters
    ----------
    empty : {"nan", "unseen"}, default "nan"
        Whether a user without a list has no value, or nothing seen.

    Raises
    ------
    ConfigError
        If `empty` is unknown.

    In plain Python
    ---------------
    >>> def seen_share(items, k, train, user):
    ...     known = [item in train[user] for item in items[:k]]
    ...     return sum(known) / len(known) if known else math.nan

    Notes
    -----
    Range [0, 1]. 0 wherever seen items are barred from lists; lower is better where people want something
    new, but not where they return to the same items.

    RePlay 0.22.0 reports the complement: `UnseenShare`.

    References
    ----------
    .. [1] P. Castells, N. Hurley, S. Vargas, "Novelty and diversity in recommender systems", Recommender
       Systems Handbook, 2015.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> SeenShare().per_user(beyond_example(), 2)
    array([0., 0.])
    """

    name: ClassVar[str] = "seen_share"
    label: ClassVar[str] = "SeenShare"
    higher_is_better: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    empty: Literal["nan", "unseen"] = "nan"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the share of seen items in each list, shape (m,)."""
        empty = np.nan if self.empty == "nan" else 0.0
        return divide(self._seen(judged, k), list_length(judged, k), empty)

    def _seen(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        seen = seen_items(self, judged)
        known = np.empty(judged.n_users)
        for rows in row_blocks(judged.n_users, seen.shape[1] + 1):
            history = seen[judged.users[rows]]
            # one column more than items: padding is item -1, never seen
            mark = np.zeros((history.shape[0], history.shape[1] + 1), np.bool_)
            mark[np.repeat(np.arange(len(mark)), np.diff(history.indptr)), history.indices] = True
            known[rows] = np.take_along_axis(mark, judged.items[rows, :k] % mark.shape[1], axis=1).sum(axis=1)
        return known


@dataclass(frozen=True)
class UnseenShare(SeenShare):
    r"""Share of the recommended items that are not among the user's training items.

    .. math:: 1 - \frac{|L_k \cap S_u|}{|L_k|}

    Parameters
    ----------
    empty : {"nan", "unseen"}, default "nan"
        Whether a user without a list has no value, or 1.

    Raises
    ------
    ConfigError
        If `empty` is unknown.

    In plain Python
    ---------------
    >>> def unseen_share(items, k, train, user):
    ...     new = [item not in train[user] for item in items[:k]]
    ...     return sum(new) / len(new) if new else math.nan

    Notes
    -----
    Range [0, 1], higher is better: more new items; 1 wherever seen items are barred from lists. RePlay
    0.22.0 calls this Novelty, with ``empty="unseen"``.

    References
    ----------
    .. [1] P. Castells, N. Hurley, S. Vargas, "Novelty and diversity in recommender systems", Recommender
       Systems Handbook, 2015.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> UnseenShare().per_user(beyond_example(), 2)
    array([1., 1.])
    """

    name: ClassVar[str] = "unseen_share"
    label: ClassVar[str] = "UnseenShare"
    higher_is_better: ClassVar[bool] = True

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the share of unseen items in each list, shape (m,)."""
        return 1.0 - super().per_user(judged, k)
