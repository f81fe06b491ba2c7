"""Corrections of sampled ranks, against all samples that can be drawn."""

from itertools import combinations

import numpy as np
import pytest

from recgauge.experiments.sampled_metrics.corrections import (
    CORRECTIONS,
    GAMMAS,
    METRICS,
    corrections,
    draw,
    sampled_rank_chances,
)

SIZES = [(7, 5), (9, 4)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_chances_of_sampled_ranks_are_those_of_all_samples(n, m):
    """The item of rank r is ranked anew among each set of m others."""
    for rank in range(1, n + 1):
        others = [other for other in range(1, n + 1) if other != rank]
        ranks = [1 + sum(other < rank for other in some) for some in combinations(others, m)]
        counted = np.bincount(ranks, minlength=m + 2)[1:] / len(ranks)
        np.testing.assert_allclose(sampled_rank_chances(n, m)[rank - 1], counted, atol=1e-12)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_the_estimate_of_the_rank_is_unbiased(n, m):
    estimates = 1 + (n - 1) * np.arange(m + 1) / m
    np.testing.assert_allclose(sampled_rank_chances(n, m) @ estimates, np.arange(1, n + 1))


@pytest.mark.parametrize("metric", METRICS)
def test_with_all_negatives_every_correction_but_the_variance_s_is_the_metric_itself(metric):
    exact = METRICS[metric](np.arange(1.0, 21.0))
    found = corrections(20, 19)
    for name in set(CORRECTIONS) - set(GAMMAS):
        np.testing.assert_allclose(found[metric, name], exact, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_no_other_values_have_less_of_what_a_correction_minimises(metric):
    n, m = 40, 8
    chances, exact = sampled_rank_chances(n, m), METRICS[metric](np.arange(1.0, n + 1))

    def cost(values, gamma):
        expected = chances @ values
        return ((expected - exact) ** 2 + gamma * (chances @ values**2 - expected**2)).sum()

    found = corrections(n, m)
    rng = np.random.default_rng(0)
    for gamma, name in [(0.0, "CLS"), *((gamma, name) for name, gamma in GAMMAS.items())]:
        best = found[metric, name]
        for _ in range(100):
            other = best + rng.normal(size=m + 1) * 10 ** rng.uniform(-4, 0)
            if name == "CLS":
                other = np.sort(np.maximum(other, 0))[::-1]
            assert cost(best, gamma) <= cost(other, gamma) + 1e-12
    assert (np.diff(found[metric, "CLS"]) <= 1e-12).all()


def test_drawn_ranks_have_the_chances_of_sampled_ranks():
    ranks = np.array([1, 4, 12])
    drawn = draw(ranks, np.array([11, 11, 11]), 5, np.random.default_rng(0), 20_000)
    for column, rank in enumerate(ranks):
        shares = np.bincount(drawn[:, column], minlength=7)[1:] / len(drawn)
        np.testing.assert_allclose(shares, sampled_rank_chances(12, 5)[rank - 1], atol=0.02)
