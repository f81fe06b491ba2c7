"""Serendipity in its three forms: relevant and unpopular, relevant beyond popularity, far from history."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond import catalogue_of, seen_items, train_rows
from recgauge.metrics.beyond.diversity import NEEDS, SimilarityKind, item_similarity, listed
from recgauge.metrics.beyond.popularity import by_popularity, whole
from recgauge.metrics.metric import UserMetric, denominator, divide, list_length, number
from recgauge.utils.checks import BoolArray, DoubleArray


@dataclass(frozen=True)
class UnpopularSerendipity(UserMetric):
    r"""Share of the list that is relevant and not among the most popular items.

    .. math:: \frac{|L_k \cap (R_u \setminus P)|}{k}

    Parameters
    ----------
    popular : float, default 0.2
        Share of the catalogue that counts as popular: the items with most training interactions, equal
        counts by rising code, their number rounded down; never an item without any.
    divisor : {"k", "list"}, default "k"
        What the number of items is divided by.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    In plain Python
    ---------------
    >>> def serendipity(items, grades, k, train, n_items):
    ...     count = {item: sum(item in seen for seen in train.values()) for item in range(n_items)}
    ...     fifth = sorted(count, key=lambda item: -count[item])[: n_items // 5]
    ...     popular = {item for item in fifth if count[item] > 0}
    ...     return sum(item in grades and item not in popular for item in items[:k]) / k

    Notes
    -----
    Range [0, 1], higher is better. 0 for an empty list.

    References
    ----------
    .. [1] M. Ge, C. Delgado-Battenfeld, D. Jannach, "Beyond accuracy: evaluating recommender systems by
       coverage and serendipity", RecSys 2010.

    Examples
    --------
    Both users hit once in two; item 2 is not among the two most popular, item 1 is:

    >>> from recgauge.metrics.examples import beyond_example
    >>> UnpopularSerendipity(popular=0.4).per_user(beyond_example(), 2)
    array([0.5, 0. ])
    """

    name: ClassVar[str] = "serendipity"
    label: ClassVar[str] = "UnpopularSerendipity"
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    popular: float = number(0.2, low=0.0, high=1.0, low_open=True)
    divisor: Literal["k", "list"] = "k"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the serendipity of each list, shape (m,)."""
        hits = judged.hits.cut(k)
        surprising = ~self._popular(judged)[judged.items[hits.owner, hits.rank - 1]]
        found = hits.total(surprising.astype(np.float64))
        return divide(found, denominator(self.divisor, judged, k))

    def _popular(self, judged: JudgedTopK) -> BoolArray:
        rows = train_rows(self, judged)
        popular = np.zeros(len(rows), np.bool_)
        popular[by_popularity(rows)[: whole(self.popular, len(rows))]] = True
        return popular & (rows > 0)


@dataclass(frozen=True)
class RankSerendipity(UserMetric):
    r"""Mean excess of relevant items' rank for the user over their rank by popularity.

    .. math:: \frac{1}{|L_k|} \sum_{i \in L_k \cap R_u} \max(p_u(i) - p(i), 0),
        \quad p = \frac{n + 1 - \mathrm{rank}}{n}

    In plain Python
    ---------------
    >>> def rank_serendipity(items, grades, k, train, n_items):
    ...     count = {item: sum(item in seen for seen in train.values()) for item in range(n_items)}
    ...     levels, excess = sorted(set(count.values()), reverse=True), []
    ...     for rank, item in enumerate(items[:k], 1):
    ...         popular = (n_items - levels.index(count[item])) / n_items if count[item] else 0
    ...         gained = (n_items + 1 - rank) / n_items - popular
    ...         excess.append(max(gained, 0) if item in grades else 0)
    ...     return sum(excess) / len(excess) if excess else math.nan

    Notes
    -----
    Range [0, 1), higher is better: hits that popularity alone would not have put so high. n is the size of
    the catalogue; the rank by popularity is dense, so that equal training counts share a rank; an item
    without training interactions has p = 0. NaN for an empty list.

    RecTools 0.19.0 Serendipity computes this.

    References
    ----------
    .. [1] M. Ge, C. Delgado-Battenfeld, D. Jannach, "Beyond accuracy: evaluating recommender systems by
       coverage and serendipity", RecSys 2010.

    Examples
    --------
    Items 2 and 1 are at rank 1, third and second by popularity of five: (1 - 3/5) / 2, (1 - 4/5) / 2.

    >>> from recgauge.metrics.examples import beyond_example
    >>> RankSerendipity().per_user(beyond_example(), 2)
    array([0.2, 0.1])
    """

    name: ClassVar[str] = "rank_serendipity"
    label: ClassVar[str] = "RankSerendipity"
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the serendipity of each list, shape (m,)."""
        rows = train_rows(self, judged)
        rank = np.unique(-rows, return_inverse=True)[1]
        n_items = len(rows)
        anybody = np.where(rows > 0, (n_items - rank) / n_items, 0.0)
        hits = judged.hits.cut(k)
        items = judged.items[hits.owner, hits.rank - 1]
        excess = np.maximum((n_items + 1 - hits.rank) / n_items - anybody[items], 0.0)
        return divide(hits.total(excess), list_length(judged, k), empty=np.nan)


@dataclass(frozen=True)
class HistorySerendipity(UserMetric):
    r"""Mean distance of the list's items from what the user knows, optionally of relevant items only.

    .. math:: \frac{1}{|L_k|} \sum_{i \in L_k} \mathrm{rel}_u(i)
        \Bigl(1 - \frac{1}{|S_u|} \sum_{j \in S_u} \mathrm{sim}(i, j)\Bigr)

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "cooccurrence"
        As in `IntraListSimilarity`.
    relevance : bool, default False
        Whether only relevant items add to the sum; otherwise all items of the list do.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def history_serendipity(items, k, train, user, n_items):
    ...     owners = [{one for one in train if item in train[one]} for item in range(n_items)]
    ...
    ...     def cosine(i, j):
    ...         size = math.sqrt(len(owners[i]) * len(owners[j]))
    ...         return len(owners[i] & owners[j]) / size if size else 0.0
    ...
    ...     known = [[cosine(item, old) for old in train[user]] for item in items[:k]]
    ...     far = [1 - sum(cosines) / len(cosines) for cosines in known]
    ...     return sum(far) / len(far) if far else math.nan

    Notes
    -----
    Range [0, 1] for features >= 0 and co-occurrence, higher is better: further from the user's past.
    Items without features or training users are similar to none. NaN for an empty list and for users without
    training items. Users without relevant items count too, with 0 under ``relevance=True``. Features cost a
    sum of vectors; the other kinds visit every pair of a listed and a training item.

    recommenders 1.2.1 serendipity: defaults, with item features ``similarity="features"``, with a
    relevance column ``relevance=True``.

    References
    ----------
    .. [1] Y. C. Zhang, D. Ó Séaghdha, D. Quercia, T. Jambor, "Auralist: introducing serendipity into music
       recommendation", WSDM 2012.

    Examples
    --------
    Item 2 has the feature of all items in user 0's past, item 1 of those in user 1's, item 3 another:

    >>> from recgauge.metrics.examples import beyond_example
    >>> HistorySerendipity(similarity="features").per_user(beyond_example(), 2)
    array([0.5, 0.5])
    """

    name: ClassVar[str] = "history_serendipity"
    label: ClassVar[str] = "HistorySerendipity"
    needs_relevant: ClassVar[bool] = False

    similarity: SimilarityKind = "cooccurrence"
    relevance: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """Training interactions and what the chosen similarity is made from."""
        return NEEDS[self.similarity] | {"train"}

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the serendipity of each list, shape (m,)."""
        seen = seen_items(self, judged)
        chosen = listed(judged, k, catalogue_of(self, judged).n_items, only_hits=self.relevance)
        close = item_similarity(self, judged, self.similarity).history_sums(judged, chosen, seen)
        n_seen = np.diff(seen.indptr)[judged.users].astype(np.float64)
        known = divide(close, n_seen, empty=np.nan)
        return divide(np.diff(chosen.indptr) - known, list_length(judged, k), empty=np.nan)
