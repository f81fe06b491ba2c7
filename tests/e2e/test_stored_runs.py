"""``recgauge runs``, ``show`` and ``verify`` on the runs of a sweep."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recgauge.runs.folder import CHECKSUMS, read_checksums, write_checksums
from recgauge.runs.stored import LISTS, TEST

pytestmark = pytest.mark.e2e


@pytest.fixture
def told(shared_workplace, command):
    return lambda *words: command(*words, "--uri", shared_workplace.uri)


@pytest.fixture(scope="module")
def run(shared_workplace):
    """A finished run and the folder of its files."""
    words = ("model=svd", "model.n_factors=4", "metrics=[ranking]", "cutoffs=[10]", "sanity=true")
    shared_workplace.succeed(*words)
    (found,) = shared_workplace.runs()
    return found, Path(found.info.artifact_uri.removeprefix("file://"))


def changed(path, column, row, value):
    table = pq.read_table(path).to_pandas()
    table.loc[row, column] = value
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)


def test_a_stored_run_is_listed_shown_and_verified(run, told):
    stored, run_id = run[0], run[0].info.run_id
    value = f"{stored.data.metrics['ndcg_at_10']:.4f}"
    code, out, _ = told("runs")
    assert code == 0
    assert out.splitlines()[1].split()[2] == run_id
    assert value in out
    assert "no run matches" in told("runs", "--where", "attributes.status = 'FAILED'")[1]
    assert run_id in told("runs", "--where", 'metrics."ndcg@10" > 0')[1]
    code, _, err = told("runs", "--where", "metrics.ndgc@10 > 0")
    assert code == 1
    assert "Did you mean ndcg_at_10?" in err
    code, _, err = told("runs", "--metrics", "nonsense")
    assert code == 1
    assert "There are ndcg@10" in err

    code, out, _ = told("show", run_id)
    assert code == 0
    assert value in out
    assert "command  recgauge run model=svd" in out

    code, out, _ = told("verify", run_id)
    assert code == 0
    assert "identical: 7 of 7 numbers" in out


def test_what_is_not_as_it_was_is_named_with_the_largest_difference(run, told, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run[1], folder)
    changed(folder / TEST, "item_id", 3, 1)
    changed(folder / LISTS, "item_id", 3, 1)
    record = json.loads((folder / "record.json").read_text())
    record["results"][0]["value"] += 1e-6
    record["split"]["test"]["sha256"] = "0" * 64
    record["environment"]["packages"]["numpy"] = "1.0"
    (folder / "record.json").write_text(json.dumps(record))
    code, out, _ = told("verify", folder)
    assert code == 1
    for text in (
        "test.parquet: stored sha256",
        "the file was changed after the run",
        "differs  test rows: stored sha256 000000000000",
        f"differs  {record['results'][0]['key']}:",
        "(difference 1e-06)",
        "differs  recommendations.parquet (1 of",
        "made by  numpy: stored 1.0; now ",
    ):
        assert text in out


def test_a_difference_within_the_tolerance_is_told_and_allowed(run, told, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run[1], folder)
    table = pq.read_table(folder / "per_user.parquet").to_pandas()
    changed(folder / "per_user.parquet", "ndcg_at_10", 0, table.loc[0, "ndcg_at_10"] + 1e-9)
    names = read_checksums(folder / CHECKSUMS)
    for damaged in (b"", b"\xff"):
        (folder / CHECKSUMS).write_bytes(damaged)
        assert "SHA256SUMS: stored damaged" in told("verify", folder, "--tolerance", "1e-8")[1]
    write_checksums([folder / name for name in names], folder)
    assert told("verify", folder)[0] == 1
    code, out, _ = told("verify", folder, "--tolerance", "1e-8")
    assert code == 0
    assert "equal within 1e-08" in out


def test_what_is_no_run_is_told(told, tmp_path):
    assert "no record.json" in told("verify", tmp_path)[2]
    for content in (b"{}", b"\xff", b"[" * 100_000):
        (tmp_path / "record.json").write_bytes(content)
        code, _, err = told("show", tmp_path)
        assert code == 1
        assert f"{tmp_path / 'record.json'}: " in err
        assert err.count("\n") == 1
    with (tmp_path / "record.json").open("wb") as file:
        file.truncate(1 << 40)
    assert "larger than 67,108,864 bytes" in told("show", tmp_path)[2]
    assert "--tolerance" in told("verify", tmp_path, "--tolerance", "nan")[2]
