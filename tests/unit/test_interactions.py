import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.grouped import encode_sorted


def build(**changes):
    columns = {
        "user": np.array([0, 1]),
        "item": np.array([1, 0]),
        "value": np.array([3.0, 4.0]),
        "timestamp": np.array([10, 20]),
        "user_ids": np.array(["a", "b"]),
        "item_ids": np.array([7, 9]),
    }
    return Interactions(**(columns | changes))


def test_columns_have_their_dtypes_and_cannot_be_written():
    rows = build()
    assert (rows.user.dtype, rows.item.dtype) == (np.int32, np.int32)
    assert (rows.value.dtype, rows.timestamp.dtype) == (np.float32, np.int64)
    with pytest.raises(ValueError, match="read-only"):
        rows.value[0] = 1.0


def test_the_callers_array_stays_writable():
    value = np.array([3.0, 4.0], dtype=np.float32)
    build(value=value)
    value[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"item": np.array([1])}, r"'item' must have shape \(2,\)"),
        ({"timestamp": np.array([1])}, r"'timestamp' must have shape"),
        ({"user": np.array([0, 2])}, r"user codes must be in 0\.\.1"),
        ({"item": np.array([-1, 0])}, r"item codes must be in 0\.\.1"),
        ({"value": np.array([1.0, np.nan])}, r"finite, got nan in row 1"),
        ({"value": np.array([np.inf, 1.0])}, r"finite, got inf in row 0"),
    ],
)
def test_wrong_columns_are_refused(changes, message):
    with pytest.raises(SchemaError, match=message):
        build(**changes)


def test_ids_of_any_sortable_type_become_codes():
    rows = Interactions.from_ids(["bob", "ann", "bob"], ["x", "y", "y"], [1, 2, 3])
    assert rows.user_ids[rows.user].tolist() == ["bob", "ann", "bob"]
    assert rows.item_ids[rows.item].tolist() == ["x", "y", "y"]


@given(st.lists(st.integers(-3, 60)), st.sampled_from([1, 2**20]))
def test_codes_follow_sorted_ids(ids, stretch):
    ids = np.array(ids, dtype=np.int64) * stretch
    distinct, codes = encode_sorted(ids)
    assert (codes.dtype, distinct.dtype) == (np.int32, ids.dtype)
    assert distinct.tolist() == sorted(set(ids.tolist()))
    assert distinct[codes].tolist() == ids.tolist()
