"""Rows of users and items: their columns, and orders and repeats as numpy's general functions give them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recgauge.data import interactions
from recgauge.data.interactions import Interactions, apart, pair_codes, sorted_pairs, stored
from recgauge.data.lists import Relevant
from recgauge.errors import SchemaError
from recgauge.evaluation.ranking_task import _best_first
from recgauge.models import Random
from recgauge.splits.shares import RandomRows
from recgauge.utils.grouped import encode_sorted
from recgauge.utils.randomness import pair_bits


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


@given(PAIRS, st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=25, max_size=25), st.booleans())
def test_best_items_are_in_the_order_of_lexsort(chosen, gains, in_order):
    rows, gain = part(sorted(set(chosen)) if in_order else chosen), np.array(gains)
    gain = gain[: len(rows)]
    order = _best_first(rows.user, rows.item, gain)
    np.testing.assert_array_equal(order, np.lexsort((rows.item, -gain, rows.user)))


@given(PAIRS.filter(bool))
def test_relevant_rows_in_order_need_no_sort(chosen):
    one, other = (Relevant.from_interactions(part(rows), None) for rows in (chosen, sorted(set(chosen))))
    for name in ("users", "start", "items", "gains", "none_relevant"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype == getattr(other, name).dtype


@given(st.integers(2, 3000), st.integers(0, 2**32), st.floats(0.01, 0.6), st.sampled_from([0.0, 0.1, 0.35]))
@example(65_536, 0, 0.2, 0.1)
@example(65_537, 1, 0.2, 0.0)
@example(1_000_003, 2, 0.25, 0.1)
def test_random_rows_are_those_of_a_permutation_of_their_numbers(n_rows, seed, test_size, validation_size):
    zero = np.zeros(n_rows, np.int32)
    rows = Interactions(zero, zero, zero, None, np.arange(1), np.arange(1))
    drawn, expected = np.random.default_rng(seed), np.random.default_rng(seed)
    found = RandomRows(test_size, validation_size).assign(rows, rng=drawn)
    position = expected.permutation(n_rows)
    n_test, n_validation = np.rint(n_rows * test_size), np.rint(n_rows * validation_size)
    np.testing.assert_array_equal(found.test, position < n_test)
    held = (position >= n_test) & (position < n_test + n_validation)
    if validation_size:
        np.testing.assert_array_equal(found.validation, held)
    else:
        assert found.validation is None
    assert drawn.random() == expected.random()


def test_random_scores_are_the_top_bits_of_the_pairs_hash():
    train = part([(user, item) for user in range(6) for item in range(6)])
    users = np.array([5, 0, 3] * 20, np.int32)
    key = np.random.default_rng(1).integers(2**64, dtype=np.uint64)
    scores = Random().fit(train, rng=np.random.default_rng(1)).score(users)
    bits = pair_bits(key, users[:, None], np.arange(6)[None, :])
    np.testing.assert_array_equal(scores, (bits >> np.uint64(40)).astype(np.float32) / np.float32(2**24))
    assert scores.dtype == np.float32
