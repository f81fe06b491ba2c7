import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.datasets._codes import encode


@given(st.lists(st.integers(-3, 60)), st.sampled_from([1, 2**20]))
def test_codes_follow_sorted_ids(ids, stretch):
    ids = np.array(ids, dtype=np.int64) * stretch
    codes, distinct = encode(ids)
    assert codes.dtype == np.int32
    assert distinct.tolist() == sorted(set(ids.tolist()))
    assert distinct[codes].tolist() == ids.tolist()


@pytest.mark.parametrize("ids", [["b", "a", "b"], [2**40, 1, 2**40]])
def test_any_sortable_ids(ids):
    codes, distinct = encode(np.array(ids))
    assert codes.tolist() == [1, 0, 1]
    assert distinct.tolist() == sorted(set(ids))
