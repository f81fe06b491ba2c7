"""How much of the catalogue recommendations reach, how evenly, and how different users' lists are."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond import catalogue_of, exposure, train_rows, weighted_exposure
from recgauge.metrics.metric import RunMetric, UserMetric, divide, list_length
from recgauge.utils.checks import DoubleArray
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
        n_items = catalogue_of(self, judged).n_items
        shown = exposure(judged, k, n_items)
        size = float(n_items)
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
        possible = float(judged.n_users) * catalogue_of(self, judged).n_items
        return np.array([list_length(judged, k).sum(), possible])

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
        wanted = k if self.at_least == "k" and k is not None else 1
        return (list_length(judged, k) >= wanted).astype(np.float64)


BASES = {"2": np.log(2.0), "e": 1.0}


@dataclass(frozen=True)
class Gini(RunMetric):
    r"""Gini coefficient of the items' appearances in lists: 0 if all appear equally often.

    .. math:: G = \frac{\sum_{i=1}^{n} (2 i - n - 1) x_i}{d \sum_i x_i}, \quad x_1 \le \dots \le x_n

    Parameters
    ----------
    normalizer : {"n", "n_minus_1", "n_plus_1"}, default "n"
        The d of the formula: the size of the catalogue; one less, with which a single recommended
        item gives 1; or one more.

    Raises
    ------
    ConfigError
        If `normalizer` is unknown.

    Notes
    -----
    Range [0, 1 - 1/n], [0, 1] or [0, 1 - 2/(n + 1)], lower is better: more even. Items that nobody gets
    count with 0. Very short lists for few users cannot be even, whatever the model. NaN without
    recommendations, and for ``n_minus_1`` with a catalogue of one item.

    RecBole 1.2.1 GiniIndex, irspack 0.5.2 and LensKit 2026 ListGini (source): ``n``. irspack's function
    for data frames takes as catalogue the items of lists and relevant items only. Elliot reports
    `GiniComplement`.

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
    needs: ClassVar[frozenset[str]] = frozenset({"n_items"})

    normalizer: Literal["n", "n_minus_1", "n_plus_1"] = "n"

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return each item's appearances, shape (n_items,)."""
        return exposure(judged, k, catalogue_of(self, judged).n_items)

    def value(self, sums: DoubleArray) -> float:
        """Return the coefficient."""
        return _gini(sums, self.normalizer)


@dataclass(frozen=True)
class GiniComplement(Gini):
    r"""One minus the Gini coefficient: 1 if all items appear equally often.

    .. math:: 1 - G, \quad G = \frac{\sum_{i=1}^{n} (2 i - n - 1) x_i}{d \sum_i x_i}

    Parameters
    ----------
    normalizer : {"n", "n_minus_1", "n_plus_1"}, default "n"
        As in `Gini`.

    Raises
    ------
    ConfigError
        If `normalizer` is unknown.

    Notes
    -----
    Range [0, 1], higher is better: more even. Elliot GiniIndex: ``normalizer="n_minus_1"``. The code of
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
        return 1.0 - _gini(sums, self.normalizer)


@dataclass(frozen=True)
class Entropy(RunMetric):
    r"""Shannon entropy of the items' shares of all recommendations.

    .. math:: H = -\sum_i p_i \log p_i, \quad p_i = x_i / \sum_j x_j

    Parameters
    ----------
    base : {"2", "e"}, default "2"
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
    ``base="e", divisor="recommended"``.

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

    base: Literal["2", "e"] = "2"
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


def _gini(shown: DoubleArray, normalizer: str) -> float:
    n_items = len(shown)
    scale = shown.sum() * (n_items + {"n": 0, "n_minus_1": -1, "n_plus_1": 1}[normalizer])
    if scale == 0:
        return float("nan")
    weight = 2.0 * np.arange(1.0, n_items + 1.0) - n_items - 1.0
    return to_float(exact_dot(weight, np.sort(shown)), products=True) / float(scale)


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
        lengths = list_length(judged, k)
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
