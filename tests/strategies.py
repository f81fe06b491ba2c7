"""Hypothesis strategies; all chance goes through draw()."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recgauge.data.interactions import Interactions


@st.composite
def interactions(draw, max_users=8, max_items=10, min_rows=1, days=None):
    """Distinct (user, item) pairs with half-star values, in any order; timed inside `days`, if given."""
    n_users = draw(st.integers(1, max_users))
    n_items = draw(st.integers(1, max_items))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, n_users - 1), st.integers(0, n_items - 1)),
            min_size=min(min_rows, n_users * n_items),
            max_size=n_users * n_items,
            unique=True,
        )
    )
    halves = draw(hnp.arrays(np.int64, len(pairs), elements=st.integers(1, 10)))
    user, item = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    times = None
    if days is not None:  # few distinct moments, so that many rows share one
        times = 43_200 * draw(hnp.arrays(np.int64, len(pairs), elements=st.integers(0, 2 * days)))
    return Interactions(user, item, halves / 2, times, np.arange(n_users), np.arange(n_items))


@st.composite
def logs(draw, max_users=6, max_items=6, max_rows=30):
    """Rows that may repeat pairs and times, in any order."""
    n_rows = draw(st.integers(1, max_rows))
    user = draw(hnp.arrays(np.int32, n_rows, elements=st.integers(0, max_users - 1)))
    item = draw(hnp.arrays(np.int32, n_rows, elements=st.integers(0, max_items - 1)))
    halves = draw(hnp.arrays(np.int64, n_rows, elements=st.integers(1, 10)))
    days = draw(hnp.arrays(np.int64, n_rows, elements=st.integers(0, 9)))
    times = 1_500_000_000 + 86_400 * days
    return Interactions.from_ids(user, item, halves / 2, times)
