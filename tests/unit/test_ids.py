import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data.ids import encode_sorted


@given(st.lists(st.integers(-3, 60)), st.sampled_from([1, 2**20]))
def test_codes_follow_sorted_ids(ids, stretch):
    ids = np.array(ids, dtype=np.int64) * stretch
    distinct, codes = encode_sorted(ids)
    assert codes.dtype == np.int32
    assert distinct.tolist() == sorted(set(ids.tolist()))
    assert distinct[codes].tolist() == ids.tolist()
    assert distinct.dtype == ids.dtype


@pytest.mark.parametrize("ids", [["b", "a", "b"], [2**40, 1, 2**40]])
def test_any_sortable_ids(ids):
    distinct, codes = encode_sorted(np.array(ids))
    assert codes.tolist() == [1, 0, 1]
    assert distinct.tolist() == sorted(set(ids))
