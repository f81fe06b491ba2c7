"""The same two files give the same number whatever reads them."""

import json
from shutil import copy

import numpy as np
import pandas as pd
import pytest

from finished import finished
from recgauge import PartTask, evaluate

KEYS = ("recall_at_3", "precision_at_3", "ndcg_at_3")
WORDS = "recall@3,precision@3,ndcg@3"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Lists, test rows and training rows with grades of a scale, in CSV and Parquet."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    pairs = [(f"u{user:02}", f"b{item:02}") for user in range(30) for item in rng.permutation(40)[:9]]
    rows = pd.DataFrame(pairs, columns=["user", "item"])
    tables = {"train": rows.iloc[::3], "test": rows.drop(rows.index[::3])}
    listed = [(user, f"b{item:02}") for user in rows["user"].unique() for item in rng.permutation(40)[:6]]
    seen = set(tables["train"].itertuples(index=False, name=None))
    lists = pd.DataFrame([pair for pair in listed if pair not in seen], columns=["user", "item"])
    tables["lists"] = lists.assign(rank=lists.groupby("user").cumcount() + 1)

    def write(scale):
        for name, table in tables.items():
            if name != "lists":
                table = table.assign(rating=rng.choice(scale, len(table)))
            table.to_csv(f"{name}.csv", index=False)
            table.to_parquet(f"{name}.parquet")
        return tmp_path

    return write


@pytest.mark.parametrize(("scale", "threshold"), [(np.arange(1, 6), 4), (np.arange(-4, 5) / 2, 0.5)])
def test_commands_python_parts_runs_and_checks_agree(files, command, scale, threshold) -> None:
    folder = files(scale)
    bound = ["--relevant-from", threshold]
    words = ["--metrics", WORDS, *bound]
    runs = ["--run", "lists.csv", "--truth", "test.csv"]
    code, _, error = command("evaluate", *runs, *words, "--out", "o.json", "u.parquet")
    assert code == 0, error
    of_command = json.loads((folder / "o.json").read_text())["runs"]["lists"]["values"]

    lists, truth = pd.read_csv("lists.csv"), pd.read_csv("test.csv").rename(columns={"rating": "grade"})
    names = ("recall", "precision", "ndcg")
    of_python = evaluate(lists, truth, metrics=names, cutoffs=(3,), relevant_from=threshold).values()
    assert {key: of_python[key] for key in KEYS} == of_command

    parts = ["--run", "lists.parquet", "--truth", "test.parquet", "--work", "work", "--memory-mib", "16"]
    assert command("evaluate", *parts, *words, "--out", "p.json")[0] == 0
    assert json.loads((folder / "p.json").read_text())["runs"]["lists"]["values"] == of_command
    task = PartTask(metrics=names, cutoffs=(3,), relevant_from=threshold)
    of_parts = task.merge(
        [task.judge(pd.read_parquet("lists.parquet"), pd.read_parquet("test.parquet"))]
    ).values()
    assert {key: of_parts[key] for key in KEYS} == of_command

    run = finished(
        folder / "run",
        "recorded",
        "model.path=lists.csv",
        "dataset=table",
        "dataset.path=[train.csv,test.csv]",
        f"dataset.relevant_from={threshold}",
        "split=published",
        "split.test=test.csv",
        "split.train=train.csv",
        "metrics=[ranking]",
        "cutoffs=[3]",
        "figures=false",
    )
    of_run = {one["key"]: one["value"] for one in json.loads((run / "record.json").read_text())["results"]}
    assert {key: of_run[key] for key in KEYS} == pytest.approx(of_command, abs=1e-7)  # 32-bit ratings

    copy("lists.csv", "same.csv")
    (folder / "rules.yaml").write_text("not_worse: {recall@3: 50%, ndcg@3: 50%}\n")
    code, _, error = command(
        "check", "--candidate", "lists.csv", "--baseline", "same.csv", "--truth", "test.csv", *bound,
        "--rules", "rules.yaml", "--out", "c.json",
    )  # fmt: skip
    verdicts = json.loads((folder / "c.json").read_text())["verdicts"]
    means = {one["metric"]: one["candidate"] for one in verdicts}
    assert means == {key: of_command[key] for key in ("recall_at_3", "ndcg_at_3")}
