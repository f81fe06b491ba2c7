"""Intervals, tests and corrections against scipy on the same arrays, and other libraries' values."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recgauge.comparison import Procedure, RunValues, UserValues, compare_values
from recgauge.comparison.resampling import (
    Rounded,
    bootstrap_interval,
    bootstrap_means,
    flipped_sums,
    normal_interval,
)
from recgauge.comparison.tests_of_pairs import (
    benjamini_hochberg,
    compact_letters,
    hochberg,
    holm,
    max_t,
    paired_t,
    sign_test,
    wilcoxon,
)
from recgauge.errors import ConfigError


def ndcg_like(rng, n, n_runs=2, correlation=0.6):
    """Values with many zeros and a long tail, alike between runs of the same user."""
    shared = rng.random((1, n))
    own = rng.random((n_runs, n))
    mixed = correlation * shared + (1 - correlation) * own
    return np.where(mixed > 0.55, ((mixed - 0.55) / 0.45) ** 2, 0.0)


def two_runs(a, b, **settings):
    users = np.arange(len(a))
    runs = {"a": RunValues(users, {"ndcg": np.asarray(a)}), "b": RunValues(users, {"ndcg": np.asarray(b)})}
    return compare_values([UserValues.of(runs)], Procedure(**settings)).results[0].pairs[0]


def test_t_wilcoxon_and_sign_test_are_scipys(rng):
    a, b = ndcg_like(rng, 200)
    assert paired_t(a - b) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-12)
    assert wilcoxon(a - b) == pytest.approx(stats.wilcoxon(a, b).pvalue, rel=1e-12)
    higher, lower = int((a > b).sum()), int((a < b).sum())
    assert sign_test(a - b) == pytest.approx(stats.binomtest(higher, higher + lower).pvalue, rel=1e-12)
    low, high = normal_interval(a - b, 0.9)
    theirs = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (low, high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


@pytest.mark.parametrize("n", [2, 13])
def test_permutation_of_few_users_is_exact_as_scipys(rng, n):
    a, b = rng.integers(0, 4, (2, n)) / 4
    pair = two_runs(a, b, tests=("permutation",), correction="none")
    theirs = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert pair.p["permutation"] == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_bootstrap_intervals_are_scipys_of_the_same_samples(rng, method):
    values = ndcg_like(rng, 150, n_runs=1)[0]
    means = bootstrap_means(Rounded.of(values[None, None]), 2000, seed=3)[:, 0, 0]
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        method={"bca": "BCa"}.get(method, method),
        confidence_level=0.99,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=means),  # of the same samples
    ).confidence_interval
    ours = bootstrap_interval(means, values, 0.99, method)
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_samples_have_the_means_and_variance_of_drawing_with_replacement(rng):
    values = ndcg_like(rng, 500, n_runs=1)[0]
    means = bootstrap_means(Rounded.of(values[None, None]), 10_000, seed=0)[:, 0, 0]
    stderr = values.std() / np.sqrt(len(values))
    assert means.mean() == pytest.approx(values.mean(), abs=4 * stderr / 100)
    assert means.std() == pytest.approx(stderr, rel=0.03)
    sums, exact = flipped_sums(Rounded.of(values[None, None]), 10_000, seed=0)
    assert not exact
    assert sums.mean() == pytest.approx(0, abs=4 * np.sqrt((values**2).sum()) / 100)
    assert sums.std() == pytest.approx(np.sqrt((values**2).sum()), rel=0.03)


def test_sums_are_exact_so_that_blocks_and_order_cannot_move_them(rng, monkeypatch):
    values = rng.random((2, 3, 1000)) * [[[1.0]], [[1000.0]]]
    rounded = Rounded.of(values)
    assert rounded.sums() == pytest.approx(values.sum(axis=2), rel=1e-12)
    whole = bootstrap_means(rounded, 70, seed=1)
    flips = flipped_sums(rounded, 70, seed=1)[0]
    monkeypatch.setattr("recgauge.comparison.resampling._BLOCK_BYTES", 8 * 1000 * 7)
    monkeypatch.setattr("recgauge.utils.resources.usable_cpus", lambda: 5)
    assert np.array_equal(bootstrap_means(rounded, 70, seed=1), whole)
    assert np.array_equal(flipped_sums(rounded, 70, seed=1)[0], flips)
    assert np.array_equal(bootstrap_means(rounded, 30, seed=1), whole[:30])


def test_draws_are_these_on_every_machine():
    # taken once; whoever moves them moves every interval that was ever printed
    means = bootstrap_means(Rounded.of(np.arange(5.0)[None, None]), 4, seed=0)[:, 0, 0]
    sums, _ = flipped_sums(Rounded.of(2.0 ** np.arange(20.0)[None, None]), 100, seed=0)
    assert means.tolist() == [1.4, 1.4, 1.4, 2.4]
    assert sums[:2, 0, 0].tolist() == [-89651.0, 717309.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_keep_the_order_and_never_lower_a_p(p):
    order = np.argsort(p, kind="stable")
    for corrected in (holm(p), hochberg(p), benjamini_hochberg(p)):
        assert (corrected >= np.array(p) - 1e-12).all()
        assert (corrected <= 1).all()
        assert (np.diff(corrected[order]) >= -1e-12).all()
    assert (holm(p) >= benjamini_hochberg(p) - 1e-12).all()
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p), abs=1e-12)


def test_max_t_by_hand_and_for_equal_tests(rng):
    null = np.abs(rng.standard_normal((2000, 4)))
    observed = np.array([2.5, 0.3, 1.9, 1.0])
    corrected = max_t(observed, null)[0]
    largest_first = [0, 2, 3, 1]
    by_hand, floor = {}, 0.0
    for place, which in enumerate(largest_first):
        rest = null[:, largest_first[place:]].max(axis=1)
        floor = max(floor, ((rest >= observed[which]).sum() + 1) / 2001)
        by_hand[which] = floor
    assert corrected.tolist() == [by_hand[i] for i in range(4)]
    # four copies of one test are one test
    copies = np.repeat(null[:, :1], 4, axis=1)
    assert max_t(np.full(4, 1.9), copies)[0][0] == max_t(np.array([1.9]), null[:, :1])[0][0]


PAIRS_OF = {n: list(combinations(range(n), 2)) for n in range(2, 8)}


@given(st.sampled_from(list(PAIRS_OF)), st.data())
def test_runs_share_a_letter_exactly_if_they_are_not_shown_to_differ(n, data):
    different = data.draw(st.sets(st.sampled_from(PAIRS_OF[n])))
    marks = compact_letters(n, different)
    for i in range(n):
        assert marks[i]
        for j in range(i + 1, n):
            assert bool(set(marks[i]) & set(marks[j])) == ((i, j) not in different)


def test_detectable_difference_has_the_promised_power(rng):
    spread, n = 0.3, 200
    noise = rng.normal(0, spread, (500, n))
    noise = (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1, ddof=1, keepdims=True) * spread
    pair = two_runs(noise[0] + 0.05, np.zeros(n), correction="none", interval="normal")
    shifted = rng.normal(pair.detectable, spread, (4000, n))
    power = (stats.ttest_1samp(shifted, 0, axis=1).pvalue <= 0.05).mean()
    assert power == pytest.approx(0.8, abs=0.03)
    assert pair.users_needed == pytest.approx(n * (pair.detectable / 0.05) ** 2, abs=1)


def test_effect_size_and_shares():
    pair = two_runs([0.5, 0.1, 0.1 + 0.2, 1.0], [0.0, 0.2, 0.3, 1.0], interval="normal")
    d = np.array([0.5, -0.1, 0.0, 0.0])
    assert pair.effect_size == pytest.approx(d.mean() / d.std(ddof=1))
    assert (pair.better, pair.equal, pair.worse) == (0.25, 0.5, 0.25)
    assert pair.relative == pytest.approx(d.mean() / 0.375)


def test_more_pairs_than_memory_holds_are_refused_and_a_baseline_helps(rng):
    names = tuple(f"run{i}" for i in range(120))
    table = UserValues(np.arange(8), names, ("x",), rng.random((1, 120, 8)), (True,))
    with pytest.raises(ConfigError, match=r"120 runs make 7,140 pairs.*Name a baseline"):
        compare_values([table])
    found = compare_values([table], Procedure(baseline="run7", n_resamples=100))
    assert len(found.results[0].pairs) == 119
