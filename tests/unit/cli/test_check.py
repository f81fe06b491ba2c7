"""`recgauge check`: what it takes, what its exit code says, and what it refuses in one line."""

import json
import os
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
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
    code, out, _ = command("check", "--candidate", "near.csv", "--baseline", "old.csv", "--undecided", "pass")
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
    assert "Passed: svd may replace item_knn: all 6 verdicts are shown." in out
    assert "<details>" in (tmp_path / "c.md").read_text()
    assert "item_knn" in (tmp_path / "c.html").read_text()
    assert ET.parse(tmp_path / "c.xml").find("testsuite").get("tests") == "6"
    assert len(json.loads((tmp_path / "c.json").read_text())["verdicts"]) == 6


def test_lists_of_other_programs_with_a_truth(command, tmp_path, rng):
    items = np.arange(50)
    truth = pd.DataFrame({"user": np.repeat(np.arange(N), 5), "item": np.tile(items[:5], N)})
    truth.to_csv("test.csv", index=False)

    def lists(name, share):
        rows = [
            (user, item) for user in range(N) for item in (items[:5] if rng.random() < share else items[5:10])
        ]
        table = pd.DataFrame(rows, columns=["user", "item"])
        table["rank"] = table.groupby("user").cumcount() + 1
        table.to_csv(name, index=False)

    lists("old.csv", 0.5)
    lists("new.csv", 0.8)
    words = ("--candidate", "new.csv", "--baseline", "old.csv", "--truth", "test.csv")
    (tmp_path / "check.yaml").write_text("better_by: {ndcg@10: 0.05, recall@5: 10%}")
    code, out, err = command("check", *words)
    assert code == 0, err
    assert "new against old" in out
    (tmp_path / "check.yaml").write_text("cost: {fit_seconds: 3}\nnot_worse: {ndcg@10: 0}")
    code, _, err = command("check", *words)
    assert code == 2
    assert "cost.fit_seconds: files of lists do not say what they took" in err


def test_candidates_are_counted_in_a_file(command, tables, tmp_path):
    for name in ("same", "worse", "same"):
        _, out, _ = command("check", "--candidate", f"{name}.csv", "--baseline", "old.csv")
    assert "Candidate 2 on these test rows" in out
    assert len(read_looks(tmp_path / "outputs" / "looks.jsonl")) == 3
    _, out, _ = command("check", "--candidate", "near.csv", "--baseline", "old.csv", "--looks", "other.jsonl")
    assert "The first candidate" in out
    look = replace(read_looks(tmp_path / "other.jsonl")[0], candidate="")
    assert look.outcome == "undecided"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--candidate", "nothing"], "--candidate: nothing is no folder, no file, and no run's id"),
        (["--rules", "none.yaml"], "none.yaml: there is no such file"),
        (["--truth", "test.csv", "--candidate", "n.csv"], "--candidate: there is no file n.csv"),
        (["--promote"], "--promote: old.csv is no alias of a registered model"),
        (["--baseline", "models:/shop@champion"], "does not exist"),
        (["--looks", "."], "--looks"),
    ],
)
def test_wrong_use_ends_with_two_and_one_line(command, tables, words, message):
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
    assert "--rules check.yml" in judged()[2]
    assert judged("--rules", "check.yml")[0] == 0


def test_looks_that_cannot_be_read_or_kept_fail_the_check(command, tables, tmp_path):
    words = ("check", "--candidate", "same.csv", "--baseline", "old.csv", "--looks")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "deep").write_text('{"a":' * 10_000)
    for place in ("pipe", "/dev/zero", "deep"):
        code, out, err = command(*words, place)
        assert (code, out, err.count("\n")) == (2, "", 1)
    (tmp_path / "file").touch()
    code, out, err = command(*words, "file/looks.jsonl")
    assert code == 2
    assert err.startswith("error: ")


def test_options_say_directions_and_what_becomes_of_users_without_a_group(command, tables):
    for name in ("same", "old"):
        pd.read_csv(f"{name}.csv").set_axis(["userId", "loss"], axis=1).to_csv(
            f"{name}_loss.csv", index=False
        )
    (USERS.to_frame().assign(plan="a")[:100]).to_csv("users.csv", index=False)
    words = ("check", "--candidate", "same_loss.csv", "--baseline", "old_loss.csv", "--rules", "r.yaml")
    Path("r.yaml").write_text("segments: {plan: {loss: 20%}}")
    code, _, err = command(*words, "--users", "users.csv")
    assert code == 2
    assert "--lower-is-better loss" in err
    code, out, _ = command(*words, "--users", "users.csv", "--lower-is-better", "loss")
    assert (code, "200 of 300 users are in no group" in out) == (1, True)
    more = ("--higher-is-better", "loss", "--ungrouped", "pass")
    assert command(*words, "--users", "users.csv", *more)[0] == 0
    code, _, err = command(
        "check", "--candidate", "same.csv", "--baseline", "old.csv", "--users", "users.csv"
    )
    assert (code, "no rule compares groups" in err) == (2, True)
