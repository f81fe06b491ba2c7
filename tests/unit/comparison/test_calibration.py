"""How often intervals and tests are wrong where the truth is known: `benchmarks/calibration.py` in small."""

import importlib

import numpy as np
import pytest

from conftest import REPOSITORY


@pytest.fixture
def calibration(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    return importlib.import_module("calibration")


def like_ndcg(rng, n_runs, n_users):
    """Values with many zeros and a long tail, alike between the runs of a user."""
    mixed = 0.6 * rng.random((1, n_users)) + 0.4 * rng.random((n_runs, n_users))
    return np.where(mixed > 0.55, ((mixed - 0.55) / 0.45) ** 2, 0.0)


def most(share, n):
    """The largest share of n samples that chance explains: two standard errors more."""
    return share + 2 * np.sqrt(share * (1 - share) / n)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(calibration, rng):
    values = like_ndcg(rng, 2, 20_000)
    assert (values[0] == 0).mean() > 0.5
    for population in (values[0], values[0] - values[1]):
        shares = calibration.coverage(population, 1000, 3000, rng)
        assert all(0.935 <= share <= 0.965 for share in shares.values()), shares


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["centred", "permuted"])
def test_equally_good_runs_are_seldom_told_apart(calibration, rng, kind):
    found = calibration.false_findings(like_ndcg(rng, 10, 5000), kind, 300, 150, rng)
    for test in ("t", "permutation", "bootstrap"):
        assert found[f"{test}, Holm"] <= most(0.05, 150), found
        assert 0.03 <= found[f"{test}, one pair"] <= 0.07, found
    assert found["max_t"] <= most(0.05, 150), found
