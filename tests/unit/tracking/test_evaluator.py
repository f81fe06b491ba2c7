"""MLflow's own evaluation with recgauge as its evaluator, in a store of SQLite."""

from importlib.metadata import entry_points

import mlflow
import pandas as pd
import pyarrow.parquet as pq
import pytest
from mlflow import MlflowClient
from mlflow.models import MetricThreshold
from mlflow.models.evaluation import EvaluationDataset

import recgauge
from recgauge.errors import RecgaugeError
from recgauge.tracking.evaluator import Evaluator

USERS = [f"u{n}" for n in range(30)]
LISTS = [["a", "b", "c"], ["b", "c", "a"], ["c", "x", "a"]] * 10
RELEVANT = [["b"], ["a", "b"], ["c"]] * 10
BY_USER = pd.DataFrame({"user": USERS, "items": LISTS, "relevant": RELEVANT})
BY_PAIR = pd.DataFrame(
    {
        "user": [7, 7, 7, 8, 8, 8],
        "item": [10, 11, 12, 10, 11, 13],
        "score": [0.9, 0.8, None, 0.1, 0.3, 0.2],
        "grade": [0, 1, 1, 0, 0, 1],
    }
)


@pytest.fixture
def experiment(store):
    """An experiment of the store that MLflow uses."""
    mlflow.set_tracking_uri(store.uri)
    yield MlflowClient().create_experiment("evaluated")
    mlflow.set_tracking_uri(None)


@pytest.fixture
def evaluated(experiment):
    """Evaluate as MLflow does, in a run of a store."""

    def run(data, predictions, targets, model=None, **config):
        of_data, of_model = (predictions, None) if model is None else (None, predictions)
        return Evaluator().evaluate(
            model_type="ranker",
            dataset=EvaluationDataset(data, targets=targets, predictions=of_data),
            run_id=MlflowClient().create_run(experiment).info.run_id,
            evaluator_config=config,
            model=model,
            predictions=of_model,
        )

    return run


def test_numbers_are_those_of_recgauge_and_stand_in_the_run(evaluated):
    result = evaluated(BY_USER, "items", "relevant", metrics=["ndcg", "recall"], cutoffs=[2])
    lists, truth = (dict(zip(USERS, cells, strict=True)) for cells in (LISTS, RELEVANT))
    expected = recgauge.evaluate(lists, truth, metrics=["ndcg", "recall"], cutoffs=[2])
    assert {key: result.metrics[key] for key in expected.values()} == expected.values()
    low, high = result.metrics["ndcg_at_2_low"], result.metrics["ndcg_at_2_high"]
    assert (high - low) / 2 == pytest.approx(2.04523 * expected.stderrs()["ndcg_at_2"])  # Student's, 29
    run = MlflowClient().get_run(result.run_id)
    assert run.data.metrics == pytest.approx(result.metrics)
    assert run.data.tags["definition.ndcg"] == expected.definitions()["ndcg_at_2"].replace("@2", "@k")
    table = pq.read_table(mlflow.artifacts.download_artifacts(f"runs:/{result.run_id}/per_user.parquet"))
    assert table.column("user").to_pylist() == USERS
    assert table.column("ndcg_at_2").to_pylist() == expected.per_user("ndcg_at_2").tolist()
    assert list(result.artifacts["per_user"].content["user"]) == USERS


def test_a_long_frame_has_scores_or_ranks_and_grades(evaluated):
    by_score = evaluated(BY_PAIR, "score", "grade", cutoffs=[3]).metrics
    expected = recgauge.evaluate({7: [10, 11], 8: [11, 13, 10]}, {7: [11, 12], 8: [13]}, cutoffs=[3]).values()
    assert {key: by_score[key] for key in expected} == expected
    ranked = BY_PAIR.drop(columns="score").assign(rank=[1, 2, None, 3, 1, 2])
    assert evaluated(ranked, "rank", "grade", cutoffs=[3]).metrics == by_score


class Model:
    """What MLflow passes as a model."""

    def __init__(self, output):
        self.output = output

    def predict(self, frame):
        return self.output


@pytest.mark.parametrize(
    "output", [LISTS, pd.DataFrame({"items": LISTS}), pd.DataFrame({"seconds": 1.0, "items": LISTS})]
)
def test_a_model_returns_a_list_for_each_row(evaluated, output):
    data = BY_USER.drop(columns="items")
    expected = evaluated(BY_USER, "items", "relevant").metrics
    assert evaluated(data, "items", "relevant", model=Model(output)).metrics == expected


def test_rows_of_a_model_have_the_index_of_the_data(evaluated):
    data = BY_USER.set_index("user")
    expected = evaluated(BY_USER, "items", "relevant").metrics
    assert evaluated(data, None, "relevant", model=Model(data["items"])).metrics == expected
    for own in (data["items"].iloc[::-1], pd.Series(LISTS)):
        with pytest.raises(RecgaugeError, match="with the index of the data"):
            evaluated(data, None, "relevant", model=Model(own))


def test_an_index_with_names_is_columns(evaluated):
    expected = evaluated(BY_PAIR, "score", "grade").metrics
    for names in ("user", "item", ["user", "item"]):
        assert evaluated(BY_PAIR.set_index(names), "score", "grade").metrics == expected
    result = evaluated(BY_USER.set_index("user").rename_axis("customer"), "items", "relevant")
    assert list(result.artifacts["per_user"].content["user"]) == USERS


def test_an_empty_cell_is_no_list_however_it_is_written(evaluated):
    by_cell = [
        evaluated(BY_USER.assign(items=[*LISTS[:-1], empty]), "items", "relevant", metrics="ndcg@2, mrr@2")
        for empty in (None, float("nan"))
    ]
    expected = recgauge.evaluate(
        dict(zip(USERS[:-1], LISTS[:-1], strict=True)),
        dict(zip(USERS, RELEVANT, strict=True)),
        metrics=["ndcg", "mrr"],
        cutoffs=[2],
    ).values()
    for result in by_cell:
        assert {key: result.metrics[key] for key in expected} == expected


def test_rows_without_users_are_measured_and_never_paired_by_number(evaluated):
    result = evaluated(BY_USER.drop(columns="user"), "items", "relevant")
    assert result.metrics == evaluated(BY_USER, "items", "relevant").metrics
    assert "recgauge.evaluated" not in MlflowClient().get_run(result.run_id).data.tags


@pytest.mark.parametrize(
    ("data", "predictions", "config", "message"),
    [
        (BY_USER, "items", {"cutofs": [3]}, "Did you mean cutoffs"),
        (BY_USER, "items", {"user": "usr"}, "no column 'usr'"),
        (BY_USER.assign(user="x"), "items", {}, "'x' has several rows"),
        (BY_USER.drop(columns="user"), "items", {"train": {"u1": ["a"]}}, "no column of data is known"),
        (BY_USER.assign(items="a"), "items", {}, "has no lists: a cell is 'a'"),
        (BY_USER.assign(items="['a']", relevant="['a']"), "items", {}, "has no lists: a cell is "),
        (BY_USER.assign(items=float("nan")), "items", {}, "has no lists: a cell is nan"),
        (BY_USER.assign(items=[[1.5, 2.0]] * 30), "items", {}, "whole numbers or text"),
        (BY_PAIR.rename(columns={"score": "x", "grade": "relevant"}), "x", {}, "known as the rank or score"),
        (BY_PAIR.assign(model=["a", "b"] * 3, relevant=1), "score", {}, "'model' is not used"),
    ],
)
def test_what_cannot_be_meant_is_refused(evaluated, data, predictions, config, message):
    with pytest.raises(RecgaugeError, match=message) as caught:
        evaluated(data, predictions, "relevant", **config)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(
    not [entry for entry in entry_points(group="mlflow.model_evaluator") if entry.name == "recgauge"],
    reason="the package was installed before it had an evaluator",
)
def test_mlflow_has_it_by_name_and_checks_thresholds_of_its_intervals(experiment):
    with mlflow.start_run(experiment_id=experiment):
        result = mlflow.models.evaluate(
            data=BY_USER,
            targets="relevant",
            predictions="items",
            model_type="ranker",
            evaluators="recgauge",
            evaluator_config={"metrics": ["ndcg"], "cutoffs": [3]},
        )
    mlflow.validate_evaluation_results({"ndcg_at_3_low": least(0.5)}, result)
    with pytest.raises(Exception, match="threshold check failed"):
        mlflow.validate_evaluation_results({"ndcg_at_3_low": least(0.99)}, result)


def least(value):
    return MetricThreshold(threshold=value, greater_is_better=True)
