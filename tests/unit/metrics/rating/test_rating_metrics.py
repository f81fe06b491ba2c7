"""Rating metrics against slow, obvious formulas, and the properties that they promise."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recgauge.metrics.rating import (
    MAE,
    MSE,
    RMSE,
    ConcordantPairs,
    JudgedRatings,
    Kendall,
    MedianAbsoluteError,
    Minkowski,
    Pearson,
    RSquared,
    Spearman,
)

STARS = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0, 3.7, 4.0, 5.0])
ROWS = st.lists(st.tuples(st.integers(0, 3), STARS, STARS), min_size=1, max_size=25)
ERRORS = [MAE(), MSE(), RMSE(), Minkowski(q=3.0), Minkowski(q=0.5), MedianAbsoluteError()]
CORRELATIONS = [Pearson(), Spearman(), Kendall()]
ALL = [*ERRORS, *CORRELATIONS, RSquared(), ConcordantPairs()]


def judged(rows):
    users, actual, predicted = zip(*rows, strict=True)
    _, owner = np.unique(users, return_inverse=True)
    return JudgedRatings.by_user(np.array(actual), np.array(predicted), owner)


def by_user(rows):
    users = sorted({user for user, _, _ in rows})
    return [[(r, p) for user, r, p in rows if user == one] for one in users]


def pearson(xs, ys):
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        return math.nan
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    sxy = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True))
    return sxy / math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))


def mean_ranks(xs):
    return [sum(other < x for other in xs) + (xs.count(x) + 1) / 2 for x in xs]


def signs(group):
    return [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in itertools.combinations(group, 2)]


def tau_b(group):
    pairs = signs(group)
    untied = sum(r != 0 for r, _ in pairs) * sum(p != 0 for _, p in pairs)
    return sum(r * p for r, p in pairs) / math.sqrt(untied) if untied else math.nan


def concordant_share(group):
    different = [(r, p) for r, p in signs(group) if r != 0]
    return sum(r == p for r, p in different) / len(different) if different else math.nan


def explained(group):
    actual = [r for r, _ in group]
    if len(set(actual)) < 2:
        return math.nan
    mean = sum(actual) / len(actual)
    return 1 - sum((r - p) ** 2 for r, p in group) / sum((r - mean) ** 2 for r in actual)


def median(xs):
    ordered = sorted(xs)
    return (ordered[(len(xs) - 1) // 2] + ordered[len(xs) // 2]) / 2


REFERENCE = [
    (MAE(), lambda g: sum(abs(r - p) for r, p in g) / len(g)),
    (MSE(), lambda g: sum((r - p) ** 2 for r, p in g) / len(g)),
    (RMSE(), lambda g: math.sqrt(sum((r - p) ** 2 for r, p in g) / len(g))),
    (Minkowski(q=2.5), lambda g: (sum(abs(r - p) ** 2.5 for r, p in g) / len(g)) ** 0.4),
    (Minkowski(q=4, normalization="sum"), lambda g: sum((r - p) ** 4 for r, p in g) ** 0.25),
    (MedianAbsoluteError(), lambda g: median([abs(r - p) for r, p in g])),
    (Pearson(), lambda g: pearson([r for r, _ in g], [p for _, p in g])),
    (Spearman(), lambda g: pearson(mean_ranks([r for r, _ in g]), mean_ranks([p for _, p in g]))),
    (Kendall(), tau_b),
    (ConcordantPairs(), concordant_share),
    (RSquared(), explained),
]


@pytest.mark.parametrize(("metric", "formula"), REFERENCE, ids=lambda part: getattr(part, "label", ""))
@given(rows=ROWS)
def test_every_group_equals_the_formula(metric, formula, rows):
    expected = [formula(group) for group in by_user(rows)]
    np.testing.assert_allclose(metric.per_group(judged(rows)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.label)
@settings(max_examples=15)
@given(rows=ROWS)
def test_perfect_predictions_are_the_best(metric, rows):
    assume(len({r for _, r, _ in rows}) > 1)
    value = metric.value(judged([(user, r, r) for user, r, _ in rows]))
    best = 1.0 if metric.higher_is_better else 0.0
    assert value == pytest.approx(best, abs=1e-12) or math.isnan(value)


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
