"""Sums, orders and judging in compiled code equal those of plain Python and numpy, to the last bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from hypothesis.extra import numpy as hnp

from recgauge.judging import _lookup
from recgauge.utils import grouped
from recgauge.utils.exact import Moments, exact_dot, exact_sum

ANY = hnp.arrays(np.float64, st.integers(0, 40), elements=st.floats(allow_nan=False, allow_infinity=False))


@given(ANY)
def test_sums_are_those_of_fractions(values) -> None:
    whole = sum(map(Fraction, values.tolist()), Fraction(0))
    assert Fraction(exact_sum(values), 1 << 1074) == whole
    squares = sum((Fraction(value) ** 2 for value in values.tolist()), Fraction(0))
    assert Fraction(exact_dot(values, values), 1 << 2148) == squares
    turned = values[::-1]
    products = [Fraction(a) * Fraction(b) for a, b in zip(values.tolist(), turned.tolist(), strict=True)]
    assert Fraction(exact_dot(values, turned), 1 << 2148) == sum(products, Fraction(0))


@given(
    ANY.filter(lambda values: len(values) > 1 and abs(values).max() < 1e100),
    st.randoms(use_true_random=False),
)
def test_moments_do_not_depend_on_partition_and_order(values, chance) -> None:
    order = list(range(len(values)))
    chance.shuffle(order)
    cut = chance.randrange(len(values))
    moved = values[order]
    merged = Moments.of(moved[cut:]) + Moments.of(moved[:cut])
    assert merged == Moments.of(values)
    assert merged.mean() == float(Fraction(sum(map(Fraction, values.tolist()))) / len(values))


def test_standard_errors_are_right_where_squares_cancel() -> None:
    assert Moments.of(np.full(1000, 0.1)).stderr() == 0.0
    spread = Moments.of(1e8 + np.arange(4.0)).stderr()
    assert spread == pytest.approx(np.arange(4.0).std(ddof=1) / 2, rel=1e-15)


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        exact_sum(np.array([1.0, np.inf]))


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
