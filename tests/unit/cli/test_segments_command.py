"""``recgauge segments`` and ``recgauge stability``: tables, files, and what they refuse, on finished runs."""

import json
import os
from dataclasses import replace

import pandas as pd
import pytest

from finished import finished
from recgauge.runs.finished import FinishedRun

SMALL = ("metrics=[ranking]", "cutoffs=[1,5]")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    finished(folder, "popularity", *SMALL)
    finished(folder, "svd", "model.n_factors=4", *SMALL)
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_groups_and_their_differences_are_printed_and_written(sweep, tmp_path, command):
    files = [tmp_path / f"found{suffix}" for suffix in (".md", ".csv", ".json")]
    code, out, err = command("segments", sweep, "--by", "activity,age,items", "--out", *files)
    assert (code, err) == (0, "")
    assert "By activity, in training rows: svd against popularity " in out
    table = pd.read_csv(files[1], dtype={"segment": str})
    everybody = table[(table["segment"] == "all") & (table["by"] == "activity")].set_index("run")
    for run in ("popularity", "svd"):
        stored = FinishedRun.read(sweep / f"{run}0").record.values()["ndcg_at_5"]
        assert everybody.loc[run, "mean"] == pytest.approx(stored, abs=1e-12)
    inside = table[(table["segment"] != "all") & (table["by"] == "activity") & (table["run"] == "svd")]
    assert inside["n_users"].sum() == everybody.loc["svd", "n_users"]
    weighted = (inside["mean"] * inside["n_users"]).sum() / inside["n_users"].sum()
    assert weighted == pytest.approx(everybody.loc["svd", "mean"])
    rows = json.loads(files[2].read_text(encoding="utf-8"))
    assert [row["mean"] for row in rows] == pytest.approx(table["mean"].tolist(), abs=1e-14)
    text = files[0].read_text(encoding="utf-8")
    assert "| items | users | test rows | run |" in text


def test_a_packed_table_is_read_and_a_hostile_one_is_refused_early(sweep, tmp_path, command):
    users = FinishedRun.read(sweep / "svd0").per_user().index.to_series()
    packed, wide, zeros, pipe = (tmp_path / name for name in ("t.csv.gz", "wide.csv", "zeros.csv", "pipe"))
    pd.DataFrame({"user_id": users, "plan": "free"}).to_csv(packed, index=False)
    wide.write_text("user_id" + ",x" * 20_000)
    zeros.write_bytes(b"\0" * (1 << 24) + b"\0")
    os.mkfifo(pipe)
    assert "free" in command("segments", sweep, "--by", "plan", "--users", packed)[1]
    for file, said in ((wide, "20,001 columns"), (zeros, "in one line"), (pipe, "not a regular file")):
        code, out, err = command("segments", sweep, "--by", "plan", "--users", file)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert said in err
        assert "cannot be read" not in err  # said once


def test_the_order_of_models_is_printed_and_written(sweep, tmp_path, command):
    files = [tmp_path / f"found{suffix}" for suffix in (".md", ".csv")]
    code, out, err = command("stability", sweep, "--out", *files)
    assert (code, err) == (0, "")
    assert "svd always" in out
    table = pd.read_csv(files[1], dtype={"option": str})
    assert set(table["choice"]) == {"metric", "cutoff"}
    assert (table["winner"] == "svd").all()


def test_a_wrong_option_is_told_in_one_line(sweep, command):
    code, out, err = command("segments", sweep, "--by", "plan")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "--by: there is no plan. There are activity, item_popularity, age, genre, items." in err


@pytest.mark.parametrize(("part", "what"), [("data", "data"), ("test", "test rows")])
def test_data_that_are_not_those_of_the_run_are_refused(sweep, tmp_path, command, part, what):
    run = FinishedRun.read(sweep / "svd0")
    if part == "data":
        record = replace(run.record, dataset=replace(run.record.dataset, sha256="0" * 64))
    else:
        facts = replace(getattr(run.record.split, part), sha256="0" * 64)
        record = replace(run.record, split=replace(run.record.split, **{part: facts}))
    for name in ("per_user.parquet", "test.parquet", "recommendations.parquet"):
        (tmp_path / name).write_bytes((run.folder / name).read_bytes())
    (tmp_path / "record.json").write_text(record.to_json(), encoding="utf-8")
    code, out, err = command("segments", tmp_path)
    assert (code, out) == (1, "")
    assert f"the {what} of its settings are not those of the run" in err
