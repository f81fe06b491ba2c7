"""Pairs of ratings that predictions put in the right or the wrong order, counted in each group."""

from dataclasses import dataclass

import numpy as np

from recgauge.metrics.rating import JudgedRatings
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray


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
    from recgauge.metrics.rating._inversions import count_inversions  # compiled for those who count

    order = np.lexsort((ratings.predicted, ratings.actual, ratings.owner))
    actual, predicted = ratings.actual[order], ratings.predicted[order]
    # Rows of equal actual rating rise by prediction, so none of their pairs counts as an inversion.
    discordant: LongArray = count_inversions(predicted.copy(), ratings.start)
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
