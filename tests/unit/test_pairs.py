"""Orders and repeats of (user, item) pairs: as numpy's general functions give them, only sooner."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data.interactions import Interactions
from recgauge.data.pairs import held_out_repeat, order_of_pairs, pair_codes
from recgauge.models import Random
from recgauge.utils.randomness import pair_bits

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=25)


def part(pairs):
    user, item = (np.array([pair[at] for pair in pairs], np.int32) for at in (0, 1))
    return Interactions(user, item, np.ones(len(pairs)), None, np.arange(6), np.arange(6))


@given(PAIRS)
def test_the_order_is_that_of_lexsort(pairs):
    rows = part(pairs)
    np.testing.assert_array_equal(order_of_pairs(rows.user, rows.item), np.lexsort((rows.item, rows.user)))


def test_codes_of_too_many_bits_are_ordered_all_the_same():
    user = np.array([2**31 - 1, 0, 2**31 - 1, 5], np.int32)
    item = np.array([2**31 - 1, 1, 2**31 - 2, 0], np.int32)
    assert order_of_pairs(user, item).tolist() == [1, 3, 2, 0]


@given(PAIRS, PAIRS, PAIRS)
def test_repeats_are_found_wherever_a_held_out_row_has_one(train, validation, test):
    known, *held_out = map(part, (train, validation, test))
    codes = [pair_codes(rows).tolist() for rows in held_out]
    every = codes[0] + codes[1]
    repeats = len(set(every)) < len(every) or bool(set(every) & set(pair_codes(known).tolist()))
    assert held_out_repeat([known], held_out) == repeats


@pytest.mark.parametrize("dtype", [np.bool_, np.int64])
def test_rows_are_taken_by_mask_or_position(dtype):
    rows = part([(0, 1), (2, 3), (4, 5)])
    chosen = np.array([True, False, True]) if dtype is np.bool_ else np.array([0, 2])
    assert rows.take(chosen).user.tolist() == [0, 4]


def test_random_scores_are_the_top_bits_of_the_pairs_hash():
    train = part([(user, item) for user in range(6) for item in range(6)])
    users = np.array([5, 0, 3] * 20, np.int32)
    key = np.random.default_rng(1).integers(2**64, dtype=np.uint64)
    scores = Random().fit(train, rng=np.random.default_rng(1)).score(users)
    bits = pair_bits(key, users[:, None], np.arange(6)[None, :])
    np.testing.assert_array_equal(scores, (bits >> np.uint64(40)).astype(np.float32) / np.float32(2**24))
    assert scores.dtype == np.float32
