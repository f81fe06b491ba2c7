"""Judging's loops give the same whether numpy or their compiled code runs them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from recgauge.judging import _lookup
from recgauge.utils import grouped
from recgauge.utils.grouped import repeats, shared

CODES = 12


@st.composite
def tables(draw):
    """Draw groups of codes back to back, some of which repeat."""
    lengths = draw(arrays.arrays(np.int64, draw(st.integers(1, 9)), elements=st.integers(0, 6)))
    codes = draw(arrays.arrays(np.int32, int(lengths.sum()), elements=st.integers(0, CODES - 1)))
    return np.concatenate(([0], np.cumsum(lengths))), codes


@st.composite
def judgings(draw):
    start, relevant = draw(tables())
    gains = draw(arrays.arrays(np.float64, len(relevant), elements=st.sampled_from([0.1, 1, 2.5, 3])))
    items = draw(arrays.arrays(np.int32, (len(start) - 1, 5), elements=st.integers(0, CODES - 1)))
    lengths = draw(arrays.arrays(np.int64, len(items), elements=st.integers(0, 5)))
    items[np.arange(5) >= lengths[:, None]] = -1
    return items, start, relevant, gains


def every_loop(items, start, relevant, gains):
    best = _lookup.best_first(start, gains)
    length, weights = np.full(len(items), 3), 1 / np.log2(np.arange(CODES) + 2)
    return [
        *(
            part
            for every in (False, True)
            for part in _lookup.look_up(items, start, relevant, gains, every=every)
        ),
        np.array(str(_lookup.first_repeat(items))),
        np.array(str(_lookup.first_repeat_ragged(start, relevant))),
        best,
        _lookup.sum_best(start, best, length, weights),
    ]


@settings(max_examples=60)
@given(judgings())
def test_numpy_and_compiled_code_agree_to_the_last_bit(case):
    compiled = every_loop(*case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lookup, "_is_first", lambda _: True)
        patch.setattr(grouped, "BLOCK", 2)
        patch.setattr(_lookup, "TABLE", 2 * CODES)
        patch.setattr(_lookup, "BLOCK", 2 * 5)
        vectorised = every_loop(*case)
    for one, other in zip(compiled, vectorised, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@given(tables(), tables(), st.sampled_from([1, 2 * CODES, 1 << 22]))
def test_repeats_and_shared_are_those_of_sets(table, other, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped, "TABLE", cells)  # blocks of one group, of two, of all
        patch.setattr(grouped, "BLOCK", cells)
        check_repeats_and_shared(table, other)


def check_repeats_and_shared(table, other):
    start, codes = table
    n = min(len(start), len(other[0]))
    groups = [codes[a:b].tolist() for a, b in pairwise(start)]
    expected = [code in group[:at] for group in groups for at, code in enumerate(group)]
    found = repeats(start, codes, CODES)
    assert expected == ([False] * len(codes) if found is None else found.tolist())
    assert (found is None) == (not any(expected))
    start, (other_start, other_codes) = start[:n], (other[0][:n], other[1][: other[0][n - 1]])
    codes = codes[: start[-1]]
    both = zip(range(n - 1), groups, strict=False)
    expected = [
        code in other_codes[other_start[g] : other_start[g + 1]] for g, group in both for code in group
    ]
    assert shared(start, codes, other_start, other_codes, CODES).tolist() == expected
