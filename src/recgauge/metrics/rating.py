"""Metrics of predicted ratings, over all rows or of each user: errors and correlations."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging._lookup import compile_once
from recgauge.metrics.metric import Kind, Metric, divide
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray, Positive


@dataclass(frozen=True, eq=False)
class JudgedRatings:
    """Actual and predicted ratings, the rows of each group back to back.

    Parameters
    ----------
    actual, predicted : ndarray of float64, shape (n,)
        Finite.
    start : ndarray of int64, shape (g + 1,)
        Group j's rows are at ``start[j]:start[j + 1]``; no group is empty. A group is a user.

    Examples
    --------
    >>> ratings = JudgedRatings.by_user(
    ...     np.array([4.0, 2.0, 5.0]), np.array([3.0, 2.0, 4.5]), np.array([1, 0, 1])
    ... )
    >>> ratings.actual.tolist(), ratings.start.tolist()
    ([2.0, 4.0, 5.0], [0, 1, 3])
    """

    actual: DoubleArray
    predicted: DoubleArray
    start: LongArray

    @classmethod
    def by_user(cls, actual: DoubleArray, predicted: DoubleArray, owner: LongArray) -> "JudgedRatings":
        """Sort rows by user.

        Parameters
        ----------
        actual, predicted : ndarray of float64, shape (n,)
        owner : ndarray of int, shape (n,)
            The user of each row, from 0 without gaps.
        """
        order = np.argsort(owner, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(owner)))).astype(np.int64)
        return cls(actual[order], predicted[order], start)

    def pooled(self) -> "JudgedRatings":
        """Return the same rows as one group."""
        return JudgedRatings(self.actual, self.predicted, np.array([0, len(self.actual)]))

    @property
    def counts(self) -> LongArray:
        """Rows of each group, shape (g,)."""
        return np.diff(self.start)

    @cached_property
    def owner(self) -> LongArray:
        """Group of each row, shape (n,)."""
        return np.repeat(np.arange(len(self.start) - 1), self.counts)

    @cached_property
    def error(self) -> DoubleArray:
        """Absolute errors, shape (n,)."""
        distance: DoubleArray = np.abs(self.actual - self.predicted)
        return distance

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (n,) over each group's rows, shape (g,)."""
        sums: DoubleArray = np.add.reduceat(weight, self.start[:-1])
        return sums

    def mean(self, weight: DoubleArray) -> DoubleArray:
        """Average `weight` (n,) over each group's rows, shape (g,)."""
        return self.total(weight) / self.counts


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """A metric over all rows, as what each user adds to it: ``(sums.sum() / counts.sum()) ** exponent``.

    Parameters
    ----------
    sums, counts : ndarray of float64, shape (..., m)
        Sums over the rows of each user, and numbers of rows.
    exponent : float

    Examples
    --------
    >>> Pooled(np.array([8.0, 1.0]), np.array([2.0, 2.0]), 0.5).value().tolist()
    1.5
    """

    sums: DoubleArray
    counts: DoubleArray
    exponent: float = 1.0

    def value(self) -> DoubleArray:
        """Return the metric over all rows of all users, shape (...)."""
        value: DoubleArray = (self.sums.sum(axis=-1) / self.counts.sum(axis=-1)) ** self.exponent
        return value

    def per_user(self) -> DoubleArray:
        """Return the metric over the rows of each user, NaN without a row, shape (..., m)."""
        rows = np.where(self.counts > 0, self.counts, np.nan)
        values: DoubleArray = (self.sums / rows) ** self.exponent
        return values


@dataclass(frozen=True)
class RatingMetric(Metric):
    """A metric of actual and predicted ratings.

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows at once, so that a user counts by the number of rows; or for each user, then the mean
        over the users for whom it is defined.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.
    """

    kind: ClassVar[Kind] = "ratings"
    needs_users: ClassVar[bool] = False
    """True: the metric compares rows of one user even when it pools."""

    aggregate: Literal["pooled", "user"] = "pooled"

    @abstractmethod
    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return one value a group, NaN where undefined.

        Parameters
        ----------
        ratings : JudgedRatings
            Rows of g groups.

        Returns
        -------
        ndarray of float64, shape (g,)
        """

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:  # noqa: ARG002 -- for those that have one
        """Return what each group adds to the value over all rows; None where it is no ratio of sums."""
        return None

    def value(self, ratings: JudgedRatings) -> float:
        """Return the value over all rows, or the mean over users; NaN if undefined for all."""
        if self.aggregate != "user":
            return float(self.per_group(ratings.pooled())[0])
        per_user = self.per_group(ratings)
        defined = per_user[~np.isnan(per_user)]
        return float(defined.mean()) if len(defined) else float("nan")


@dataclass(frozen=True)
class MAE(RatingMetric):
    r"""How far predictions are from the actual ratings, on average.

    .. math:: \mathrm{MAE} = \frac{1}{n} \sum_{(u, i)} |r_{ui} - \hat r_{ui}|

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Mean over all rows, or for each user and then over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better; in units of the rating scale. Nearly all libraries pool; LensKit, and
    Cornac when asked, average over users.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2, 5], [3, 2, 3], metrics=["mae"]).values()
    {'mae': 1.0}
    """

    name: ClassVar[str] = "mae"
    label: ClassVar[str] = "MAE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the mean absolute error of each group, shape (g,)."""
        return ratings.mean(ratings.error)

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:
        """Return each group's sum of absolute errors."""
        return _parts(self, ratings, ratings.error)


@dataclass(frozen=True)
class MSE(RatingMetric):
    r"""The mean of squared errors: one large error weighs more than several small ones.

    .. math:: \mathrm{MSE} = \frac{1}{n} \sum_{(u, i)} (r_{ui} - \hat r_{ui})^2

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Mean over all rows, or for each user and then over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better; in squared units of the rating scale.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2], [3, 2], metrics=["mse"]).values()
    {'mse': 0.5}
    """

    name: ClassVar[str] = "mse"
    label: ClassVar[str] = "MSE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the mean squared error of each group, shape (g,)."""
        return ratings.mean(ratings.error**2)

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:
        """Return each group's sum of squared errors."""
        return _parts(self, ratings, ratings.error**2)


@dataclass(frozen=True)
class RMSE(RatingMetric):
    r"""The root of the mean squared error: the usual figure of rating prediction.

    .. math:: \mathrm{RMSE} = \sqrt{\frac{1}{n} \sum_{(u, i)} (r_{ui} - \hat r_{ui})^2}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users; the two differ even if all users have
        equally many rows.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better, never below the MAE of the same rows; in units of the rating scale.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2, 5, 1], [3, 2, 5, 2], metrics=["rmse"]).values()["rmse"] ** 2
    0.5000000000000001
    """

    name: ClassVar[str] = "rmse"
    label: ClassVar[str] = "RMSE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the root mean squared error of each group, shape (g,)."""
        root: DoubleArray = np.sqrt(ratings.mean(ratings.error**2))
        return root

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:
        """Return each group's sum of squared errors."""
        return _parts(self, ratings, ratings.error**2, 0.5)


@dataclass(frozen=True)
class Minkowski(RatingMetric):
    r"""The power mean of absolute errors of order `q`: the larger `q`, the more large errors count.

    .. math::
        \left( \frac{1}{n} \sum_{(u, i)} |r_{ui} - \hat r_{ui}|^q \right)^{1/q}
        \qquad \text{or, with normalization=sum,} \qquad
        \left( \sum_{(u, i)} |r_{ui} - \hat r_{ui}|^q \right)^{1/q}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users.
    q : float, default 3.0
        Order, > 0; 1 gives MAE, 2 gives RMSE.
    normalization : {"mean", "sum"}, default "mean"
        Power mean, or the raw distance, which grows with the number of rows.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.

    Notes
    -----
    Range [0, inf), lower is better. Only the power mean has MAE and RMSE as special cases; the raw distance
    (SciPy's) is ``n ** (1 / q)`` times as large and cannot compare sets of different size.

    References
    ----------
    .. [1] P. S. Bullen, "Handbook of means and their inequalities", 2003, ch. III.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2], [2, 4], metrics={"m3": Minkowski(q=3)}).values()
    {'m3': 2.0}
    """

    name: ClassVar[str] = "minkowski"
    label: ClassVar[str] = "Minkowski"
    higher_is_better: ClassVar[bool] = False

    q: Positive = 3.0
    normalization: Literal["mean", "sum"] = "mean"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the Minkowski error of each group, shape (g,)."""
        # Relative to the largest error: a high power neither overflows nor vanishes.
        largest = np.maximum.reduceat(ratings.error, ratings.start[:-1])
        scale = np.where(largest > 0, largest, 1.0)
        powers = (ratings.error / scale[ratings.owner]) ** self.q
        inner = ratings.mean(powers) if self.normalization == "mean" else ratings.total(powers)
        distance: DoubleArray = scale * inner ** (1.0 / self.q)
        return distance


@dataclass(frozen=True)
class MedianAbsoluteError(RatingMetric):
    r"""The error that half of the predictions stay below; outliers do not move it.

    .. math:: \mathrm{MedAE} = \operatorname{median}_{(u, i)} |r_{ui} - \hat r_{ui}|

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better. The mean of the two middle errors of an even number of rows.

    References
    ----------
    .. [1] P. J. Rousseeuw, A. M. Leroy, "Robust regression and outlier detection", 1987, ch. 1.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3, 4], [1, 1, 1, 1], metrics=["median_absolute_error"]).values()
    {'median_absolute_error': 1.5}
    """

    name: ClassVar[str] = "median_absolute_error"
    label: ClassVar[str] = "MedAE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the median absolute error of each group, shape (g,)."""
        ordered = ratings.error[np.lexsort((ratings.error, ratings.owner))]
        first, counts = ratings.start[:-1], ratings.counts
        middle: DoubleArray = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2.0
        return middle


def pooled_metric(definition: str) -> RatingMetric | None:
    """Return the metric over all rows whose definition has this text, if users' parts of it can be told.

    Examples
    --------
    >>> pooled_metric("RMSE(aggregate=pooled)"), pooled_metric("RMSE(aggregate=user)")
    (RMSE(aggregate='pooled'), None)
    """
    metrics: tuple[RatingMetric, ...] = (MAE(), MSE(), RMSE())
    return next((metric for metric in metrics if metric.definition() == definition), None)


def _parts(
    metric: RatingMetric, ratings: JudgedRatings, powers: DoubleArray, exponent: float = 1.0
) -> Pooled | None:
    if metric.aggregate == "user":
        return None
    return Pooled(ratings.total(powers), ratings.counts.astype(np.float64), exponent)


@dataclass(frozen=True)
class Pearson(RatingMetric):
    r"""How linearly predictions follow the actual ratings, whatever their level and spread.

    .. math::
        \rho = \frac{\sum (r - \bar r)(\hat r - \bar{\hat r})}
        {\sqrt{\sum (r - \bar r)^2} \sqrt{\sum (\hat r - \bar{\hat r})^2}}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users for whom it is defined.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [-1, 1], higher is better. Undefined (NaN) if the actual or the predicted ratings are all equal,
    so also for one row; such users are left out of the mean and counted.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3], [3, 2, 1], metrics=["pearson"]).values()
    {'pearson': -1.0}
    """

    name: ClassVar[str] = "pearson"
    label: ClassVar[str] = "Pearson"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the correlation of each group, shape (g,); NaN where undefined."""
        return correlate(ratings.actual, ratings.predicted, ratings)


def correlate(x: DoubleArray, y: DoubleArray, groups: JudgedRatings) -> DoubleArray:
    """Return Pearson's coefficient of `x` and `y`, both (n,), in each group, shape (g,)."""
    x, y = _deviations(x, groups), _deviations(y, groups)
    norms = np.sqrt(groups.total(x * x) * groups.total(y * y))
    # Judged by the values themselves: deviations of equal values from their rounded mean need not be 0.
    norms[~(varies(groups.actual, groups) & varies(groups.predicted, groups))] = 0.0
    return np.clip(divide(groups.total(x * y), norms, empty=np.nan), -1.0, 1.0)


def _deviations(values: DoubleArray, groups: JudgedRatings) -> DoubleArray:
    """Return deviations from the group's mean, the largest being 1, so that squares stay in range."""
    deviations = values - groups.mean(values)[groups.owner]
    largest = np.maximum.reduceat(np.abs(deviations), groups.start[:-1])
    scaled: DoubleArray = deviations / np.where(largest > 0, largest, 1.0)[groups.owner]
    return scaled


def varies(values: DoubleArray, groups: JudgedRatings) -> BoolArray:
    """Return whether a group has two different `values`, shape (g,)."""
    first = groups.start[:-1]
    different: BoolArray = np.minimum.reduceat(values, first) < np.maximum.reduceat(values, first)
    return different


@dataclass(frozen=True)
class Spearman(RatingMetric):
    r"""How well predictions put ratings in order: Pearson's coefficient of the ranks.

    .. math:: \rho_s = \rho(\operatorname{rank}(r), \operatorname{rank}(\hat r))

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users for whom it is defined.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [-1, 1], higher is better. Equal values share the mean of their ranks. Undefined (NaN) if the
    actual or the predicted ratings are all equal; such users are left out of the mean and counted.

    References
    ----------
    .. [1] C. Spearman, "The proof and measurement of association between two things", American Journal of
       Psychology 15(1), 1904.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 4], [0.1, 2.2, 2.3], metrics=["spearman"]).values()
    {'spearman': 1.0}
    """

    name: ClassVar[str] = "spearman"
    label: ClassVar[str] = "Spearman"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the rank correlation of each group, shape (g,); NaN where undefined."""
        actual, predicted = average_ranks(ratings.actual, ratings), average_ranks(ratings.predicted, ratings)
        return correlate(actual, predicted, ratings)


def average_ranks(values: DoubleArray, groups: JudgedRatings) -> DoubleArray:
    """Return each row's rank among its group's rows, equal values sharing their mean rank; shape (n,)."""
    order = np.lexsort((values, groups.owner))
    sorted_values, owner = values[order], groups.owner[order]
    opens = np.ones(len(values), dtype=np.bool_)
    opens[1:] = (sorted_values[1:] != sorted_values[:-1]) | (owner[1:] != owner[:-1])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(values)) - 1
    tie = np.cumsum(opens) - 1
    ranks = np.empty(len(values))
    ranks[order] = (first + last)[tie] / 2.0 + 1.0 - groups.start[owner]
    return ranks


@dataclass(frozen=True)
class RSquared(RatingMetric):
    r"""The share of the ratings' variance that the predictions explain.

    .. math:: R^2 = 1 - \frac{\sum (r_{ui} - \hat r_{ui})^2}{\sum (r_{ui} - \bar r)^2}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, with one mean rating; or for each user around the user's own mean, then over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range (-inf, 1], higher is better; 0 for predicting the mean of the very rows that are judged. Undefined
    (NaN) if all actual ratings are equal, as for one row; scikit-learn gives 1 or 0 there from two rows on.

    References
    ----------
    .. [1] N. R. Draper, H. Smith, "Applied regression analysis", 3rd ed., 1998, ch. 1.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3], [1, 2, 2], metrics=["r2"]).values()
    {'r2': 0.5}
    """

    name: ClassVar[str] = "r2"
    label: ClassVar[str] = "R2"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the coefficient of each group, shape (g,); NaN for equal ratings."""
        spread = ratings.total((ratings.actual - ratings.mean(ratings.actual)[ratings.owner]) ** 2)
        unexplained = ratings.total(ratings.error**2)
        spread[~varies(ratings.actual, ratings)] = 0.0
        return 1.0 - divide(unexplained, spread, empty=float("nan"))


@dataclass(frozen=True)
class Kendall(RatingMetric):
    r"""How many more pairs of ratings are predicted in the right order than in the wrong one (tau-b).

    .. math:: \tau_b = \frac{C - D}{\sqrt{(N - T_r)(N - T_{\hat r})}}

    with C concordant and D discordant of N pairs, T of them tied in actual or in predicted rating.

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, pairs of different users included; or for each user and then the mean over users for
        whom it is defined.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [-1, 1], higher is better. Undefined (NaN) if the actual or the predicted ratings are all equal;
    such users are left out of the mean and counted. Counted in O(n log n).

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33(3), 1945.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3], [1, 3, 2], metrics=["kendall"]).values()["kendall"]
    0.3333333333333333
    """

    name: ClassVar[str] = "kendall"
    label: ClassVar[str] = "Kendall tau-b"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return tau-b of each group, shape (g,); NaN where undefined."""
        pairs = count_pairs(ratings)
        untied_actual = (pairs.all - pairs.tied_actual).astype(np.float64)
        untied_predicted = (pairs.all - pairs.tied_predicted).astype(np.float64)
        norms = np.sqrt(untied_actual * untied_predicted)
        excess = (pairs.concordant - pairs.discordant).astype(np.float64)
        return np.clip(divide(excess, norms, empty=np.nan), -1.0, 1.0)


@dataclass(frozen=True)
class ConcordantPairs(RatingMetric):
    r"""The share of a user's pairs of differently rated items that predictions put in the right order.

    .. math:: \mathrm{FCP} = \frac{n_c}{n_c + n_d}

    with n_c pairs in the right order and n_d pairs in the wrong order or predicted as equal.

    Parameters
    ----------
    aggregate : {"pooled", "user", "counted_users"}, default "pooled"
        ``pooled``: pairs of all users are added, then divided; ``user``: the share of each user, then the
        mean; ``counted_users``: Surprise's, with n_c the mean over the users that have a concordant pair and
        n_d the mean over those that have another one, which are not the same users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, 1], higher is better; .5 for chance without ties. Pairs are always within a user. Undefined
    (NaN) for a user without two different ratings.

    References
    ----------
    .. [1] Y. Koren, J. Sill, "Collaborative filtering on ordinal user feedback", IJCAI 2013.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> users = ["ann", "ann", "ann", "bob", "bob"]
    >>> evaluate_ratings([1, 2, 3, 5, 4], [1, 3, 2, 4, 4], users=users, metrics=["fcp"]).values()
    {'fcp': 0.5}
    """

    name: ClassVar[str] = "fcp"
    label: ClassVar[str] = "FCP"
    needs_users: ClassVar[bool] = True

    aggregate: Literal["pooled", "user", "counted_users"] = "pooled"  # type: ignore[assignment]

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the share of each group, shape (g,); NaN without a pair of different ratings."""
        concordant, rest = _concordant_and_rest(ratings)
        return divide(concordant, concordant + rest, empty=np.nan)

    def value(self, ratings: JudgedRatings) -> float:
        """Return the value as `aggregate` says; NaN if no user has two different ratings."""
        if self.aggregate == "user":
            return super().value(ratings)
        concordant, rest = _concordant_and_rest(ratings)
        if self.aggregate == "counted_users":
            right, wrong = _mean_of_positive(concordant), _mean_of_positive(rest)
        else:
            right, wrong = float(concordant.sum()), float(rest.sum())
        return right / (right + wrong) if right + wrong else float("nan")


def _concordant_and_rest(ratings: JudgedRatings) -> tuple[DoubleArray, DoubleArray]:
    pairs = count_pairs(ratings)
    rest = pairs.discordant + pairs.tied_predicted - pairs.tied_both
    return pairs.concordant.astype(np.float64), rest.astype(np.float64)


def _mean_of_positive(counts: DoubleArray) -> float:
    return float(counts[counts > 0].mean()) if (counts > 0).any() else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _PairCounts:
    """How many pairs of a group's rows are what; all ndarray of int64, shape (g,).

    Parameters
    ----------
    all : ndarray
        Pairs of two rows, without order.
    concordant, discordant : ndarray
        Pairs in the same, or in opposite, strict order by actual and by predicted rating.
    tied_actual, tied_predicted, tied_both : ndarray
        Pairs with equal actual ratings, equal predicted ones, or both.
    """

    all: LongArray
    concordant: LongArray
    discordant: LongArray
    tied_actual: LongArray
    tied_predicted: LongArray
    tied_both: LongArray


def count_pairs(ratings: JudgedRatings) -> _PairCounts:
    """Count the pairs of each group in O(n log n), without ever listing them.

    Parameters
    ----------
    ratings : JudgedRatings

    Returns
    -------
    _PairCounts

    Examples
    --------
    >>> actual, predicted = np.array([1.0, 2.0, 2.0]), np.array([3.0, 1.0, 4.0])
    >>> counts = count_pairs(JudgedRatings(actual, predicted, np.array([0, 3])))
    >>> counts.concordant.tolist(), counts.discordant.tolist(), counts.tied_actual.tolist()
    ([1], [1], [1])
    """
    order = np.lexsort((ratings.predicted, ratings.actual, ratings.owner))
    actual, predicted = ratings.actual[order], ratings.predicted[order]
    # Rows of equal actual rating rise by prediction, so none of their pairs counts as an inversion.
    discordant: LongArray = compile_once(_count_inversions)(predicted.copy(), ratings.start)
    same_actual = actual[1:] == actual[:-1]
    tied_actual = _tied(same_actual, ratings)
    tied_both = _tied(same_actual & (predicted[1:] == predicted[:-1]), ratings)
    by_predicted: DoubleArray = ratings.predicted[np.lexsort((ratings.predicted, ratings.owner))]
    tied_predicted = _tied(by_predicted[1:] == by_predicted[:-1], ratings)
    pairs = ratings.counts * (ratings.counts - 1) // 2
    concordant = pairs - tied_actual - tied_predicted + tied_both - discordant
    return _PairCounts(pairs, concordant, discordant, tied_actual, tied_predicted, tied_both)


def _tied(same: BoolArray, ratings: JudgedRatings) -> LongArray:
    """Pairs inside runs of equal neighbours; `same`, shape (n - 1,), is row r + 1 like row r."""
    opens = np.ones(len(ratings.actual), dtype=np.bool_)
    opens[1:] = ~same
    opens[ratings.start[:-1]] = True
    first = np.flatnonzero(opens)
    lengths = np.diff(np.append(first, len(opens)))
    runs = lengths * (lengths - 1) // 2
    sums: LongArray = np.add.reduceat(runs, np.searchsorted(first, ratings.start[:-1]))
    return sums


def _count_inversions(values: DoubleArray, start: LongArray) -> LongArray:
    """Count, in each group, the pairs of rows whose earlier value is the larger one.

    Merge sort from the bottom up, O(n log n) time and n extra numbers; `values` is sorted in place.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
    start : ndarray of int64, shape (g + 1,)

    Returns
    -------
    ndarray of int64, shape (g,)
    """
    counts = np.zeros(len(start) - 1, np.int64)
    spare = np.empty_like(values)
    for group in range(len(start) - 1):
        low, high = start[group], start[group + 1]
        width = 1
        while width < high - low:
            for left in range(low, high, 2 * width):
                middle, end = min(left + width, high), min(left + 2 * width, high)
                a, b = left, middle
                for position in range(left, end):
                    if b >= end or (a < middle and values[a] <= values[b]):
                        spare[position] = values[a]
                        a += 1
                    else:
                        spare[position] = values[b]
                        b += 1
                        counts[group] += middle - a
            values[low:high] = spare[low:high]
            width *= 2
    return counts
