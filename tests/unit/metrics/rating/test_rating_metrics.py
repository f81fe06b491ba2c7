"""Rating metrics against slow, obvious formulas, and the properties that they promise."""

import math

import numpy as np

from recgauge.metrics.rating import (
    ConcordantPairs,
    JudgedRatings,
    Kendall,
    Minkowski,
    Pearson,
    RSquared,
    Spearman,
)

CORRELATIONS = [Pearson(), Spearman(), Kendall()]


def judged(rows):
    users, actual, predicted = zip(*rows, strict=True)
    _, owner = np.unique(users, return_inverse=True)
    return JudgedRatings.by_user(np.array(actual), np.array(predicted), owner)


def test_a_high_power_does_not_overflow():
    ratings = JudgedRatings(np.array([0.0, 100.0]), np.array([100.0, 0.0]), np.array([0, 2]))
    assert Minkowski(q=500).value(ratings) == 100.0


def test_equal_values_have_no_correlation_despite_rounding():
    ratings = JudgedRatings(np.full(3, 0.1), np.array([1.0, 2.0, 4.0]), np.array([0, 3]))
    assert all(math.isnan(metric.value(ratings)) for metric in [*CORRELATIONS, RSquared()])


def test_the_three_ways_to_pool_concordant_pairs():
    # User 0: three concordant pairs; user 1: one discordant pair.
    rows = [(0, 1.0, 1.0), (0, 2.0, 2.0), (0, 3.0, 3.0), (1, 1.0, 2.0), (1, 2.0, 1.0)]
    ratings = judged([*rows, (2, 4.0, 4.0)])
    assert ConcordantPairs().value(ratings) == 3 / 4
    assert ConcordantPairs(aggregate="user").value(ratings) == 1 / 2
    assert ConcordantPairs(aggregate="counted_users").value(ratings) == 3 / (3 + 1)
    assert math.isnan(ConcordantPairs(aggregate="counted_users").value(judged([(0, 1.0, 1.0)])))
