"""Discovery: novelty of the hits, discounted by rank."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.lists import catalogue_of, train_rows, train_users
from recgauge.metrics.metric import UserMetric, divide, list_length
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class _Discovery(UserMetric):
    """Mean novelty of relevant items in the list, weighted by ``1 / log2(rank + 1)``."""

    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,)."""
        hits = judged.hits.cut(k)
        novelty = self._item_novelty(judged)[judged.items[hits.owner, hits.rank - 1]]
        found = hits.total(novelty / np.log2(hits.rank + 1.0))
        discounts = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(judged.items.shape[1]) + 2.0))))
        return divide(found, discounts[list_length(judged, k).astype(np.int64)])

    @abstractmethod
    def _item_novelty(self, judged: JudgedTopK) -> DoubleArray:
        """Return the novelty of each item, shape (n_items,)."""


@dataclass(frozen=True)
class ExpectedFreeDiscovery(_Discovery):
    r"""Self-information of the relevant recommended items, discounted by rank (EFD).

    .. math:: \frac{\sum_{r} d_r\, \mathrm{rel}_r \log_2 (N / \mathrm{pop}(i_r))}{\sum_{r} d_r},
        \quad d_r = 1 / \log_2 (r + 1)

    Raises
    ------
    MetricError
        If there are no training interactions.

    In plain Python
    ---------------
    >>> def expected_free_discovery(items, grades, k, train, n_items):
    ...     count = {item: sum(item in seen for seen in train.values()) for item in range(n_items)}
    ...     total, least = sum(count.values()), min(number for number in count.values() if number)
    ...     found = weights = 0.0
    ...     for rank, item in enumerate(items[:k], 1):
    ...         weights += 1 / math.log2(rank + 1)
    ...         if item in grades:
    ...             found += math.log2(total / (count[item] or least)) / math.log2(rank + 1)
    ...     return found / weights if weights else 0.0

    Notes
    -----
    Range [0, log2 N] with N training interactions, higher is better: relevant, little known items come
    first. An item without training interactions counts as the least popular seen item. 0 without a hit.

    Elliot EFD computes this.

    References
    ----------
    .. [1] S. Vargas, P. Castells, "Rank and relevance in novelty and diversity metrics for recommender
       systems", RecSys 2011.

    Examples
    --------
    Both users hit at rank 1 of two, items with 1 and 2 of six interactions:

    >>> from recgauge.metrics.examples import beyond_example
    >>> ExpectedFreeDiscovery().per_user(beyond_example(), 2).round(4)
    array([1.585 , 0.9718])
    """

    name: ClassVar[str] = "efd"
    label: ClassVar[str] = "EFD"

    def _item_novelty(self, judged: JudgedTopK) -> DoubleArray:
        counts = train_rows(self, judged)
        if counts.sum() == 0:
            raise MetricError("EFD: training must have interactions, got none; pass train=...")
        known = counts > 0
        share: DoubleArray = np.where(known, counts, counts[known].min()) / counts.sum()
        novelty: DoubleArray = -np.log2(share)
        return novelty


@dataclass(frozen=True)
class ExpectedPopularityComplement(_Discovery):
    r"""Share of users who do not know the relevant recommended items, discounted by rank (EPC).

    .. math:: \frac{\sum_{r} d_r\, \mathrm{rel}_r (1 - \mathrm{pop}(i_r) / |U|)}{\sum_{r} d_r},
        \quad d_r = 1 / \log_2 (r + 1)

    Raises
    ------
    MetricError
        If there are no training interactions.

    In plain Python
    ---------------
    >>> def expected_popularity_complement(items, grades, k, train):
    ...     found = weights = 0.0
    ...     for rank, item in enumerate(items[:k], 1):
    ...         weights += 1 / math.log2(rank + 1)
    ...         if item in grades:
    ...             know_it = sum(item in seen for seen in train.values())
    ...             found += (1 - know_it / len(train)) / math.log2(rank + 1)
    ...     return found / weights if weights else 0.0

    Notes
    -----
    Range [0, 1], higher is better: relevant, little-known items are first. An item without training
    interactions counts 1. 0 without a hit.

    Elliot EPC computes this.

    References
    ----------
    .. [1] S. Vargas, P. Castells, "Rank and relevance in novelty and diversity metrics for recommender
       systems", RecSys 2011.

    Examples
    --------
    Both users hit at rank 1 of two, items that one and two of three users know:

    >>> from recgauge.metrics.examples import beyond_example
    >>> ExpectedPopularityComplement().per_user(beyond_example(), 2).round(4)
    array([0.4088, 0.2044])
    """

    name: ClassVar[str] = "epc"
    label: ClassVar[str] = "EPC"

    def _item_novelty(self, judged: JudgedTopK) -> DoubleArray:
        n_users = catalogue_of(self, judged).n_train_users
        if n_users == 0:
            raise MetricError("EPC: training must have interactions, got none; pass train=...")
        known: DoubleArray = train_users(self, judged) / n_users
        return 1.0 - known
