"""How rows fall on users, items and ratings, against numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import ConfigError, SchemaError
from recgauge.report.distributions import (
    long_tail,
    share_with_at_least,
    shares_by_popularity,
)

counts_of_items = st.lists(st.integers(0, 20), min_size=1, max_size=12).filter(any)


@given(counts=counts_of_items, head=st.floats(0.05, 1))
def test_long_tail_splits_where_the_share_is_crossed(counts: list[int], head: float) -> None:
    array = np.array(counts)
    strict, wide = long_tail(array, head, "tail"), long_tail(array, head, "head")
    assert strict.counts.tolist() == sorted((count for count in counts if count), reverse=True)
    assert strict.cumulative_share[-1] == pytest.approx(1)
    assert strict.n_head + strict.n_tail == np.count_nonzero(array)
    assert (strict.cumulative_share[strict.in_head] <= head + 1e-9).all()
    assert wide.n_head - strict.n_head in (0, 1)
    assert wide.cumulative_share[wide.n_head - 1] >= head - 1e-9


def test_long_tail_refuses_what_it_cannot_split() -> None:
    with pytest.raises(ConfigError, match="long_tail: head must be a finite number > 0 and <= 1, got 0"):
        long_tail(np.array([1]), 0)
    with pytest.raises(ConfigError, match="head, tail"):
        long_tail(np.array([1]), 0.5, "both")
    with pytest.raises(SchemaError, match="got none"):
        long_tail(np.zeros(3, np.int64))


some_counts = st.lists(st.integers(0, 400), min_size=1, max_size=200).filter(any).map(np.array)


@given(some_counts)
def test_the_curve_says_what_counting_says(counts):
    curve = share_with_at_least(counts)
    known = counts[counts > 0]
    assert curve[0] == (known.min(), 1.0)
    assert curve[-1][0] == known.max()
    assert len(curve) <= 40
    for n_rows, share in curve:
        assert share == pytest.approx((known >= n_rows).mean())


def test_popular_items_are_in_the_first_group_and_unknown_ones_in_the_last():
    train = np.array([1] * 10 + [10, 0])
    before, after = shares_by_popularity(train, np.array([0] * 10 + [1, 3]), n_groups=2)
    assert before.tolist() == [0.5, 0.5]
    assert after.tolist() == [0.25, 0.75]
