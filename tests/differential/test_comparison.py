"""Corrections and ranks over data sets beside statsmodels and scikit-posthocs, on random values.

`make differential` installs the libraries; elsewhere the tests are skipped. tests/unit/comparison has some of
their values, and scipy's.
"""

import numpy as np
import pytest

from differential.libraries import library
from recgauge.comparison import compare_datasets
from recgauge.comparison.tests_of_pairs import benjamini_hochberg, hochberg, holm

pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("seed", range(20))
def test_corrections_are_statsmodels(seed):
    multitest = library("statsmodels.stats.multitest")
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(rng.integers(1, 50)) ** 3, 3)  # with equal ones
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1], abs=1e-12)
    assert hochberg(p) == pytest.approx(multitest.multipletests(p, method="simes-hochberg")[1], abs=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1], abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_post_hoc_tests_of_ranks_are_scikit_posthocs(seed):
    posthocs = library("scikit_posthocs")
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((rng.integers(4, 20), rng.integers(3, 8))), 1)  # with equal ones
    runs = [f"run{i}" for i in range(values.shape[1])]
    table = {run: dict(enumerate(values[:, i].tolist())) for i, run in enumerate(runs)}
    for post_hoc, theirs in (
        ("nemenyi", posthocs.posthoc_nemenyi_friedman(values)),
        ("holm", posthocs.posthoc_siegel_friedman(values, p_adjust="holm")),
    ):
        ours = compare_datasets(table, post_hoc=post_hoc)
        for (a, b), p in ours.p_adjusted.items():
            assert p == pytest.approx(theirs.iloc[runs.index(a), runs.index(b)], abs=1e-6), (post_hoc, a, b)
