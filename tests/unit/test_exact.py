"""Exact sums: equal to Python's own exact arithmetic, for every order and partition."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recgauge.utils.exact import Moments, exact_dot, exact_sum, from_limbs, to_float, to_limbs

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


@given(ANY)
def test_limbs_hold_any_sum_and_may_be_added(values) -> None:
    limbs = sum((to_limbs(exact_sum(values[i : i + 1])) for i in range(len(values))), to_limbs(0))
    assert from_limbs(limbs) == exact_sum(values)


def test_many_numbers_are_summed_as_by_fsum() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.random(50_000), rng.normal(size=20_000) * 10.0 ** rng.integers(-30, 30, 20_000)):
        assert to_float(exact_sum(values)) == math.fsum(values)


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
