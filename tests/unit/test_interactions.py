"""Rows of users and items: their columns, and orders and repeats as numpy's general functions give them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data import interactions
from recgauge.data.interactions import Interactions, apart, pair_codes, sorted_pairs, stored
from recgauge.errors import SchemaError


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


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=25)


def part(pairs):
    user, item = (np.array([pair[at] for pair in pairs], np.int32) for at in (0, 1))
    return Interactions(user, item, np.ones(len(pairs)), None, np.arange(6), np.arange(6))


@given(PAIRS)
def test_the_order_is_that_of_lexsort(pairs):
    rows = part(pairs)
    np.testing.assert_array_equal(sorted_pairs(rows.user, rows.item)[0], np.lexsort((rows.item, rows.user)))


def test_codes_of_too_many_bits_are_ordered_all_the_same():
    user = np.array([2**31 - 1, 0, 2**31 - 1, 5], np.int32)
    item = np.array([2**31 - 1, 1, 2**31 - 2, 0], np.int32)
    assert sorted_pairs(user, item)[0].tolist() == [1, 3, 2, 0]


@given(PAIRS, PAIRS, PAIRS)
def test_repeats_are_found_wherever_a_held_out_row_has_one(train, validation, test):
    known, *held_out = map(part, (train, validation, test))
    codes = [pair_codes(rows).tolist() for rows in held_out]
    every = codes[0] + codes[1]
    repeats = len(set(every)) < len(every) or bool(set(every) & set(pair_codes(known).tolist()))
    assert apart(known.to_csr(), held_out) == (not repeats)


@given(PAIRS, PAIRS)
def test_pairs_are_looked_up(known, asked):
    rows, matrix = part(asked), part(known).to_csr()
    matrix.data[:] = 0  # whose entries are entries all the same
    found = stored(matrix, rows.user, rows.item)
    assert found.tolist() == [pair in set(known) for pair in zip(rows.user, rows.item, strict=True)]


@given(PAIRS, st.booleans(), st.integers(1, 4))
def test_pieces_of_any_length_give_what_numpy_gives_at_once(chosen, in_order, piece):
    rows = part(sorted(chosen) if in_order else chosen)
    mask = rows.item % 2 == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interactions, "PIECE", piece)
        taken, rises, counts, matrix = rows.take(mask), rows.pairs_rise(), rows.item_counts(), rows.to_csr()
        shared = rows.to_csr(copy=False)
    codes = pair_codes(rows)
    assert rises == bool((codes[1:] > codes[:-1]).all())
    np.testing.assert_array_equal(counts, np.bincount(rows.item, minlength=6))
    for name in ("user", "item", "value"):
        column = getattr(taken, name)
        np.testing.assert_array_equal(column, getattr(rows, name)[mask])
        assert column.dtype == getattr(rows, name).dtype
        assert not column.flags.writeable
    plain = np.zeros((6, 6), np.float32)
    np.add.at(plain, (rows.user, rows.item), rows.value)
    np.testing.assert_array_equal(matrix.toarray(), plain)
    np.testing.assert_array_equal(shared.toarray(), plain)
    assert matrix.has_canonical_format
    assert matrix.nnz == len(set(codes.tolist()))
    assert (matrix.data.dtype, matrix.indices.dtype, matrix.indptr.dtype) == (np.float32, np.int32, np.int32)
