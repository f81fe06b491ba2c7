"""How far lists repeat what everybody knows, and what the user has had."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.lists import mean_over_list, row_blocks, seen_items, train_rows, train_users
from recgauge.metrics.metric import UserMetric, divide, list_length
from recgauge.utils.checks import DoubleArray, LongArray


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
