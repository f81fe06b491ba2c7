"""Lists from candidates that each user was given equal a full sort of them, with the scores of `top_k`."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from full_sort import factor_scores, full_sort
from recgauge.engine import ItemWeights, rank_candidates, top_k
from recgauge.models import Factors


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
