"""Lists from blocks of scores, item weights and users' own candidates equal a full sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from full_sort import factor_scores, full_sort
from recgauge.engine import ItemWeights, rank_candidates, top_k
from recgauge.errors import ScoreError
from recgauge.models import Factors


def item_sums(rows, weights):
    """Sums over a user's items in float32, in the order of the row."""
    scores = np.zeros(rows.shape, np.float32)
    for user in range(rows.shape[0]):
        for p in range(rows.indptr[user], rows.indptr[user + 1]):
            scores[user] = scores[user] + rows.data[p] * weights[rows.indices[p]]
    return scores


@st.composite
def score_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_users, n_items = draw(st.integers(1, 20)), draw(st.sampled_from((1, 5, 63, 64, 65, 130, 256, 300, 600)))
    levels = draw(st.sampled_from((1, 2, 5, 1000)))
    scores = (rng.integers(0, levels, (n_users, n_items)) - levels // 2).astype(np.float32)
    scores *= np.float32(10.0 ** draw(st.integers(-40, 30)))
    seen = sparse.csr_array(
        rng.random((n_users, n_items)) < draw(st.sampled_from((0.0, 0.3, 1.0))), dtype=np.float32
    )
    allowed = None if draw(st.booleans()) else rng.random(n_items) < draw(st.sampled_from((0.0, 0.5)))
    users = rng.permutation(n_users)[: draw(st.integers(1, n_users))].astype(np.int32)
    return scores, users, draw(st.sampled_from((1, 3, 10, 70, 650))), seen, allowed


@settings(max_examples=100, deadline=None)
@given(score_problems(), st.integers(1, 2))
def test_blocks_of_scores(problem, n_threads):
    scores, users, k, seen, allowed = problem
    items, best = top_k(lambda block: scores[block], users, k, seen=seen, items=allowed, n_threads=n_threads)
    expected, expected_best = full_sort(scores, users, k, seen, allowed)
    assert_array_equal(items, expected)
    assert_array_equal(best, expected_best)


@settings(max_examples=60, deadline=None)
@given(score_problems(), st.booleans(), st.sampled_from((0.02, 0.3, 1.0)))
def test_item_weights(problem, is_sparse, density):
    scores, users, k, seen, allowed = problem
    rng = np.random.default_rng(len(users) + scores.shape[1])
    rows = sparse.random_array(scores.shape, density=0.2, format="csr", dtype=np.float32, rng=rng)
    shape = (scores.shape[1],) * 2
    weights = (rng.standard_normal(shape) * (rng.random(shape) < density)).astype(np.float32)
    source = ItemWeights(rows, sparse.csc_array(weights) if is_sparse else weights)
    items, best = top_k(source, users, k, seen=seen, items=allowed)
    expected, expected_best = full_sort(item_sums(rows, weights), users, k, seen, allowed)
    assert_array_equal(items, expected)
    assert_array_equal(best, expected_best)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [0, 64, 129])
def test_scores_that_are_not_finite_are_refused(bad, where):
    scores = np.zeros((3, 130), np.float32)
    scores[1, where] = bad
    with pytest.raises(ScoreError, match="scores of user 1 are not finite"):
        top_k(lambda users: scores[users], np.arange(3), 2)


def test_nobody_asked_and_nothing_allowed():
    scores = np.zeros((3, 130), np.float32)
    items, best = top_k(lambda users: scores[users], np.empty(0, np.int32), 4)
    assert items.shape == best.shape == (0, 4)
    items, best = top_k(lambda users: scores[users], np.arange(3), 4, items=np.zeros(130, bool))
    assert (items == -1).all()
    assert np.isneginf(best).all()


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_users, n_items = draw(st.integers(1, 12)), draw(st.sampled_from((1, 3, 64, 90)))
    levels = draw(st.sampled_from((1, 2, 5, 1000)))
    scores = (rng.integers(0, levels, (n_users, n_items)) - levels // 2).astype(np.float32)
    rows = rng.random((n_users, n_items)) < draw(st.sampled_from((0.0, 0.2, 1.0)))
    users = rng.permutation(n_users)[: draw(st.integers(1, n_users))].astype(np.int32)
    return rng, scores, users, draw(st.sampled_from((1, 3, 10, 120))), rows


def expected(scores, users, k, rows):
    return full_sort(scores, users, k, sparse.csr_array(~rows))


def check(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        assert_array_equal(a, b)


@settings(max_examples=80)
@given(problems(), st.integers(1, 2), st.sampled_from((1, 64)))
def test_scores(problem, n_threads, memory_mib):
    _, scores, users, k, rows = problem
    candidates = sparse.csr_array(rows)
    found = rank_candidates(
        lambda block: scores[block], users, k, candidates, n_threads=n_threads, memory_mib=memory_mib
    )
    check(found, expected(scores, users, k, rows))


@settings(max_examples=60)
@given(problems(), st.sampled_from((1, 2, 9, 17)))
def test_factors(problem, width):
    rng, scores, users, k, rows = problem
    user, item = (rng.integers(-2, 3, (n, width)).astype(np.float32) * np.float32(0.37) for n in scores.shape)
    found = rank_candidates(Factors(user, item), users, k, sparse.csr_array(rows))
    check(found, expected(factor_scores(user, item), users, k, rows))


@settings(max_examples=60)
@given(problems(), st.booleans())
def test_item_weights_give_the_numbers_of_the_whole_catalogue(problem, is_sparse):
    rng, scores, users, k, rows = problem
    done = sparse.random_array(scores.shape, density=0.3, format="csr", dtype=np.float32, rng=rng)
    weights = rng.standard_normal((scores.shape[1],) * 2).astype(np.float32)
    source = ItemWeights(done, sparse.csr_array(weights) if is_sparse else weights)
    found = rank_candidates(source, users, k, sparse.csr_array(rows))
    check(found, top_k(source, users, k, seen=sparse.csr_array(~rows)))
