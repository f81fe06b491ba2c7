"""How little known the listed items are, and how surprising the hits."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from recgauge.data.popularity import by_popularity
from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.metrics.beyond import catalogue_of, seen_items, sum_over_list, train_rows, train_users
from recgauge.metrics.beyond.catalogue import whole
from recgauge.metrics.beyond.diversity import NEEDS, SimilarityKind, item_similarity, listed
from recgauge.metrics.metric import RunMetric, UserMetric, denominator, divide, list_length
from recgauge.utils.checks import DoubleArray, PositiveShare, Within
from recgauge.utils.exact import exact_sum, from_limbs, to_float, to_limbs

Total = Literal["users", "interactions"]
Unseen = Literal["zero", "one", "max", "drop", "raise"]


@dataclass(frozen=True)
class Novelty(UserMetric):
    r"""Mean self-information of the recommended items: high where few know them.

    .. math:: \mathrm{Novelty@}k(u) = \frac{1}{d} \sum_{i \in L_k} -\log_b \frac{\mathrm{pop}(i)}{N}

    Parameters
    ----------
    total : {"users", "interactions"}, default "users"
        What N and pop count in training.
    base : float, default 2.0
        Of the logarithm, above 1.
    divisor : {"list", "k", "catalog"}, default "list"
        The d of the formula: the list's items; the cutoff even where the list is shorter; or all items of the
        catalogue, which makes values small and grow with the cutoff.
    unseen : {"one", "zero", "max", "drop", "raise"}, default "one"
        What an item without training interactions counts: as if one had been seen; nothing; as the
        least popular seen item; not as part of the list; or an error.
    scale : {"none", "log_users"}, default "none"
        ``log_users`` divides by the logarithm of the number of training users.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    In plain Python
    ---------------
    >>> def novelty(items, k, train):
    ...     shares = [max(1, sum(item in seen for seen in train.values())) / len(train) for item in items[:k]]
    ...     return sum(-math.log2(share) for share in shares) / len(shares) if shares else math.nan

    Notes
    -----
    Range [0, log N], with ``log_users`` [0, 1]; higher is better: less known items, often at the cost of
    accuracy. NaN for an empty list with ``divisor="list"``.

    RecTools 0.19.0 MeanInvUserFreq: defaults. RePlay 0.22.0 Surprisal: ``divisor="k",
    scale="log_users"``. CAPRI: ``divisor="k", unseen="zero"``. recmetrics 0.1.5: ``divisor="k",
    unseen="raise"``. Ferrari Dacrema et al. (ACM TOIS 39(2), 2021), in the code: ``total="interactions",
    divisor="catalog", unseen="zero"``. recommenders 1.2.1 pools: see `PooledNovelty`. RePlay's metric
    called Novelty is one minus `SeenShare`.

    References
    ----------
    .. [1] T. Zhou et al., "Solving the apparent diversity-accuracy dilemma of recommender systems",
       PNAS 107(10), 2010.
    .. [2] S. Vargas, P. Castells, "Rank and relevance in novelty and diversity metrics for recommender
       systems", RecSys 2011.

    Examples
    --------
    Of three users one knows item 2, nobody item 3, two item 1:

    >>> from recgauge.metrics.examples import beyond_example
    >>> Novelty().per_user(beyond_example(), 2).round(4)
    array([1.585, 1.085])
    """

    name: ClassVar[str] = "novelty"
    label: ClassVar[str] = "Novelty"
    needs_relevant: ClassVar[bool] = False

    total: Total = "users"
    base: Annotated[float, Within(1.0, low_open=True)] = 2.0
    divisor: Literal["list", "k", "catalog"] = "list"
    unseen: Unseen = "one"
    scale: Literal["none", "log_users"] = "none"

    @property
    def needs(self) -> frozenset[str]:
        """Training interactions, and the catalogue's size if that divides."""
        return frozenset({"train", "n_items"} if self.divisor == "catalog" else {"train"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the novelty of each list, shape (m,)."""
        information = self_information(self, judged, k, self.total, self.unseen)
        information /= np.log(self.base)
        if self.scale == "log_users":
            information = self._scaled(information, judged)
        count = _n_measured(self, judged, k, self.unseen)
        if self.divisor == "k" and k is not None:
            count = np.full(judged.n_users, float(k))
        elif self.divisor == "catalog":
            count = np.full(judged.n_users, float(catalogue_of(self, judged).size))
        return divide(sum_over_list(information, judged, k), count, empty=np.nan)

    def _scaled(self, information: DoubleArray, judged: JudgedTopK) -> DoubleArray:
        n_users = catalogue_of(self, judged).n_train_users
        if n_users > 1:
            return information * float(np.log(self.base) / np.log(n_users))
        # the limit of log(n) / log(n), where one user knows an item or does not
        unknown = (train_users(self, judged) == 0) & (self.unseen in ("one", "max"))
        return np.asarray(unknown, np.float64)


@dataclass(frozen=True)
class PooledNovelty(RunMetric):
    r"""Mean self-information over all recommendations of all users together.

    .. math:: \frac{\sum_u \sum_{i \in L_{u,k}} -\log_b (\mathrm{pop}(i) / N)}{\sum_u |L_{u,k}|}

    Parameters
    ----------
    total : {"interactions", "users"}, default "interactions"
        What is counted in training.
    base : float, default 2.0
        Of the logarithm, above 1.
    unseen : {"zero", "one", "max", "drop", "raise"}, default "zero"
        As in `Novelty`.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    Notes
    -----
    Range [0, log N], higher is better: less known items. Users with longer lists weigh more than in
    `Novelty`; with lists of one length both are equal. NaN without recommendations.

    recommenders 1.2.1 novelty: defaults, under which an item without training interactions adds nothing
    yet is counted.

    References
    ----------
    .. [1] P. Castells, S. Vargas, J. Wang, "Novelty and diversity metrics for recommender systems: choice,
       discovery and relevance", DDR workshop at ECIR 2011.

    Examples
    --------
    Items 2 and 1 have 1 and 2 of six interactions, item 3 none: (log2(6) + log2(3)) / 4.

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = PooledNovelty()
    >>> round(metric.value(metric.sums(beyond_example(), 2)), 4)
    1.0425
    """

    name: ClassVar[str] = "pooled_novelty"
    label: ClassVar[str] = "PooledNovelty"
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    total: Total = "interactions"
    base: Annotated[float, Within(1.0, low_open=True)] = 2.0
    unseen: Unseen = "zero"

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the number of recommendations and the exact sum of self-information, shape (1 + LIMBS,)."""
        information = self_information(self, judged, k, self.total, self.unseen) / np.log(self.base)
        count = _n_measured(self, judged, k, self.unseen)
        total = exact_sum(sum_over_list(information, judged, k))
        return np.append(count.sum(), to_limbs(total))

    def value(self, sums: DoubleArray) -> float:
        """Return the mean; NaN without recommendations."""
        return to_float(from_limbs(sums[1:])) / float(sums[0]) if sums[0] else float("nan")


def self_information(
    metric: Novelty | PooledNovelty, judged: JudgedTopK, k: int | None, total: Total, unseen: Unseen
) -> DoubleArray:
    """Return the self-information of each item in nats, shape (n_items,).

    Parameters
    ----------
    metric : Metric
        Named by errors.
    judged : JudgedTopK
    k : int or None
        With ``unseen="raise"``, only the first `k` items of lists must be known.
    total : {"users", "interactions"}
    unseen : {"one", "zero", "max", "drop", "raise"}

    Returns
    -------
    ndarray of float64, shape (n_items,)

    Raises
    ------
    MetricError
        If there are no training interactions, or a listed item has none under ``unseen="raise"``.
    """
    counts = train_users(metric, judged) if total == "users" else train_rows(metric, judged)
    rated = counts > 0
    whole = catalogue_of(metric, judged).n_train_users if total == "users" else int(counts.sum())
    if whole == 0:
        raise MetricError(f"{metric.label}: training must have interactions, got none; pass train=...")
    if unseen == "raise" and (sum_over_list(rated, judged, k) < list_length(judged, k)).any():
        raise MetricError(
            f"{metric.label}: every recommended item must have training interactions, but some have none; "
            "choose what they count with unseen='one', 'zero', 'max' or 'drop'."
        )
    least = int(counts[rated].min(initial=whole))
    floor = {"one": 1, "max": least}.get(unseen, whole)
    information: DoubleArray = np.log(whole) - np.log(np.where(rated, counts, floor))
    return information


def _n_measured(
    metric: Novelty | PooledNovelty, judged: JudgedTopK, k: int | None, unseen: Unseen
) -> DoubleArray:
    if unseen == "drop":
        return sum_over_list(train_rows(metric, judged) > 0, judged, k)
    return list_length(judged, k)


@dataclass(frozen=True)
class _Discovery(UserMetric):
    """Mean novelty of relevant items in the list, weighted by ``1 / log2(rank + 1)``."""

    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,)."""
        hits = judged.hits.cut(k)
        novelty = self._item_novelty(judged)[judged.items[hits.owner, hits.rank - 1]]
        total = hits.total(novelty / np.log2(hits.rank + 1.0))
        discounts = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(judged.items.shape[1]) + 2.0))))
        return divide(total, discounts[list_length(judged, k).astype(np.int64)])

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
        rated = counts > 0
        share: DoubleArray = np.where(rated, counts, counts[rated].min()) / counts.sum()
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
        share: DoubleArray = train_users(self, judged) / n_users
        return 1.0 - share


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

    popular: PositiveShare = 0.2
    divisor: Literal["k", "list"] = "k"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the serendipity of each list, shape (m,)."""
        hits = judged.hits.cut(k)
        counts = train_rows(self, judged)
        popular = np.zeros(len(counts), np.bool_)
        popular[by_popularity(counts)[: whole(self.popular, catalogue_of(self, judged).size)]] = True
        popular &= counts > 0
        surprising = ~popular[judged.items[hits.owner, hits.rank - 1]]
        total = hits.total(surprising.astype(np.float64))
        return divide(total, denominator(self.divisor, judged, k))


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
        n_items = catalogue_of(self, judged).size
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
        similarity = divide(close, n_seen, empty=np.nan)
        return divide(np.diff(chosen.indptr) - similarity, list_length(judged, k), empty=np.nan)
