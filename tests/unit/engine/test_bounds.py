"""What makes the search safe: rough scores lie within their bound, and norms bound scores."""

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recgauge.engine._factors import Queries, encode_users, error_bound, prepare


@numba.njit
def encode(user, codes, panels, queries):
    """Call the compiled helper, which Python cannot call by itself."""
    encode_users(user, codes, panels, queries)


def prepared(user, item, use_bytes):
    panels = prepare(user, item, np.arange(len(item), dtype=np.int32), use_bytes)
    rows = np.empty((len(user), panels.basis.shape[1]), np.int8 if use_bytes else np.float32)
    queries = Queries(rows, *np.empty((5, len(user))))
    encode(user, np.arange(len(user), dtype=np.int32), panels, queries)
    return panels, queries


def rough_scores(panels, queries):
    """Scores as the search sees them, (n_users, n_items), items in the panels' order."""
    width = panels.basis.shape[1]
    group = 4 if panels.bias else 1
    tiles = panels.tiles.reshape(len(panels.tiles), width // group, 64, group)
    items = tiles.transpose(0, 2, 1, 3).reshape(-1, width)[panels.code >= 0]
    products = queries.rows.astype(np.float64) @ items.astype(np.float64).T - queries.offset[:, None]
    return products * queries.scale[:, None] * panels.scale[panel_of(panels)]


def panel_of(panels):
    return np.arange((panels.code >= 0).sum()) // 256


def bounds(panels, queries):
    users = range(len(queries.norm))
    at = panel_of(panels)
    return np.array([error_bound.py_func(user, at, queries, panels) for user in users])


@st.composite
def factors(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, n_items = draw(st.sampled_from((1, 2, 3, 8, 19))), draw(st.sampled_from((1, 40, 300)))
    spread = 10.0 ** rng.uniform(-3, 3, (n_items, 1)) if draw(st.booleans()) else 1.0
    user = rng.standard_normal((6, d)).astype(np.float32)
    return user, (rng.standard_normal((n_items, d)) * spread).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(factors(), st.booleans())
def test_rough_scores_and_norms_bound_true_scores(problem, use_bytes):
    user, item = problem
    panels, queries = prepared(user, item, use_bytes)
    true = user.astype(np.float64) @ item[panels.code[panels.code >= 0]].astype(np.float64).T
    assert (np.abs(rough_scores(panels, queries) - true) <= bounds(panels, queries)).all()
    longest = queries.norm[:, None] * panels.norm[panel_of(panels)] * (1.0 + panels.slack)
    assert (np.abs(true) <= longest).all()
