"""Comparison in parts says what comparison in memory says, whatever the parts."""

import numpy as np
import pandas as pd
import pytest

from recgauge.comparison import UserValues, compare, read_run
from recgauge.comparison.comparing import compare_parts
from recgauge.comparison.results import Procedure
from recgauge.errors import ConfigError

N = 900


@pytest.fixture(scope="module")
def values():
    """Values of three runs that are close to each other, some users in some runs only."""
    rng = np.random.default_rng(8)
    base = np.round(rng.random(N), 1)
    runs = {name: np.clip(base + np.round(rng.normal(shift, 0.2, N), 1), 0, 2) for name, shift in
            (("a", 0.0), ("b", 0.02), ("c", 0.1))}  # fmt: skip
    runs["b"][rng.random(N) < 0.05] = np.nan
    users = pd.Index([f"u{u}" for u in range(N)], name="user")
    return {name: pd.DataFrame({"ndcg": row, "loss": 1 - row}, users) for name, row in runs.items()}


def parts_of(values, n_parts, seed=0):
    order = np.random.default_rng(seed).permutation(N)
    return [
        UserValues.paired({name: read_run(frame.iloc[rows]) for name, frame in values.items()}, DIRECTIONS)
        for rows in np.array_split(order, n_parts)
    ]


DIRECTIONS = {"ndcg": True, "loss": False}


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
@pytest.mark.parametrize("baseline", [None, "a"])
def test_moments_give_what_all_values_give(values, correction, baseline) -> None:
    procedure = Procedure(baseline, correction, interval="normal", tests=("t", "sign"))
    parts = parts_of(values, 7)
    ours = compare_parts(parts, procedure)
    whole = compare(
        values,
        baseline=baseline,
        correction=correction,
        interval="normal",
        tests=("t", "sign"),
        lower_is_better=["loss"],
    )
    for one, other in zip(ours.results, whole.results, strict=True):
        assert (one.metric, one.n_users, one.n_left_out) == (other.metric, other.n_users, other.n_left_out)
        for row, expected in zip(one.rows, other.rows, strict=True):
            assert (row.run, row.letters, row.is_best) == (expected.run, expected.letters, expected.is_best)
            known = expected.mean, expected.low, expected.high
            assert (row.mean, row.low, row.high) == pytest.approx(known)
        for pair, expected in zip(one.pairs, other.pairs, strict=True):
            assert (pair.a, pair.b, pair.differs) == (expected.a, expected.b, expected.differs)
            assert pair.p == pytest.approx(expected.p, rel=1e-9)
            for name in ("difference", "low", "high", "stderr", "p_adjusted", "better", "equal", "worse",
                         "effect_size", "detectable", "relative"):  # fmt: skip
                assert getattr(pair, name) == pytest.approx(getattr(expected, name), rel=1e-9), name
    assert ours.notes == whole.notes


def test_what_is_no_sum_is_refused(values) -> None:
    parts = parts_of(values, 2)
    alone = parts_of({"a": values["a"]}, 2)
    with pytest.raises(ConfigError, match=r"correction: max_t .* choose one of holm"):
        compare_parts(parts, Procedure(interval="normal"))
    with pytest.raises(ConfigError, match="at least two runs"):
        compare_parts(alone)
