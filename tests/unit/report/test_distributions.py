"""How rows fall on users, items and ratings, against numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import ConfigError, SchemaError
from recgauge.report.distributions import (
    long_tail,
    quantiles,
    rating_distribution,
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


def test_long_tail_orders_equal_counts_by_code() -> None:
    table = long_tail(np.array([2, 5, 2, 0]))
    assert table.items.tolist() == [1, 0, 2]
    assert table.in_head.tolist() == [False, False, False]
    assert not table.items.flags.writeable


def test_long_tail_refuses_what_it_cannot_split() -> None:
    with pytest.raises(ConfigError, match="long_tail: head must be a finite number > 0 and <= 1, got 0"):
        long_tail(np.array([1]), 0)
    with pytest.raises(ConfigError, match="head, tail"):
        long_tail(np.array([1]), 0.5, "both")
    with pytest.raises(SchemaError, match="got none"):
        long_tail(np.zeros(3, np.int64))


@given(values=st.lists(st.sampled_from([0.5, 1.0, 3.5, 5.0]), min_size=1))
def test_rating_distribution_counts_every_rating_once(values: list[float]) -> None:
    table = rating_distribution(np.array(values, np.float32))
    assert dict(zip(table.values.tolist(), table.counts.tolist(), strict=True)) == {
        value: values.count(value) for value in sorted(set(values))
    }
    assert table.shares.sum() == pytest.approx(1)


some_counts = st.lists(st.integers(0, 400), min_size=1, max_size=200).filter(any).map(np.array)


def test_quantiles_leave_out_those_without_rows():
    found = quantiles(np.array([0, 10, 20, 30, 40, 50, 0]))
    assert (found.lowest, found.highest) == (10, 50)
    assert (found.lower_quartile, found.median, found.mean, found.upper_quartile) == (20, 30, 30, 40)
    assert found.highest_tenth == pytest.approx(46)
    assert found.highest_hundredth == pytest.approx(49.6)


@given(some_counts)
def test_the_curve_says_what_counting_says(counts):
    curve = share_with_at_least(counts)
    known = counts[counts > 0]
    assert curve[0] == (known.min(), 1.0)
    assert curve[-1][0] == known.max()
    assert len(curve) <= 40
    for n_rows, share in curve:
        assert share == pytest.approx((known >= n_rows).mean())


@given(some_counts, st.randoms(use_true_random=False))
def test_groups_hold_every_row(train, random):
    test = np.array([random.randint(0, 3) for _ in train])
    test[0] += 1
    before, after = shares_by_popularity(train, test)
    assert len(before) == len(after) == 10
    assert before.sum() == pytest.approx(1)
    assert after.sum() == pytest.approx(1)


def test_popular_items_are_in_the_first_group_and_unknown_ones_in_the_last():
    train = np.array([1] * 10 + [10, 0])
    before, after = shares_by_popularity(train, np.array([0] * 10 + [1, 3]), n_groups=2)
    assert before.tolist() == [0.5, 0.5]
    assert after.tolist() == [0.25, 0.75]
