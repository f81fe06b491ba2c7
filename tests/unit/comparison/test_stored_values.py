"""Users' values are compared part by part as in memory, however they are divided and stored."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from recgauge.comparison import UserValues, compare, read_run
from recgauge.comparison.comparing import compare_parts
from recgauge.comparison.results import Procedure
from recgauge.comparison.stored_values import StoredValues
from recgauge.errors import ConfigError, RecgaugeError


def values_of(n, seed, whole):
    rng = np.random.default_rng(seed)
    users = rng.permutation(n) if whole else np.array([f"u{user}" for user in range(n)], object)
    runs = {}
    for name in ("a", "b", "c"):
        frame = pd.DataFrame({"ndcg_at_10": rng.integers(0, 9, n) / 8, "rmse": rng.random(n)}, users)
        frame.loc[rng.random(n) < 0.1, "ndcg_at_10"] = np.nan
        runs[name] = frame
    return runs


BOOTSTRAP = Procedure(interval="percentile", correction="holm", tests=("bootstrap", "t"), n_resamples=2_000)


def test_poisson_bootstrap_says_what_resampled_users_say() -> None:
    runs = {name: read_run(frame) for name, frame in values_of(900, 0, whole=True).items()}
    ours, whole = compare_parts([UserValues.of(runs)], BOOTSTRAP), compare(runs, **asdict(BOOTSTRAP))
    for pair, other in zip(ours.result("rmse").pairs, whole.result("rmse").pairs, strict=True):
        assert (pair.low, pair.high) == pytest.approx((other.low, other.high), abs=0.25 * pair.stderr)
        assert pair.p == pytest.approx(other.p, abs=0.03)


def test_what_is_no_sum_is_refused(tmp_path) -> None:
    values = StoredValues.of(
        [write(tmp_path / f"{name}.parquet", {"user": [1, 2], "ndcg": [0.5, 0.25]}) for name in "ab"]
    )
    with pytest.raises(ConfigError, match=r"correction: max_t .* choose one of holm"):
        compare_parts(values, Procedure(interval="normal"))
    with pytest.raises(ConfigError, match="at least two runs"):
        compare_parts(
            [
                UserValues.paired(
                    {"a": read_run(values_of(9, 0, whole=True)["a"])}, {"ndcg_at_10": True, "rmse": False}
                )
            ]
        )


def write(path, columns):
    parquet.write_table(pa.table(columns), path)
    return str(path)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"who": [1], "ndcg": [0.5]}, "no column is known as the user. The columns are: who, ndcg"),
        ({"user": [1], "ndcg": ["good"]}, "not numbers: ndcg"),
        ({"user": [1]}, "there is no metric"),
        ({"user": [1, 1], "ndcg": [0.5, 0.1]}, "user 1 has several rows"),
        ({"user": [1, None], "ndcg": [0.5, 0.1]}, "a row has no user"),
        ({"user": [1, 2], "map": [0.5, 0.1]}, "no metric in common"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(tmp_path, columns, words) -> None:
    good = write(tmp_path / "good.parquet", {"user": [1, 2], "ndcg": [0.5, 0.25]})
    bad = write(tmp_path / "bad.parquet", columns)
    with pytest.raises(RecgaugeError, match=words) as error:
        compare_parts(StoredValues.of([good, bad]))
    assert "\n" not in str(error.value)
