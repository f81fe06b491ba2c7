"""`recgauge compare --mlflow`: runs that plain code has logged, their seeds against scipy."""

import csv
import json
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.models.evaluation import EvaluationDataset
from scipy import stats

from recgauge.cli.commands.cli import main
from recgauge.comparison.tests_of_pairs import holm
from recgauge.tracking.evaluator import Evaluator

MEANS = {"logreg": 0.80, "forest": 0.84, "boosting": 0.85, "mlp": 0.835, "knn": 0.74}


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('logged')}/mlflow.db"


def log(uri, experiment, runs):
    """Log runs as anybody does: name, params, metrics."""
    client = MlflowClient(tracking_uri=uri)
    number = client.create_experiment(experiment)
    for name, params, metrics in runs:
        run_id = client.create_run(number, run_name=name).info.run_id
        for key, value in params.items():
            client.log_param(run_id, key, value)
        for key, value in metrics.items():
            client.log_metric(run_id, key, value)
        client.set_terminated(run_id)


@pytest.fixture(scope="module")
def accuracies(uri):
    """Five models with five seeds each; those of boosting are others."""
    rng = np.random.default_rng(0)
    numbers = {model: mean + 0.01 * rng.standard_normal(5) for model, mean in MEANS.items()}
    log(
        uri,
        "churn",
        [
            (
                "run",
                {"model": model, "clf__random_state": seed + (10 if model == "boosting" else 0), "cv": 3},
                {"accuracy": value, "seconds": rng.random()},
            )
            for model, values in numbers.items()
            for seed, value in enumerate(values)
        ],
    )
    return numbers


def compare(uri, *words):
    return main(["compare", "--uri", uri, "--mlflow", *words])


def test_seeds_are_tested_as_scipy_tests_them(uri, accuracies, tmp_path):
    assert compare(uri, "churn", "--out", f"{tmp_path}/t.json", f"{tmp_path}/t.md", f"{tmp_path}/t.csv") == 0
    content = json.loads((tmp_path / "t.json").read_text())
    for row in content["runs"]:
        values = accuracies[row["run"]]
        low, high = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), low, high))
        assert (row["repeats_deviation"], row["n_seeds"]) == pytest.approx((values.std(ddof=1), 5))
    pairs = {(pair["a"], pair["b"]): pair for pair in content["pairs"]}
    assert {frozenset(pair) for pair in pairs} == set(map(frozenset, combinations(MEANS, 2)))
    expected = [
        (
            stats.ttest_ind(accuracies[a], accuracies[b], equal_var=False)
            if "boosting" in (a, b)
            else stats.ttest_rel(accuracies[a], accuracies[b])
        )
        for a, b in pairs
    ]
    assert [pair["p_t"] for pair in pairs.values()] == pytest.approx([each.pvalue for each in expected])
    ends = [each.confidence_interval(0.95) for each in expected]
    assert [pair["low"] for pair in pairs.values()] == pytest.approx([end.low for end in ends])
    corrected = holm([each.pvalue for each in expected])
    assert [pair["p_adjusted"] for pair in pairs.values()] == pytest.approx(corrected.tolist())
    letters = {row["run"]: set(row["letters"]) for row in content["runs"]}
    assert all(bool(letters[a] & letters[b]) != pair["differs"] for (a, b), pair in pairs.items())
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        assert {row["run"] for row in csv.DictReader(file)} == set(MEANS)
    assert "Student's t over seeds" in (tmp_path / "t.md").read_text()


def test_seeds_needed_give_the_power_that_they_promise(uri, accuracies, tmp_path, capsys):
    assert compare(uri, "churn", "--baseline", "boosting", "--out", f"{tmp_path}/t.json") == 0
    pairs = json.loads((tmp_path / "t.json").read_text())["pairs"]
    pair = max((each for each in pairs if not each["differs"]), key=lambda each: abs(each["difference"]))
    n, rng = pair["seeds_needed"], np.random.default_rng(1)
    assert f"too few seeds to tell: about {n} of each" in capsys.readouterr().out
    sides = (pair["difference"], accuracies[pair["a"]]), (0, accuracies["boosting"])
    a, b = (rng.normal(mean, values.std(ddof=1), (4000, n)) for mean, values in sides)
    p = stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue
    assert 0.7 < (p <= 0.05 / len(pairs)).mean() < 0.95


def test_a_comparison_is_written_back_and_never_compared_itself(uri, accuracies, capsys):
    client = MlflowClient(tracking_uri=uri)
    number = client.get_experiment_by_name("churn").experiment_id
    client.set_experiment_tag(number, "mlflow.note.content", "Who leaves next month.")
    before = dict(client.get_experiment(number).tags)
    for _ in range(2):
        assert compare(uri, number, "--log") == 0
        assert "25 runs" in capsys.readouterr().out
    tags = client.get_experiment(number).tags
    assert tags["mlflow.note.content"].startswith("Who leaves next month.\n\nNewest: ")
    assert tags["mlflow.note.content"].count("| run |") == 1
    assert {name: tags[name] for name in before if name != "mlflow.note.content"} == {
        name: text for name, text in before.items() if name != "mlflow.note.content"
    }
    run = client.search_runs([number], "tags.`recgauge.summary` = 'comparison'")[0]
    assert run.data.metrics["accuracy/knn"] == pytest.approx(accuracies["knn"].mean())
    files = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert files >= {"comparison.md", "comparison.csv", "comparison_pairs.csv", "comparison.json"}


@pytest.fixture
def evaluate(uri, monkeypatch):
    """Log the lists of a frame with MLflow's evaluator, in a run of an experiment."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)  # the evaluator writes where MLflow does
    client = MlflowClient(tracking_uri=uri)

    def run(experiment, frame, params, **config):
        there = client.get_experiment_by_name(experiment)
        number = client.create_experiment(experiment) if there is None else there.experiment_id
        run_id = client.create_run(number, run_name=params["model"]).info.run_id
        for key, value in params.items():
            client.log_param(run_id, key, value)
        Evaluator().evaluate(
            dataset=EvaluationDataset(frame, targets="relevant", predictions="items"),
            run_id=run_id,
            evaluator_config={"cutoffs": [2], **config},
        )
        client.set_terminated(run_id)

    return run


def test_runs_of_the_evaluator_pair_by_user(uri, tmp_path, evaluate):
    rng = np.random.default_rng(0)
    for model, share in (("good", 0.9), ("bad", 0.5)):
        for seed in range(2):
            lists = [["b", "c"] if hit else ["c", "b"] for hit in rng.random(60) < share]
            frame = pd.DataFrame({"user": range(60), "relevant": [["b"]] * 60, "items": lists})
            evaluate("lists", frame, {"model": model, "seed": seed})
    assert compare(uri, "lists", "--metrics", "ndcg@2", "--out", f"{tmp_path}/t.json") == 0
    (pair,) = json.loads((tmp_path / "t.json").read_text())["pairs"]
    assert (pair["a"], pair["b"], pair["differs"]) == ("good", "bad", True)
    assert "users_needed" in pair


GRADES = [{"a": 2.0, "b": 1.0}, {"a": 1.0, "c": 3.0}] * 10
ROWS = pd.DataFrame({"items": [["a", "b"], ["a", "b", "b"]] * 10, "relevant": GRADES})


@pytest.mark.parametrize("users", [False, True])
@pytest.mark.parametrize(
    ("truth", "config", "message"),
    [
        (GRADES, {"repeats": "every"}, "differently: .*duplicates=every"),
        (GRADES, {"relevant_from": 2}, "threshold=2 "),
        ([{"a": 2.0}] * 20, {}, "different relevant items"),
        (GRADES, {"cutoffs": [1]}, "no metric in common .*ndcg_at_2"),
    ],
)
def test_runs_that_are_judged_in_two_ways_are_refused(
    uri, request, evaluate, users, truth, config, message, capsys
):
    for seed in range(2):
        frame = ROWS.assign(user=range(20)) if users else ROWS
        name, of_b = request.node.callspec.id, frame.assign(relevant=truth)
        evaluate(name, frame, {"model": "a", "seed": seed})
        evaluate(name, of_b, {"model": "b", "seed": seed}, **config)
    assert compare(uri, name) == 1
    assert re.search(message, capsys.readouterr().err)


def test_each_seed_may_have_a_truth_of_its_own(uri, evaluate):
    for seed in range(2):
        frame = ROWS.assign(relevant=[{"a": 1.0 + seed}] * 20)
        evaluate("splits", frame, {"model": "a", "seed": seed})
        evaluate("splits", frame.assign(items=[["b", "a"]] * 20), {"model": "b", "seed": seed})
    assert compare(uri, "splits") == 0


def test_trials_of_a_search_are_no_conditions(uri, capsys):
    log(uri, "searched", [(*run, {"ndcg": 0.1 * run[1]["seed"]}) for run in SEEDS])
    client = MlflowClient(tracking_uri=uri)
    number = client.get_experiment_by_name("searched").experiment_id
    for trial in range(3):
        tags = {"recgauge.trial": str(trial), "mlflow.parentRunId": "0" * 32}
        run_id = client.create_run(number, run_name="trial", tags=tags).info.run_id
        client.log_metric(run_id, "ndcg", trial)
        client.set_terminated(run_id)
    assert compare(uri, "searched") == 0
    assert "6 runs, seeds of 2 conditions" in capsys.readouterr().out


SEEDS = [(f"{model}{seed}", {"model": model, "seed": seed}) for model in "ab" for seed in range(3)]


@pytest.mark.parametrize(
    ("runs", "words", "message"),
    [
        (None, [], "no such experiment"),
        ([], [], "no finished run"),
        ([("a", {"seed": 1}, {"x": 1}), ("b", {"seed": 2}, {"y": 1})], [], "no metric in common"),
        ([(f"a{n}", {"seed": n}, {"ndcg": n}) for n in range(3)], [], "needs two conditions"),
        ([(f"a{n}", {"model": "a"}, {"ndcg": n}) for n in range(3)], [], "--over run_id"),
        ([(f"a{n}", {"seed": n, "stamp": n}, {"ndcg": n}) for n in range(3)], [], "--over NAME"),
        ([(*run, {"ndcg": float("nan")}) for run in SEEDS], [], "ndcg is nan"),
        ([(*run, {"joy": 1}) for run in SEEDS], [], "--higher-is-better joy"),
        ([(*run, {"ndcg": 1}) for run in SEEDS], ["--over", "fold"], "no run has such a param"),
        ([(*run, {"ndcg": 1}) for run in SEEDS], ["--correction", "max_t"], "need values of users"),
        ([(*run, {"ndcg": 1}) for run in SEEDS], ["--metrics", "recall"], "no recall"),
        ([(*run, {"ndcg": 1}) for run in SEEDS], ["--baseline", "c"], "no run 'c'"),
        (
            [(*run, {"ndcg": 1} if run[0] == "a1" else {"ndcg": 1, "hr": 1}) for run in SEEDS],
            ["--metrics", "hr"],
            "hr is in 5 of 6 runs, not in a1. ",
        ),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(uri, request, runs, words, message, capsys):
    name = f"case {request.node.callspec.id}"
    if runs is not None:
        log(uri, name, runs)
    assert compare(uri, name, *words) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_over_adds_to_the_usual_names(uri, capsys):
    runs = [(name, {**params, "note": name}, {"ndcg": 0.1 * params["seed"]}) for name, params in SEEDS]
    log(uri, "notes", runs)
    assert compare(uri, "notes", "--over", "note") == 0
    assert "6 runs, seeds of 2 conditions" in capsys.readouterr().out


def test_seeds_that_change_nothing_show_no_difference(uri, capsys):
    log(uri, "fixed", [(*run, {"ndcg": 0.2 + 0.1 * (run[0][0] == "a")}) for run in SEEDS])
    assert compare(uri, "fixed") == 0
    out = capsys.readouterr().out
    assert "No difference shown" in out
    assert "says nothing of chance" in out


def test_data_sets_are_compared_apart(uri, tmp_path):
    rng = np.random.default_rng(0)
    runs = [(name, params | {"dataset": data}) for name, params in SEEDS for data in ("x", "y")]
    log(uri, "sets", [(*run, {"ndcg": rng.random()}) for run in runs])
    assert compare(uri, "sets", "--out", f"{tmp_path}/t.json") == 0
    pairs = json.loads((tmp_path / "t.json").read_text())["pairs"]
    assert [(pair["dataset"], {pair["a"], pair["b"]}) for pair in pairs] == [("x", {*"ab"}), ("y", {*"ab"})]
