"""Lists from blocks of scores and from item weights equal a full sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from full_sort import full_sort
from recgauge.engine import ItemWeights, top_k
from recgauge.errors import ModelError, ScoreError


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


def test_weights_must_fit():
    rows = sparse.csr_array(np.eye(3, dtype=np.float32))
    with pytest.raises(ModelError, match=r"must have shape \(3, n_items\)"):
        ItemWeights(rows, np.zeros((4, 3), np.float32))
    with pytest.raises(ScoreError, match="weights must be finite"):
        top_k(ItemWeights(rows, np.full((3, 3), np.nan, np.float32)), np.arange(3), 1)


def test_nobody_asked_and_nothing_allowed():
    scores = np.zeros((3, 130), np.float32)
    items, best = top_k(lambda users: scores[users], np.empty(0, np.int32), 4)
    assert items.shape == best.shape == (0, 4)
    items, best = top_k(lambda users: scores[users], np.arange(3), 4, items=np.zeros(130, bool))
    assert (items == -1).all()
    assert np.isneginf(best).all()
