"""Judging's loops give the same whether numpy or their compiled code runs them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from recgauge.judging import _lookup
from recgauge.utils import grouped

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
