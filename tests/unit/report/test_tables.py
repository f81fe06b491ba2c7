"""Tables for plots of popularity and ratings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import ConfigError, SchemaError
from recgauge.report.long_tail import long_tail
from recgauge.report.rating_distribution import rating_distribution

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


def test_rating_distribution_refuses_nothing_and_not_a_number() -> None:
    with pytest.raises(SchemaError, match="got none"):
        rating_distribution(np.array([]))
    with pytest.raises(SchemaError, match="got nan in row 1"):
        rating_distribution(np.array([1.0, np.nan]))
