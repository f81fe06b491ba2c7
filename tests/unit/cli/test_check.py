"""`recgauge check`: what it takes, what its exit code says, and what it refuses in one line."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from finished import finished
from recgauge.checks.looks import read_looks

N = 300
USERS = pd.Index(range(N), name="user_id")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {model: finished(folder, model, "cutoffs=[10]") for model in ("svd", "item_knn")}


@pytest.fixture
def tables(rng):
    """Per-user values of a baseline, of one like it, of a worse one, and of too few users."""
    old = pd.DataFrame({"ndcg@10": rng.random(N)}, index=USERS)
    noise = rng.normal(0, 0.05, (N, 1))
    noise -= noise.mean()
    for name, values in (("old", old), ("same", old + noise), ("worse", old + noise - 0.05)):
        values.to_csv(f"{name}.csv")
    (old + 0.4 * noise - 0.0095).to_csv("near.csv")


def test_exit_codes_say_the_verdict(command, tables):
    for name, expected, word in (("same", 0, "Passed"), ("worse", 1, "Failed"), ("near", 3, "Undecided")):
        code, out, err = command("check", "--candidate", f"{name}.csv", "--baseline", "old.csv")
        assert (code, err) == (expected, "")
        assert out.startswith(f"{word}: ")
    Path("check.yaml").write_text("{not_worse: {ndcg@10: 2%}, undecided: pass}")
    code, out, _ = command("check", "--candidate", "near.csv", "--baseline", "old.csv")
    assert code == 0
    assert "which passes here" in out


def test_runs_by_their_folders_with_segments_and_costs(command, runs, tmp_path):
    rules = {
        "not_worse": {"ndcg@10": "2%"},
        "segments": {"activity": {"ndcg@10": "10%"}},
        "cost": {"fit_seconds": 600},
    }
    (tmp_path / "check.yaml").write_text(json.dumps(rules))
    words = ("--candidate", runs["svd"], "--baseline", runs["item_knn"])
    code, out, err = command("check", *words, "--out", "c.md", "c.xml", "c.json", "c.html")
    assert code == 0, err
    assert "Passed: svd may replace item_knn; verdicts: 6 shown." in out
    assert "**svd against item_knn**" in (tmp_path / "c.md").read_text()
    assert "item_knn" in (tmp_path / "c.html").read_text()
    assert ET.parse(tmp_path / "c.xml").find("testsuite").get("tests") == "6"
    assert len(json.loads((tmp_path / "c.json").read_text())["verdicts"]) == 6


def test_candidates_are_counted_in_a_file(command, tables, tmp_path):
    for name in ("same", "worse", "same"):
        _, out, _ = command("check", "--candidate", f"{name}.csv", "--baseline", "old.csv")
    assert "Candidate 2 on these test rows" in out
    assert len(read_looks(tmp_path / "outputs" / "looks.jsonl")) == 3
    assert {look.outcome for look in read_looks(tmp_path / "outputs" / "looks.jsonl")} == {"shown", "worse"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--candidate", "nothing"], "the tracking store"),
        (["--candidate", "lists.csv"], "Judge lists with recgauge evaluate"),
        (["--promote"], "--promote: old.csv is no alias of a registered model"),
    ],
)
def test_wrong_use_ends_with_two_and_one_line(command, tables, words, message):
    Path("lists.csv").write_text("user_id,item_id,rank\n1,2,1\n")
    code, out, err = command("check", "--candidate", "same.csv", "--baseline", "old.csv", *words)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in out + err


def test_rules_that_are_there_and_cannot_be_read_fail_the_check(command, tables, tmp_path):
    def judged(*words):
        code, out, err = command("check", "--candidate", "same.csv", "--baseline", "old.csv", *words)
        assert "Traceback" not in err
        return code, out, err

    rules = tmp_path / "check.yaml"
    os.mkfifo(rules)
    assert judged()[:2] == (2, "")
    rules.unlink()
    rules.mkdir()
    assert judged()[:2] == (2, "")
    rules.rmdir()
    rules.write_text("[" * 10_000)
    assert judged()[:2] == (2, "")
    rules.unlink()
    (tmp_path / "check.yml").write_text("not_worse: {ndcg@10: 2%}")
    assert judged()[0] == 0


def test_looks_that_cannot_be_read_or_kept_fail_the_check(command, tables, tmp_path):
    words = ("check", "--candidate", "same.csv", "--baseline", "old.csv")
    looks = tmp_path / "outputs" / "looks.jsonl"
    looks.parent.mkdir()
    looks.write_text('{"a":' * 10_000)
    assert (command(*words)[0], looks.unlink()) == (2, None)
    os.mkfifo(looks)
    code, out, err = command(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    looks.unlink()
    looks.mkdir()
    assert command(*words)[0] == 2
