"""Whether popular and other items have the same chances to be listed, and to be found where relevant."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import stored
from recgauge.judging import JudgedTopK
from recgauge.metrics.beyond import distinct_lists, relevant_items, seen_items, sum_over_list, train_rows
from recgauge.metrics.beyond.catalogue import HeadItems, head_of, needs_of_head
from recgauge.metrics.metric import RunMetric, UserMetric, quiet
from recgauge.utils.checks import BoolArray, DoubleArray, PositiveShare


@dataclass(frozen=True)
class LongTailCount(UserMetric):
    r"""Number of distinct items of the list in the long tail (average coverage of long tail items, ACLT).

    .. math:: \mathrm{ACLT@}k(u) = |\{i \in L_k\} \cap T|

    Parameters
    ----------
    head : float, default 0.8
        Share of all training interactions that the most popular items must reach to be the head; the item
        with which it is crossed belongs to it. The tail are the other items with training interactions.
    head_items : {"most_popular", "given"}, default "most_popular"
        As in `LongTailShare`.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    In plain Python
    ---------------
    >>> def long_tail_count(items, k, train, n_items):
    ...     count = {item: sum(item in seen for seen in train.values()) for item in range(n_items)}
    ...     head, held = set(), 0
    ...     for item in sorted(count, key=lambda item: -count[item]):
    ...         if held >= 0.8 * sum(count.values()) - 1e-9:
    ...             break
    ...         head.add(item)
    ...         held += count[item]
    ...     return float(len({item for item in items[:k] if item not in head and count[item]}))

    Notes
    -----
    Range [0, k]; higher is better where popularity bias is to be avoided. Grows with the cutoff:
    `LongTailShare` divides by the length of the list.

    Elliot ACLT computes this.

    References
    ----------
    .. [1] H. Abdollahpouri, R. Burke, B. Mobasher, "Managing popularity bias in recommender systems with
       personalized re-ranking", FLAIRS 2019.

    Examples
    --------
    Items 0 and 1 hold five of six interactions and are the head; item 2 is the tail:

    >>> from recgauge.metrics.examples import beyond_example
    >>> LongTailCount().per_user(beyond_example(), 2)
    array([1., 0.])
    """

    name: ClassVar[str] = "long_tail_count"
    label: ClassVar[str] = "LongTailCount"
    needs_relevant: ClassVar[bool] = False

    head: PositiveShare = 0.8
    head_items: HeadItems = quiet("most_popular")

    @property
    def needs(self) -> frozenset[str]:
        """Training interactions, and the head's items where they are given."""
        return needs_of_head(self.head_items)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the number of each list's items in the tail, shape (m,)."""
        rows = train_rows(self, judged)
        tail = ~head_of(self, judged, self.head_items, self.head, "head") & (rows > 0)
        return sum_over_list(tail, distinct_lists(judged, k), k)


@dataclass(frozen=True)
class _Parity(RunMetric):
    """Relative spread of a rate of the short head and of the long tail."""

    higher_is_better: ClassVar[bool] = False

    head: PositiveShare = 0.8
    head_items: HeadItems = quiet("most_popular")

    @property
    def needs(self) -> frozenset[str]:
        """Training interactions, and the head's items where they are given."""
        return needs_of_head(self.head_items)

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return what head and tail have, then what they could have, shape (4,)."""
        head = head_of(self, judged, self.head_items, self.head, "head")
        groups = head, ~head & (train_rows(self, judged) > 0)
        listed = [self._listed(judged, k, group) for group in groups]
        return np.array([*listed, *(self._possible(judged, group) for group in groups)], np.float64)

    def value(self, sums: DoubleArray) -> float:
        """Return the population's standard deviation of the two rates over their mean; NaN if undefined."""
        if not (sums[2:].all() and sums[:2].any()):
            return float("nan")
        rates = sums[:2] / sums[2:]
        return float(np.std(rates) / np.mean(rates))

    @abstractmethod
    def _listed(self, judged: JudgedTopK, k: int | None, group: BoolArray) -> float:
        """Return how often items of the group are in lists."""

    @abstractmethod
    def _possible(self, judged: JudgedTopK, group: BoolArray) -> float:
        """Return how often items of the group could be in lists."""


@dataclass(frozen=True)
class PopularityOpportunity(_Parity):
    r"""Relative spread between head and tail of the share of relevant items that are found (PopREO).

    .. math:: \frac{\mathrm{std}(a_H, a_T)}{\mathrm{mean}(a_H, a_T)}, \quad
        a_G = \frac{\sum_u |L_{u,k} \cap R_u \cap G|}{\sum_u |(R_u \cap G) \setminus S_u|}

    Parameters
    ----------
    head : float, default 0.8
        Share of all training interactions that the most popular items must reach to be the head; the item
        with which it is crossed belongs to it. The tail are the other items with training interactions.
    head_items : {"most_popular", "given"}, default "most_popular"
        As in `LongTailShare`.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    Notes
    -----
    Range [0, 1], lower is better: relevant items of head and tail are found alike (ranking-based equal
    opportunity). S are the user's training items. 1 where one of the groups is never found; NaN where none
    is, or a group has no relevant items. A repeated item counts once.

    Elliot PopREO computes this.

    References
    ----------
    .. [1] Z. Zhu, J. Wang, J. Caverlee, "Measuring and mitigating item under-recommendation bias in
       personalized ranking systems", SIGIR 2020.

    Examples
    --------
    Item 1 of the head and item 2 of the tail are relevant once each, and found:

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = PopularityOpportunity()
    >>> metric.value(metric.sums(beyond_example(), 2))
    0.0
    """

    name: ClassVar[str] = "pop_reo"
    label: ClassVar[str] = "PopREO"

    def _listed(self, judged: JudgedTopK, k: int | None, group: BoolArray) -> float:
        hits = judged.hits.cut(k)
        items = judged.items[hits.owner, hits.rank - 1].astype(np.int64)
        found = np.unique(hits.owner * np.int64(len(group)) + items) % len(group)
        return float(np.count_nonzero(group[found]))

    def _possible(self, judged: JudgedTopK, group: BoolArray) -> float:
        owner, item = relevant_items(self, judged)
        owner, item = owner[group[item]], item[group[item]]
        return float(np.count_nonzero(~stored(seen_items(self, judged), judged.users[owner], item)))


@dataclass(frozen=True)
class PopularityParity(_Parity):
    r"""Relative spread between head and tail of the share of items that are listed (PopRSP).

    .. math:: \frac{\mathrm{std}(a_H, a_T)}{\mathrm{mean}(a_H, a_T)}, \quad
        a_G = \frac{\sum_u |L_{u,k} \cap G|}{\sum_u |G \setminus S_u|}

    Parameters
    ----------
    head : float, default 0.8
        Share of all training interactions that the most popular items must reach to be the head; the item
        with which it is crossed belongs to it. The tail are the other items with training interactions.
    head_items : {"most_popular", "given"}, default "most_popular"
        As in `LongTailShare`.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    Notes
    -----
    Range [0, 1], lower is better: items of head and tail are listed alike (ranking-based statistical
    parity). S are the user's training items. 1 where only one of the groups is listed. A repeated item
    counts once.

    Elliot PopRSP computes this.

    References
    ----------
    .. [1] Z. Zhu, J. Wang, J. Caverlee, "Measuring and mitigating item under-recommendation bias in
       personalized ranking systems", SIGIR 2020.

    Examples
    --------
    The head are items 0 and 1: user 1 has not seen item 1 and gets it, 1 of 1. The tail is item 2: neither
    user has seen it, and one gets it, 1 of 2.

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = PopularityParity()
    >>> round(metric.value(metric.sums(beyond_example(), 2)), 4)
    0.3333
    """

    name: ClassVar[str] = "pop_rsp"
    label: ClassVar[str] = "PopRSP"
    needs_relevant: ClassVar[bool] = False

    def _listed(self, judged: JudgedTopK, k: int | None, group: BoolArray) -> float:
        return float(sum_over_list(group, distinct_lists(judged, k), k).sum())

    def _possible(self, judged: JudgedTopK, group: BoolArray) -> float:
        seen = seen_items(self, judged)
        history = seen[judged.users]
        return float(judged.n_users * np.count_nonzero(group) - np.count_nonzero(group[history.indices]))
