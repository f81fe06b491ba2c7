"""``recgauge export``: what it writes reads back as what was judged, here and as other tools read it."""

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from finished import finished
from recgauge.cli.commands.cli import main
from recgauge.datasets.table import Table
from recgauge.errors import SchemaError
from recgauge.runs.export import Exporter
from recgauge.runs.finished import FinishedRun
from recgauge.splits.published import Published

METRICS = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    small = ("metrics=[ranking]", "cutoffs=[3,20]", "figures=false")
    made = {
        "ties": finished(folder / "a", "popularity", *small),
        "validated": finished(folder / "b", "svd", *small, "split.validation_size=0.1", "model.n_factors=4"),
        "fold_in": finished(
            folder / "e", "popularity", *small, "split=strong_generalisation", "split.n_test=0.1"
        ),
        "ratings": finished(folder / "f", "bias", "metrics=[rating]", "figures=false"),
    }
    made["no_lists"] = folder / "g"
    copytree(made["ties"], made["no_lists"])
    (made["no_lists"] / "recommendations.parquet").unlink()
    record = made["no_lists"] / "record.json"
    settings = json.loads(record.read_text("utf-8"))
    settings["settings"]["artifacts"]["lists"] = False
    record.write_text(json.dumps(settings), "utf-8")
    return made


@pytest.fixture
def export(command, tmp_path, monkeypatch):
    """The command, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return partial(command, "export")


def stored(run):
    return FinishedRun.read(run).record.values()


def evaluated(lists, truth, *words):
    """What ``recgauge evaluate`` finds in files, with its values per user."""
    keys = ",".join(f"{name}@{k}" for name in METRICS for k in (3, 20))
    files = ["--out", "found.json", "users.parquet"]
    assert (
        main(["evaluate", "--run", str(lists), "--truth", str(truth), "--metrics", keys, *words, *files]) == 0
    )
    (found,) = json.loads(Path("found.json").read_text("utf-8"))["runs"].values()
    return found["values"], pd.read_parquet("users.parquet")


FILES = {
    "csv": ("lists.csv", "test.csv"),
    "parquet": ("lists.parquet", "test.parquet"),
    "trec": ("lists.trec", "test.qrels"),
}


@pytest.mark.parametrize(("form", "run"), [("csv", "ties"), ("parquet", "validated"), ("trec", "validated")])
def test_the_files_evaluate_to_the_numbers_of_the_run(runs, export, run, form):
    lists, truth = FILES[form]
    assert export(runs[run], "--as", form, "--out", "x")[0] == 0
    values, users = evaluated(f"x/{lists}", f"x/{truth}")
    assert values == pytest.approx(stored(runs[run]), rel=1e-14)  # text ids are summed in another order
    ours = FinishedRun.read(runs[run]).per_user()
    users = users.set_index(users.pop("user_id").astype(ours.index.dtype)).loc[ours.index]
    pd.testing.assert_frame_equal(users, ours[list(users)], check_exact=True)
    assert set(users) == set(ours)


@pytest.mark.parametrize(
    ("form", "pattern", "kind"), [("train-test", "{}.csv", None), ("user-lines", "{}.txt", "user_lines")]
)
def test_the_published_split_of_the_files_is_the_split(runs, export, form, pattern, kind):
    run = runs["validated"]
    assert export(run, "--as", form, "--out", "x")[0] == 0
    files = {part: f"x/{pattern.format(part)}" for part in ("train", "validation", "test")}
    dataset = Table(list(files.values()), format=kind).load()
    split = Published(test=files["test"], validation=files["validation"], format=kind).split(
        dataset.interactions, rng=np.random.default_rng(0)
    )
    record = FinishedRun.read(run).record.split
    assert not any(step.dropped_rows for step in split.steps)
    if form != "user-lines":  # these have no ratings and times
        assert split.train.sha256() == record.train.sha256
        assert split.validation.sha256() == record.validation.sha256
        assert split.test.sha256() == record.test.sha256
    rows = {part: getattr(split, part) for part in files}
    assert {part: len(one) for part, one in rows.items()} == {
        part: facts.rows for part, facts in record.parts.items()
    }
    held_out = FinishedRun.read(run).test()
    pairs = set(zip(held_out["user_id"], held_out["item_id"], strict=True))
    test = split.test
    assert pairs == set(
        zip(test.user_ids[test.user].tolist(), test.item_ids[test.item].tolist(), strict=True)
    )


def test_grades_are_doubled_where_ratings_have_halves_and_scores_fall_with_the_rank(runs, export):
    code, _, err = export(runs["ties"], "--as", "trec", "--out", "x")
    assert code == 0
    assert "2 times the rating" in err
    run = pd.read_csv("x/lists.trec", sep=" ", header=None)
    assert (run[4] == 21 - run[3]).all()
    assert run.equals(pd.read_csv("x/lists.trec", sep=" ", header=None).sort_values([0, 3], kind="stable"))
    qrels = pd.read_csv("x/test.qrels", sep=" ", header=None)
    ours = FinishedRun.read(runs["ties"]).test()
    expected = np.where(ours["rating"] >= 4, 2 * ours["rating"], 0)
    assert qrels[3].tolist() == expected.tolist()
    export(runs["ties"], "--as", "trec", "--grades", "binary", "--out", "y")
    assert set(pd.read_csv("y/test.qrels", sep=" ", header=None)[3]) == {0, 1}


def test_rows_that_models_see_after_training_have_a_file_of_their_own(runs, export):
    assert export(runs["fold_in"], "--as", "csv", "--out", "x")[0] == 0
    parts = FinishedRun.read(runs["fold_in"]).record.split.parts
    assert {part: len(pd.read_csv(f"x/{part}.csv")) for part in parts} == {
        part: facts.rows for part, facts in parts.items()
    }
    assert "fold-in" in export(runs["fold_in"], "--as", "recbole", "--out", "y")[2]


def test_predicted_ratings_evaluate_to_the_numbers_of_the_run(runs, export, monkeypatch):
    """Predictions stand beside the ratings that they are judged by, ratings beside grades."""
    assert export(runs["ratings"], "--as", "csv", "--out", "x")[0] == 0
    assert (
        "run again with metrics=ranking artifacts.lists=true"
        in export(runs["ratings"], "--as", "trec", "--out", "y")[2]
    )
    monkeypatch.chdir("x")
    command = re.search("`recgauge (evaluate .*)`", Path("about.md").read_text("utf-8"))[1]
    assert main([*command.split(), "--out", "found.json"]) == 0
    (found,) = json.loads(Path("found.json").read_text("utf-8"))["runs"].values()
    ours = stored(runs["ratings"])
    assert found["values"].keys() == ours.keys() - {"rmse_user"}  # a metric of the suite alone
    assert found["values"] == pytest.approx({key: ours[key] for key in found["values"]}, rel=1e-6)  # float32
    again = finished(
        Path("again"), "recorded", "model.path=predictions.csv", "metrics=[rating]", "figures=false"
    )
    assert stored(again) == pytest.approx(ours, rel=1e-6)
    assert ours["rmse"] > 0.5


def test_files_that_are_there_stay_unless_told(runs, export, tmp_path):
    assert export(runs["ties"], "--as", "train-test", "--out", "x")[0] == 0
    before = (tmp_path / "x" / "test.csv").read_bytes()
    (tmp_path / "x" / "test.csv").write_text("mine")
    code, out, err = export(runs["ties"], "--as", "train-test", "--out", "x")
    assert (code, out) == (1, "")
    assert "x has train.csv, test.csv, about.md already. Name another folder, or add --overwrite." in err
    assert (tmp_path / "x" / "test.csv").read_text() == "mine"
    assert export(runs["ties"], "--as", "train-test", "--out", "x", "--overwrite")[0] == 0
    assert (tmp_path / "x" / "test.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("run", "words", "reason"),
    [
        ("ties", ["--as", "trek"], "--as: trek is none of trec, csv, parquet, recbole"),
        ("ties", ["--as", "recbole", "--no-train"], "RecBole needs training rows"),
        (
            "no_lists",
            ["--as", "trec"],
            "no recommendations.parquet. Finished runs with metrics of lists and whole lists have them",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(
    runs, export, tmp_path, run, words, reason
):
    code, out, err = export(runs[run], *words, "--out", "x")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert reason in err
    assert not (tmp_path / "x").exists()


def test_without_the_data_the_lists_and_test_rows_can_still_be_had(tmp_path, export):
    rows = "".join(f"u{user},i{item}\n" for user in range(30) for item in range(user % 7, 40, 3))
    (tmp_path / "mine.csv").write_text("user,item\n" + rows)
    words = ("dataset=table", "dataset.path=mine.csv", "metrics=[ranking]", "cutoffs=[3]", "figures=false")
    run = finished(tmp_path, "popularity", *words, "candidates=sampled", "candidates.n=5")
    (tmp_path / "mine.csv").unlink()
    assert "Or export lists and test rows alone: --no-train." in export(run, "--as", "csv", "--out", "x")[2]
    assert export(run, "--as", "csv", "--no-train", "--out", "x")[0] == 0
    lists, test = (pd.read_csv(f"x/{name}.csv") for name in ("lists", "test"))
    assert list(test) == ["user_id", "item_id", "grade"]
    assert set(lists["user_id"]) <= {f"u{user}" for user in range(30)}
    assert set(lists["item_id"]) <= {f"i{item}" for item in range(40)}
    assert "not those of the whole catalogue: " in Path("x/about.md").read_text("utf-8")


def exporter_of(users, items, scores=None, grades=None):
    """A run with one list for each pair of user and item."""
    lists = pa.table(
        {
            "user_id": pa.array(users),
            "item_id": pa.array(items),
            "rank": pa.array([1] * len(users), pa.int32()),
            "score": pa.array(scores or [0.5] * len(users), pa.float32()),
        }
    )
    judged = lists.select(["user_id", "item_id"]).append_column("grade", [grades or [1.0] * len(users)])
    return Exporter("d", "m", "test", judged, {"test": judged, "train": judged}, lists)


def written(exporter, form, folder):
    folder.mkdir(exist_ok=True)
    files = exporter.files(form)
    for name, file in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        file.write(folder / name)
    return set(files)


ODD = ["a b", 'e"f', "tab\there", "NA"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("form", ["trec", "recbole", "user-lines", "csv", "parquet"])
def test_ids_stay_as_they_are_or_are_refused_by_name(tmp_path, odd, form):
    exporter = exporter_of(["u", odd], [odd, "i"])
    splits = form in ("trec", "user-lines") and len(odd.split()) != 1
    if splits or (form == "recbole" and odd in ('e"f', "tab\there", "NA")):
        with pytest.raises(SchemaError, match=f"--as {form}: the user id .* Use --as csv"):
            exporter.files(form)
        return
    names = written(exporter, form, tmp_path / "x")
    if "lists.csv" in names:
        found = pd.read_csv(tmp_path / "x" / "lists.csv", keep_default_na=False)
        assert found["user_id"].tolist() == ["u", odd]
        assert found["item_id"].tolist() == [odd, "i"]
    if "lists.trec" in names:
        rows = [line.split() for line in (tmp_path / "x" / "lists.trec").read_text("utf-8").splitlines()]
        assert [row[0] for row in rows] == ["u", odd]


def test_grades_that_no_factor_makes_whole_are_refused(tmp_path):
    exporter = exporter_of(["u", "v"], ["x", "y"], grades=[0.1, 3.0])
    with pytest.raises(SchemaError, match=r"read whole numbers as grades.*--grades binary"):
        exporter.files("trec")
    binary = replace(exporter, grades="binary")
    written(binary, "trec", tmp_path / "x")
    assert (tmp_path / "x" / "test.qrels").read_text() == "u 0 x 1\nv 0 y 1\n"
