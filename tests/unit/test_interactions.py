"""Rows of users and items: their columns, and orders and repeats as numpy's general functions give them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data import interactions
from recgauge.data.interactions import Interactions, apart, pair_codes


def test_ids_of_any_sortable_type_become_codes():
    rows = Interactions.from_ids(["bob", "ann", "bob"], ["x", "y", "y"], [1, 2, 3])
    assert rows.user_ids[rows.user].tolist() == ["bob", "ann", "bob"]
    assert rows.item_ids[rows.item].tolist() == ["x", "y", "y"]


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=25)


def part(pairs):
    user, item = (np.array([pair[at] for pair in pairs], np.int32) for at in (0, 1))
    return Interactions(user, item, np.ones(len(pairs)), None, np.arange(6), np.arange(6))


@given(PAIRS, PAIRS, PAIRS)
def test_repeats_are_found_wherever_a_held_out_row_has_one(train, validation, test):
    known, *held_out = map(part, (train, validation, test))
    codes = [pair_codes(rows).tolist() for rows in held_out]
    every = codes[0] + codes[1]
    repeats = len(set(every)) < len(every) or bool(set(every) & set(pair_codes(known).tolist()))
    assert apart(known.to_csr(), held_out) == (not repeats)


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
