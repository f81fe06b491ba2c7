"""What lists show of the catalogue: how much of it, how evenly, and how popular."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.data.popularity import gini, short_head
from recgauge.judging import JudgedTopK
from recgauge.metrics.beyond import (
    catalogue_of,
    distinct_lists,
    exposure,
    given_head,
    mean_over_list,
    n_known,
    row_blocks,
    seen_items,
    sum_over_list,
    train_rows,
    train_users,
    weighted_exposure,
)
from recgauge.metrics.metric import Metric, RunMetric, UserMetric, denominator, divide, list_length, quiet
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray, NotNegative, PositiveShare
from recgauge.utils.exact import exact_dot, to_float


@dataclass(frozen=True)
class CatalogCoverage(RunMetric):
    r"""Share of the catalogue that appears in at least one list.

    .. math:: \frac{|\bigcup_u L_{u,k} \cap C|}{|C|}

    Parameters
    ----------
    scale : {"fraction", "percent", "count"}, default "fraction"
        The share; the share in percent, rounded to 2 decimals; or the number of items (item coverage).
    catalog : {"all", "train"}, default "all"
        All items, or those with training interactions.
    intersect : bool, default True
        Whether recommended items outside the catalogue are left out. If not, more than all of it can be
        covered, and the share can exceed 1.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 1] (0 to 100 in percent), higher is better. Grows with the number of users, so that values
    compare only between runs over the same users.

    RecBole 1.2.1 ItemCoverage, RecTools 0.19.0 CatalogCoverage(normalize=True) and irspack 0.5.2: defaults.
    RePlay 0.22.0 Coverage: ``catalog="train"``. recommenders 1.2.1: ``catalog="train", intersect=False``.
    recmetrics 0.1.5 (which calls it prediction_coverage) and CAPRI: ``scale="percent"``. Elliot
    ItemCoverage and irspack appeared_item: ``scale="count"``.

    References
    ----------
    .. [1] M. Ge, C. Delgado-Battenfeld, D. Jannach, "Beyond accuracy: evaluating recommender systems by
       coverage and serendipity", RecSys 2010.

    Examples
    --------
    Items 1, 2 and 3 of five are recommended:

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = CatalogCoverage()
    >>> metric.value(metric.sums(beyond_example(), 2))
    0.6
    """

    name: ClassVar[str] = "catalog_coverage"
    label: ClassVar[str] = "CatalogCoverage"
    needs_relevant: ClassVar[bool] = False

    scale: Literal["fraction", "percent", "count"] = "fraction"
    catalog: Literal["all", "train"] = "all"
    intersect: bool = True

    @property
    def needs(self) -> frozenset[str]:
        """Training interactions if those make the catalogue, else its size unless items are only counted."""
        if self.catalog == "train":
            return frozenset({"train"})
        return frozenset() if self.scale == "count" else frozenset({"n_items"})

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return each item's appearances, then the catalogue's size and 1, shape (n_items + 2,)."""
        catalogue = catalogue_of(self, judged)
        shown = exposure(judged, k, catalogue.n_items)
        size = float(catalogue.size)
        if self.catalog == "train":
            inside = train_rows(self, judged) > 0
            size = float(inside.sum())
            if self.intersect:
                shown[~inside] = 0.0
        # the size is summed over blocks too; with their number, which gives it back
        return np.concatenate((shown, [size, 1.0]))

    def value(self, sums: DoubleArray) -> float:
        """Return the coverage; NaN for an empty catalogue."""
        covered = float(np.count_nonzero(sums[:-2]))
        if self.scale == "count":
            return covered
        size = sums[-2] / sums[-1]
        share = covered / float(size) if size else float("nan")
        return round(share * 100, 2) if self.scale == "percent" else share


@dataclass(frozen=True)
class PredictionCoverage(RunMetric):
    r"""Share of all pairs of a user and an item that are recommended or predicted.

    .. math:: \frac{\sum_u |L_{u,k}|}{|U| \cdot |C|}

    Notes
    -----
    Range [0, 1]; says how much a model can score rather than how good it is, higher is better. At most k over
    the size of the catalogue at a cutoff of k. In a run, U is all users of the test part, with or without a
    relevant item; elsewhere, everybody who has a list or relevant items. Users without a list count.

    Not recmetrics' metric of the same name, which is `CatalogCoverage` in percent.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", TOIS 22(1),
       2004, section 4.1.

    Examples
    --------
    Four of two times five pairs:

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = PredictionCoverage()
    >>> metric.value(metric.sums(beyond_example(), 2))
    0.4
    """

    name: ClassVar[str] = "prediction_coverage"
    label: ClassVar[str] = "PredictionCoverage"
    needs_relevant: ClassVar[bool] = False
    needs_all_users: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"n_items"})

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the recommended and the possible pairs, shape (2,)."""
        possible = float(judged.n_users) * catalogue_of(self, judged).size
        return np.array([n_known(judged, k).sum(), possible])

    def value(self, sums: DoubleArray) -> float:
        """Return the share; NaN without users."""
        return float(sums[0] / sums[1]) if sums[1] else float("nan")


@dataclass(frozen=True)
class UserCoverage(UserMetric):
    r"""Share of users who get recommendations.

    .. math:: \frac{|\{u : |L_{u,k}| \ge a\}|}{|U|}, \quad a \in \{1, k\}

    Parameters
    ----------
    at_least : {"one", "k"}, default "one"
        Whether one item is enough, or the list must have all k (one is enough without a cutoff).

    Raises
    ------
    ConfigError
        If `at_least` is unknown.

    In plain Python
    ---------------
    >>> def user_coverage(items, k):
    ...     return float(len(items[:k]) > 0)

    Notes
    -----
    Range [0, 1], higher is better. A user's value is 0 or 1. In a run, U is all users of the test part, with
    or without a relevant item; elsewhere, everybody who has a list or relevant items. Models of this harness
    score every candidate, so a user lacks a list only where no candidate is left, such as with an allow-list
    whose items the user has seen.

    References
    ----------
    .. [1] G. Shani, A. Gunawardana, "Evaluating recommendation systems", Recommender Systems Handbook,
       2011, section 8.3.2.

    Examples
    --------
    Both users get two items, not three:

    >>> from recgauge.metrics.examples import beyond_example
    >>> UserCoverage().per_user(beyond_example(), 3)
    array([1., 1.])
    >>> UserCoverage(at_least="k").per_user(beyond_example(), 3)
    array([0., 0.])
    """

    name: ClassVar[str] = "user_coverage"
    label: ClassVar[str] = "UserCoverage"
    needs_relevant: ClassVar[bool] = False
    needs_all_users: ClassVar[bool] = True

    at_least: Literal["one", "k"] = "one"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return 1 for each user with a list, shape (m,)."""
        least = k if self.at_least == "k" and k is not None else 1
        return (list_length(judged, k) >= least).astype(np.float64)


@dataclass(frozen=True)
class UserCount(RunMetric):
    r"""Number of users who get recommendations.

    .. math:: |\{u : |L_{u,k}| \ge 1\}|

    Notes
    -----
    Range [0, m] for m users, higher is better. `UserCoverage` divides it by the users who count.

    Elliot UserCoverage computes this.

    References
    ----------
    .. [1] G. Shani, A. Gunawardana, "Evaluating recommendation systems", Recommender Systems Handbook,
       2011, section 8.3.2.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = UserCount()
    >>> metric.value(metric.sums(beyond_example(), 2))
    2.0
    """

    name: ClassVar[str] = "user_count"
    label: ClassVar[str] = "UserCount"
    needs_relevant: ClassVar[bool] = False
    needs_all_users: ClassVar[bool] = True

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the number of users with a list, shape (1,)."""
        return np.array([np.count_nonzero(list_length(judged, k))], np.float64)

    def value(self, sums: DoubleArray) -> float:
        """Return the number."""
        return float(sums[0])


EMPTY = {"nan": float("nan"), "zero": 0.0}
HeadItems = Literal["most_popular", "given"]
BASES = {"2": np.log(2.0), "e": 1.0, "10": np.log(10.0)}


@dataclass(frozen=True)
class Gini(RunMetric):
    r"""Gini coefficient of the items' appearances in lists: 0 if all appear equally often.

    .. math:: G = \frac{\sum_{i=1}^{n} (2 i - n - 1) x_i}{d \sum_i x_i}, \quad x_1 \le \dots \le x_n

    Parameters
    ----------
    normalizer : {"n", "n_minus_1", "n_plus_1"}, default "n"
        The d of the formula: the size of the catalogue; one less, with which a single recommended
        item gives 1; or one more.
    catalog : {"all", "train", "n_train"}, default "all"
        All items, or those with training interactions, where recommended items outside are left out; or all
        recommended items, among as many as have training interactions.
    smoothing : float, default 0.0
        Added to each item's share of all recommendations.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.

    Notes
    -----
    Range [0, 1 - 1/n], [0, 1] or [0, 1 - 2/(n + 1)], lower is better: more even. Items that nobody gets
    count with 0. Very short lists for few users cannot be even, whatever the model. NaN without
    recommendations, and for ``n_minus_1`` with a catalogue of one item.

    RecBole 1.2.1 GiniIndex, irspack 0.5.2 and LensKit 2026 ListGini (source): ``n``. irspack's function
    for data frames takes as catalogue the items of lists and relevant items only. Elliot reports
    `GiniComplement`. The code of Zanon et al. (Knowledge-Based Systems 252, 2022): ``catalog="n_train",
    smoothing=1e-8``.

    References
    ----------
    .. [1] D. Fleder, K. Hosanagar, "Blockbuster culture's next rise or fall", Management Science 55(5),
       2009.

    Examples
    --------
    Of five items, one appears twice, two once, two never: (0 + 1*0 + 1*2 + 2*4) / (5 * 4).

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = Gini()
    >>> metric.value(metric.sums(beyond_example(), 2))
    0.5
    """

    name: ClassVar[str] = "gini"
    label: ClassVar[str] = "Gini"
    higher_is_better: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False

    normalizer: Literal["n", "n_minus_1", "n_plus_1"] = "n"
    catalog: Literal["all", "train", "n_train"] = quiet("all")
    smoothing: NotNegative = quiet(0.0)

    @property
    def needs(self) -> frozenset[str]:
        """The catalogue's size, or training interactions if those make the catalogue."""
        return frozenset({"n_items" if self.catalog == "all" else "train"})

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return each item's appearances, shape (n_items,); (n,) of training items; or their number, too."""
        catalogue = catalogue_of(self, judged)
        appearances = exposure(judged, k, catalogue.n_items)
        if self.catalog == "all":
            return appearances if catalogue.outside is None else appearances[~catalogue.outside]
        trained = train_rows(self, judged) > 0
        if self.catalog == "train":
            return appearances[trained]
        return np.concatenate((appearances, [float(np.count_nonzero(trained)), 1.0]))

    def value(self, sums: DoubleArray) -> float:
        """Return the coefficient."""
        if self.catalog == "n_train":
            size = int(sums[-2] / sums[-1])
            sums = np.sort(sums[:-2])[-size:]
        n_items = len(sums)
        even = gini(sums, n_items + {"n": 0, "n_minus_1": -1, "n_plus_1": 1}[self.normalizer])
        # the weights of the formula add up to 0: what is added to every share counts in the divisor alone
        return even / (1.0 + n_items * self.smoothing)


@dataclass(frozen=True)
class GiniComplement(Gini):
    r"""One minus the Gini coefficient: 1 if all items appear equally often.

    .. math:: 1 - G, \quad G = \frac{\sum_{i=1}^{n} (2 i - n - 1) x_i}{d \sum_i x_i}

    Parameters
    ----------
    normalizer : {"n", "n_minus_1", "n_plus_1"}, default "n"
        As in `Gini`.
    catalog : {"all", "train", "n_train"}, default "all"
        As in `Gini`.
    smoothing : float, default 0.0
        As in `Gini`.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.

    Notes
    -----
    Range [0, 1], higher is better: more even. Elliot GiniIndex: ``normalizer="n_minus_1"``, and
    ``catalog="train"`` in its source. The code of
    Ferrari Dacrema et al. (ACM TOIS 39(2), 2021), Gini_Diversity: ``normalizer="n_plus_1"``.

    References
    ----------
    .. [1] P. Castells, N. Hurley, S. Vargas, "Novelty and diversity in recommender systems", Recommender
       Systems Handbook, 2015, section 26.3.4.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = GiniComplement()
    >>> metric.value(metric.sums(beyond_example(), 2))
    0.5
    """

    name: ClassVar[str] = "gini_complement"
    label: ClassVar[str] = "GiniComplement"
    higher_is_better: ClassVar[bool] = True

    def value(self, sums: DoubleArray) -> float:
        """Return one minus the coefficient."""
        return 1.0 - super().value(sums)


@dataclass(frozen=True)
class Entropy(RunMetric):
    r"""Shannon entropy of the items' shares of all recommendations.

    .. math:: H = -\sum_i p_i \log p_i, \quad p_i = x_i / \sum_j x_j

    Parameters
    ----------
    base : {"2", "e", "10"}, default "2"
        Of the logarithm.
    divisor : {"one", "recommended"}, default "one"
        ``recommended`` divides by the number of distinct recommended items.
    weight : {"recommendations", "users"}, default "recommendations"
        What counts the same in the mean of -log p: every recommendation, which is the formula above, or every
        user, whatever the length of the list.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, log n], 0 if all get one and the same item; higher is better: more even. With
    ``divisor="recommended"`` values shrink as more items are recommended and have no clear direction.
    NaN without recommendations.

    recommenders 1.2.1 distributional_coverage: defaults. Elliot ShannonEntropy: ``weight="users"``,
    the same unless lists differ in length. irspack 0.5.2: ``base="e"``. RecBole 1.2.1 ShannonEntropy:
    ``base="e", divisor="recommended"``. The code of Zanon et al. (Knowledge-Based Systems 252, 2022):
    ``base="10"``.

    References
    ----------
    .. [1] G. Shani, A. Gunawardana, "Evaluating recommendation systems", Recommender Systems Handbook,
       2011, section 8.3.2.

    Examples
    --------
    Shares 1/2, 1/4, 1/4:

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = Entropy()
    >>> metric.value(metric.sums(beyond_example(), 2))
    1.5
    """

    name: ClassVar[str] = "entropy"
    label: ClassVar[str] = "Entropy"
    needs_relevant: ClassVar[bool] = False

    base: Literal["2", "e", "10"] = "2"
    divisor: Literal["one", "recommended"] = "one"
    weight: Literal["recommendations", "users"] = "recommendations"

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return each item's appearances and weight, in slices, and the whole weight.

        Shape (2 * n_items + 1,) where recommendations weigh, else (4 * n_items + 1,).
        """
        n_items = catalogue_of(self, judged).n_items
        shown = exposure(judged, k, n_items)
        if self.weight == "recommendations":
            return np.concatenate((shown, shown, [shown.sum()]))
        weight = divide(np.ones(judged.n_users), list_length(judged, k))
        weights = weighted_exposure(judged, k, n_items, weight)
        return np.concatenate((shown, weights.ravel(), [judged.n_users]))

    def value(self, sums: DoubleArray) -> float:
        """Return the entropy."""
        rows = sums[:-1].reshape(2 if self.weight == "recommendations" else 4, -1)
        shown, *slices = rows[:, rows[0] > 0]
        weight = np.sum(slices[::-1], axis=0)  # the small ones first
        if len(shown) == 0:
            return float("nan")
        surprise = -np.log(shown / shown.sum()) / BASES[self.base]
        entropy = to_float(exact_dot(weight, surprise), products=True) / float(sums[-1])
        entropy += 0.0  # not -0.0 for a single item
        return entropy / len(shown) if self.divisor == "recommended" else entropy


@dataclass(frozen=True)
class Herfindahl(RunMetric):
    r"""One minus the Herfindahl index of the items' shares of all recommendations.

    .. math:: 1 - \sum_i p_i^2, \quad p_i = x_i / \sum_j x_j

    Notes
    -----
    Range [0, 1 - 1/n], 0 if all get one and the same item; higher is better: more even. The chance that two
    recommendations, drawn with replacement, are of different items; seldom below .9. NaN without
    recommendations.

    References
    ----------
    .. [1] G. Adomavicius, Y. Kwon, "Improving aggregate recommendation diversity using ranking-based
       techniques", IEEE TKDE 24(5), 2012.

    Examples
    --------
    Shares 1/2, 1/4, 1/4: 1 - 1/4 - 1/16 - 1/16.

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = Herfindahl()
    >>> metric.value(metric.sums(beyond_example(), 2))
    0.625
    """

    name: ClassVar[str] = "herfindahl"
    label: ClassVar[str] = "Herfindahl"
    needs_relevant: ClassVar[bool] = False

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return each item's appearances, shape (n_items,)."""
        return exposure(judged, k, catalogue_of(self, judged).n_items)

    def value(self, sums: DoubleArray) -> float:
        """Return one minus the index."""
        shown = float(sums.sum())
        return 1.0 - to_float(exact_dot(sums, sums), products=True) / shown**2 if shown else float("nan")


@dataclass(frozen=True)
class Personalization(RunMetric):
    r"""One minus the mean cosine similarity of two users' lists.

    .. math:: 1 - \frac{1}{\binom{m}{2}} \sum_{u < v} \frac{|L_u \cap L_v|}{\sqrt{|L_u| |L_v|}}

    Notes
    -----
    Range [0, 1], 0 if everybody gets the same list; higher is better: lists differ more, which says
    nothing about how good each is. Pairs are never built: with each user's list as a vector of length 1, the
    similarities of all pairs add up to half of the squared length of the vectors' sum, less the m ones of
    every list with itself.

    Lists may differ in length; users without a list are left out. One list alone makes no pair: NaN. The
    items of a list must be distinct.

    recmetrics 0.1.5 and CAPRI compute this for lists of one length and fail on others.

    References
    ----------
    .. [1] T. Zhou et al., "Solving the apparent diversity-accuracy dilemma of recommender systems",
       PNAS 107(10), 2010 (with the overlap at k, equal to this for lists of k items).

    Examples
    --------
    The two lists share one of two items:

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = Personalization()
    >>> round(metric.value(metric.sums(beyond_example(), 2)), 4)
    0.5
    """

    name: ClassVar[str] = "personalization"
    label: ClassVar[str] = "Personalization"
    needs_relevant: ClassVar[bool] = False

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the sum of the lists' unit vectors in three slices, and the number of lists.

        Shape (3 * n_items + 1,); see `weighted_exposure`.
        """
        n_items = catalogue_of(self, judged).n_items
        lengths = n_known(judged, k)
        weight = divide(np.ones(judged.n_users), np.sqrt(lengths))
        return np.append(weighted_exposure(judged, k, n_items, weight), np.count_nonzero(lengths))

    def value(self, sums: DoubleArray) -> float:
        """Return the personalization; NaN for fewer than two lists."""
        n_lists = float(sums[-1])
        if n_lists < 2:
            return float("nan")
        total = sums[:-1].reshape(3, -1)[::-1].sum(axis=0)  # the small ones first
        length = to_float(exact_dot(total, total), products=True)
        similar = (length - n_lists) / (n_lists * (n_lists - 1))
        return 1.0 - similar


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
    head_items : {"most_popular", "given"}, default "most_popular"
        The head as `head` and `boundary` make it, or the items that the user names (``head=...`` of
        `recgauge.evaluate`): studies break ties of popularity at the border in ways of their own.
    repeats : {"every", "once"}, default "every"
        Whether an item that a list repeats is counted each time or once.
    empty : {"nan", "zero"}, default "nan"
        The value of an empty list with ``divisor="list"``.

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
    Range [0, 1]; higher is better where popularity bias is to be avoided.

    Elliot APLT: ``untrained="neither", repeats="once"`` (source); a list of which its ProxyRecommender left
    nothing has ``empty="zero"``. recmetrics 0.1.5 long_tail_plot splits with ``head=0.5,
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

    head: PositiveShare = 0.8
    boundary: Literal["head", "tail"] = "head"
    untrained: Literal["tail", "neither"] = "tail"
    divisor: Literal["k", "list"] = "list"
    head_items: HeadItems = quiet("most_popular")
    repeats: Literal["every", "once"] = quiet("every")
    empty: Literal["nan", "zero"] = quiet("nan")

    @property
    def needs(self) -> frozenset[str]:
        """Training interactions, and the head's items where they are given."""
        return needs_of_head(self.head_items)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the tail's share of each list, shape (m,)."""
        rows = train_rows(self, judged)
        tail = ~head_of(self, judged, self.head_items, self.head, self.boundary)
        if self.untrained == "neither":
            tail &= rows > 0
        lists = distinct_lists(judged, k) if self.repeats == "once" else judged
        in_tail = sum_over_list(tail, lists, k)
        return divide(in_tail, denominator(self.divisor, judged, k), EMPTY[self.empty])


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

    tail: PositiveShare = 0.1
    divisor: Literal["k", "list"] = "k"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the tail's share of each list, shape (m,)."""
        return mean_over_list(least_popular(train_rows(self, judged), self.tail), judged, k, self.divisor)


def whole(share: float, count: int) -> int:
    """Return a share of a count, rounded down, yet 0.29 of 100 is 29 whatever floats make of it.

    Examples
    --------
    >>> whole(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return int(share * count * (1 + 1e-12))


def needs_of_head(head_items: HeadItems) -> frozenset[str]:
    """Return what a metric of the short head needs: `head_of` reads the training rows, or a given head."""
    return frozenset({"train", "head"} if head_items == "given" else {"train"})


def head_of(
    metric: Metric, judged: JudgedTopK, head_items: HeadItems, share: float, boundary: str
) -> BoolArray:
    """Mark the short head: the items that the user names, or the most popular ones, shape (n_items,)."""
    if head_items == "given":
        return given_head(metric, judged)
    return short_head(train_rows(metric, judged), share, boundary)


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
    rated = np.flatnonzero(counts)
    order = rated[np.argsort(counts[rated], kind="stable")]
    tail = np.zeros(len(counts), np.bool_)
    tail[order[: max(1, whole(share, len(rated)))]] = True
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
    empty : {"nan", "zero"}, default "nan"
        The value of an empty list with ``divisor="list"``.

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
    accuracy usually falls with it.

    RecTools 0.19.0 AvgRecPopularity: defaults. Elliot ARP: defaults; a list of which its ProxyRecommender
    left nothing has ``empty="zero"``. RecTools ``normalize=True``:
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
    empty: Literal["nan", "zero"] = quiet("nan")

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the mean popularity of each list, shape (m,)."""
        rows = train_rows(self, judged)
        mean_rows = mean_over_list(rows, judged, k, self.divisor, EMPTY[self.empty])
        match self.value:
            case "count":
                return mean_rows
            case "share":
                return mean_rows / max(1, int(rows.sum()))
            case _:
                from scipy.stats import rankdata  # a second of start-up that only this definition needs

                users = train_users(self, judged)
                quantile, rated = np.zeros(len(users)), users > 0
                quantile[rated] = rankdata(users[rated]) / max(1, int(rated.sum()))
                return mean_over_list(quantile, judged, k, self.divisor, EMPTY[self.empty])


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
        seen = seen_items(self, judged)
        n_seen = np.empty(judged.n_users)
        for rows in row_blocks(judged.n_users, seen.shape[1] + 1):
            history = seen[judged.users[rows]]
            # one column more than items: padding is item -1, never seen
            mark = np.zeros((history.shape[0], history.shape[1] + 1), np.bool_)
            mark[np.repeat(np.arange(len(mark)), np.diff(history.indptr)), history.indices] = True
            n_seen[rows] = np.take_along_axis(mark, judged.items[rows, :k] % mark.shape[1], axis=1).sum(
                axis=1
            )
        return divide(n_seen, list_length(judged, k), np.nan if self.empty == "nan" else 0.0)


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
