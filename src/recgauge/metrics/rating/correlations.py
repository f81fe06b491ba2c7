"""How predicted ratings follow the actual ones: correlations, determination, and pairs in order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from recgauge.metrics.metric import divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray


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
        concordant, others = _concordant_and_others(ratings)
        return divide(concordant, concordant + others, empty=np.nan)

    def value(self, ratings: JudgedRatings) -> float:
        """Return the value as `aggregate` says; NaN if no user has two different ratings."""
        if self.aggregate == "user":
            return super().value(ratings)
        concordant, others = _concordant_and_others(ratings)
        if self.aggregate == "counted_users":
            right, wrong = _mean_of_positive(concordant), _mean_of_positive(others)
        else:
            right, wrong = float(concordant.sum()), float(others.sum())
        return right / (right + wrong) if right + wrong else float("nan")


def _concordant_and_others(ratings: JudgedRatings) -> tuple[DoubleArray, DoubleArray]:
    pairs = count_pairs(ratings)
    others = pairs.discordant + pairs.tied_predicted - pairs.tied_both
    return pairs.concordant.astype(np.float64), others.astype(np.float64)


def _mean_of_positive(counts: DoubleArray) -> float:
    return float(counts[counts > 0].mean()) if (counts > 0).any() else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
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


def count_pairs(ratings: JudgedRatings) -> PairCounts:
    """Count the pairs of each group in O(n log n), without ever listing them.

    Parameters
    ----------
    ratings : JudgedRatings

    Returns
    -------
    PairCounts

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
    discordant: LongArray = _inversions_compiled()(predicted.copy(), ratings.start)
    same_actual = actual[1:] == actual[:-1]
    tied_actual = _tied(same_actual, ratings)
    tied_both = _tied(same_actual & (predicted[1:] == predicted[:-1]), ratings)
    by_predicted: DoubleArray = ratings.predicted[np.lexsort((ratings.predicted, ratings.owner))]
    tied_predicted = _tied(by_predicted[1:] == by_predicted[:-1], ratings)
    pairs = ratings.counts * (ratings.counts - 1) // 2
    concordant = pairs - tied_actual - tied_predicted + tied_both - discordant
    return PairCounts(pairs, concordant, discordant, tied_actual, tied_predicted, tied_both)


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


@cache
def _inversions_compiled() -> Callable[[DoubleArray, LongArray], LongArray]:
    """Compile the count where it is used, since loading numba takes a second."""
    from recgauge.utils.compiled import compiled

    return compiled(nogil=True)(_count_inversions)
