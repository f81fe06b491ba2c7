"""Users' values are compared part by part as in memory, however they are divided and stored."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


def stored(runs, folder, n_files, seed, *, long):
    """Write runs in files of random users; return the folder."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for name, frame in runs.items():
        places = rng.integers(n_files, size=len(frame))
        for file in range(n_files):
            rows = frame.iloc[rng.permutation(np.flatnonzero(places == file))]
            table = rows.rename_axis("user_id").reset_index()
            if long:
                table = table.melt("user_id", var_name="metric").assign(run=name)
            (folder / name).mkdir(exist_ok=True)
            schema = None if len(rows) else pa.Schema.from_pandas(frame.rename_axis("user_id").reset_index())
            if len(rows) or not long:
                parquet.write_table(
                    pa.Table.from_pandas(table, schema, preserve_index=False),
                    folder / name / f"{file}.parquet",
                )
    return str(folder)


PROCEDURES = [
    Procedure(baseline, correction, interval="normal", tests=("t", "sign"))
    for baseline in (None, "a")
    for correction in ("holm", "bh", "none")
]
BOOTSTRAP = Procedure(interval="percentile", correction="holm", tests=("bootstrap", "t"), n_resamples=2_000)


@settings(max_examples=24)
@given(
    st.integers(5, 60),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
    st.integers(1, 3),
    st.integers(1, 7),
    st.sampled_from(PROCEDURES),
)
def test_any_storage_gives_what_memory_gives(
    tmp_path_factory, n, seed, whole, long, n_files, n_parts, procedure
) -> None:
    runs, folder = values_of(n, seed, whole), tmp_path_factory.mktemp("x") / "values"
    values = StoredValues.of([stored(runs, folder, n_files, seed, long=long)])
    vars(values)["n_parts"] = n_parts
    ours = compare_parts(values, procedure)
    whole_values = compare(
        runs,
        baseline=procedure.baseline,
        correction=procedure.correction,
        interval="normal",
        tests=("t", "sign"),
    )
    assert values.runs == ("a", "b", "c")
    assert ours.notes == whole_values.notes
    for what in ("runs", "pairs"):
        pd.testing.assert_frame_equal(ours.to_frame(what), whole_values.to_frame(what), rtol=1e-9, atol=1e-12)
    at_once = [UserValues.of({name: read_run(frame) for name, frame in runs.items()})]
    assert ours.results == compare_parts(at_once, procedure).results
    resampled = replace(BOOTSTRAP, baseline=procedure.baseline, n_resamples=100)
    assert compare_parts(values, resampled).results == compare_parts(at_once, resampled).results


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


def test_what_is_no_parquet_is_told(tmp_path) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(RecgaugeError, match=r"cut.parquet cannot be read as Parquet: .* Mend it"):
        StoredValues.of([str(tmp_path / "cut.parquet")])
    with pytest.raises(RecgaugeError, match=r"SOURCE=.*nowhere"):
        StoredValues.of([str(tmp_path / "nowhere")])
