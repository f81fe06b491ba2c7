"""Coverage: how much of the catalogue, of the possible pairs and of the users recommendations reach."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.lists import catalogue_of, exposure, train_rows
from recgauge.metrics.metric import RunMetric, UserMetric, list_length
from recgauge.utils.checks import DoubleArray


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
