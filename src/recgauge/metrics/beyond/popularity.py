"""Popularity of recommended items: how far lists repeat what everybody knows."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.catalogue_needs import train_rows, train_users
from recgauge.metrics.beyond.lists import mean_over_list
from recgauge.metrics.metric import UserMetric
from recgauge.utils.checks import DoubleArray, LongArray


@dataclass(frozen=True)
class Popularity(UserMetric):
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
    >>> Popularity().per_user(beyond_example(), 2)
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
