"""Lists of factor models equal a full sort, whatever the factors, the blocks and the threads."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from full_sort import factor_scores, full_sort
from recgauge.engine import _factors, sources, top_k
from recgauge.engine._lists import HAS_BYTE_DOT
from recgauge.errors import ScoreError

KINDS = {
    "normal": lambda _rng, x: x,
    "ties": lambda rng, x: rng.integers(-1, 2, x.shape).astype(float),
    "zeros": lambda rng, x: np.where(rng.random((len(x), 1)) < 0.7, 0.0, x),
    "negative": lambda _rng, x: -np.abs(x),
    "skewed": lambda rng, x: x * 10.0 ** rng.uniform(-6, 6, (len(x), 1)),
    "tiny": lambda rng, x: x * 1e-30 * 10.0 ** rng.uniform(-15, 0, (len(x), 1)),
    "huge": lambda _rng, x: x * 1e17 / np.sqrt(x.shape[1]),
    "large_against_small": lambda rng, x: (
        x * 10.0 ** rng.uniform(-25, 18.0, (len(x), 1)) / np.sqrt(x.shape[1])
    ),
    "duplicates": lambda rng, x: x[rng.integers(0, max(1, len(x) // 10), len(x))],
    "unit": lambda _rng, x: x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-9),
    "one_direction": lambda rng, x: np.outer(rng.integers(1, 4, len(x)), x[0]),
    "sparse": lambda rng, x: x * (rng.random(x.shape) < 0.1),
}


def matrix(rng, n, d, kind):
    return KINDS[kind](rng, rng.standard_normal((n, d))).astype(np.float32)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_users, n_items = draw(st.integers(1, 24)), draw(st.sampled_from((1, 2, 63, 64, 65, 200, 256, 257, 520)))
    d = draw(st.sampled_from((1, 2, 3, 4, 7, 8, 16, 19)))
    user = matrix(rng, n_users, d, draw(st.sampled_from(sorted(KINDS))))
    item = matrix(rng, n_items, d, draw(st.sampled_from(sorted(KINDS))))
    density = draw(st.sampled_from((0.0, 0.05, 0.6, 1.0)))
    seen = sparse.csr_array(rng.random((n_users, n_items)) < density, dtype=np.float32)
    allowed = None if draw(st.booleans()) else rng.random(n_items) < draw(st.sampled_from((0.0, 0.3, 0.9)))
    users = rng.permutation(n_users)[: draw(st.integers(0, n_users))].astype(np.int32)
    return user, item, users, draw(st.sampled_from((1, 2, 10, 70, 300, 600))), seen, allowed


def model(user, item):
    return SimpleNamespace(user=user, item=item)


@settings(max_examples=100, deadline=None)
@given(problems(), st.booleans())
def test_lists_equal_a_full_sort(problem, use_bytes):
    user, item, users, k, seen, allowed = problem
    maker = _factors.FactorLists(model(user, item), seen, allowed, None, "model", use_bytes and HAS_BYTE_DOT)
    items, scores = sources.make_lists(maker, users, k, 1 << 20, 1, None)
    expected_items, expected_scores = full_sort(factor_scores(user, item), users, k, seen, allowed)
    assert_array_equal(items, expected_items)
    assert_array_equal(scores, expected_scores)


@settings(max_examples=25, deadline=None)
@given(problems(), st.sampled_from((1, 3, 64)), st.integers(1, 3))
def test_neither_threads_nor_memory_nor_order_change_a_list(problem, memory_mib, n_threads):
    user, item, users, k, seen, allowed = problem
    items, scores = top_k(model(user, item), users, k, seen=seen, items=allowed, n_threads=1)
    turned = users[::-1]
    again, scores_again = top_k(
        model(user, item), turned, k, seen=seen, items=allowed, memory_mib=memory_mib, n_threads=n_threads
    )
    assert_array_equal(again[::-1], items)
    assert_array_equal(scores_again[::-1], scores)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize("side", ["user", "item"])
def test_factors_that_are_not_finite_are_refused(rng, bad, side):
    factors = {"user": matrix(rng, 5, 3, "normal"), "item": matrix(rng, 70, 3, "normal")}
    factors[side][-1, 1] = bad
    with pytest.raises(ScoreError, match=f"{side} factors must be finite"):
        top_k(SimpleNamespace(**factors), np.arange(5, dtype=np.int32), 2)
