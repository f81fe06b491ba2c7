"""Whole runs in memory: a perfect model reaches the maximum, random stays at chance, two lanes in one run."""

from dataclasses import dataclass

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.datasets.demo import Demo
from recgauge.errors import ConfigError, MetricError
from recgauge.experiment import run_experiment
from recgauge.models import Recommender
from recgauge.models.bias import Bias
from recgauge.models.random import Random
from recgauge.report.run_tables import run_lines
from recgauge.runs.record import RunRecord
from recgauge.splits.shares import LeaveRandomOut, RandomRows
from recgauge.utils.randomness import stream
from small_runs import experiment as small

RANKING = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


@dataclass(eq=False)
class Oracle(Recommender):
    """Knows the held-out ratings: no model can do better."""

    held_out: Interactions

    def fit(self, train, *, rng):
        return self

    def score(self, users):
        return self.held_out.to_csr()[users].toarray().astype(np.float32)


def experiment(model, metrics=RANKING, conventions="standard", **changes):
    return small(metrics, conventions, **{"model": model, "cutoffs": (1, 10)} | changes)


def record_of(result):
    names = {"dataset": "demo", "split": "random"}
    return RunRecord.from_result(result, names=names, seed=0, command="", settings={}, environment={})


@pytest.fixture(scope="module")
def demo_split():
    return RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))


def test_a_perfect_model_reaches_the_maximum(demo_split):
    result = run_experiment(experiment(Oracle(demo_split.test)))
    values = result.ranking.evaluation.values()
    for key in ("ndcg_at_1", "ndcg_at_10", "mrr_at_1", "mrr_at_10", "hit_rate_at_1", "precision_at_1"):
        assert values[key] == pytest.approx(1.0, abs=1e-12)
    n_relevant = np.diff(result.ranking.relevant.start)
    assert values["recall_at_10"] == pytest.approx((np.minimum(n_relevant, 10) / n_relevant).mean())
    assert values["map_at_10"] == pytest.approx((np.minimum(n_relevant, 10) / n_relevant).mean())
    assert values["precision_at_10"] == pytest.approx((np.minimum(n_relevant, 10) / 10).mean())


def test_random_stays_at_chance(demo_split):
    """Each unseen item has the same chance, so precision expects relevant / unseen items of each user."""
    values = []
    for seed in range(8):
        result = run_experiment(experiment(Random(), metrics=("precision",), cutoffs=(20,), seed=seed))
        evaluation, relevant = result.ranking.evaluation, result.ranking.relevant
        unseen = 1_500 - result.split.train.user_counts()[relevant.users]
        expected = (np.diff(relevant.start) / unseen).mean()
        stderr = evaluation.stderrs()["precision_at_20"]
        values.append((evaluation.values()["precision_at_20"] - expected) / stderr)
    assert abs(np.mean(values)) * np.sqrt(8) < 3.3  # p < 0.001 for a model that is not at chance


def test_both_lanes_of_one_model():
    result = run_experiment(experiment(Bias(), metrics=("rmse", "mae", "ndcg")))
    keys = [entry.key for entry in result.results]
    assert keys == ["ndcg_at_1", "ndcg_at_10", "rmse", "mae"]
    assert 0.6 < result.rating.evaluation.values()["rmse"] < 0.9
    assert len(result.rating.predictions) == len(result.split.test)
    assert result.counts["users_evaluated"] == len(result.ranking.relevant.users)


def test_class_labels_are_refused_before_anything_is_loaded():
    with pytest.raises(ConfigError, match="'class_f1' measures class labels"):
        experiment(Random(), metrics=("ndcg", "class_f1"))


def test_a_metric_that_its_convention_refuses_costs_no_other():
    result = run_experiment(experiment(Random(), conventions="cornac"))
    assert set(result.ranking.refused) == {"mrr"}
    assert "MRR(miss=raise) refuses user" in result.ranking.refused["mrr"]
    assert {entry.name for entry in result.results} == set(RANKING) - {"mrr"}


def test_a_rating_metric_without_a_value_costs_no_other():
    suite = ("ndcg", "rmse", "fcp")
    result = run_experiment(  # one rating a user: no pair to order
        experiment(Bias(), suite, cutoffs=(10,), splitter=LeaveRandomOut())
    )
    assert set(result.rating.refused) == {"fcp"}
    assert result.rating.refused["fcp"].startswith("FCP(aggregate=pooled) is undefined")
    assert {entry.name for entry in result.results} == {"ndcg", "rmse"}
    assert any(line.startswith("refused  fcp: FCP") for line in run_lines(record_of(result)))


def test_a_suite_of_refused_metrics_is_an_error():
    with pytest.raises(MetricError, match="No metric of the suite has a value: MRR"):
        run_experiment(experiment(Random(), metrics=("mrr",), conventions="cornac"))


@pytest.mark.parametrize("conventions", ["recbole", "trec"])
def test_the_harness_computes_what_evaluate_computes(conventions):
    """The same lists and held-out rows, once as codes in a run, once as tables of ids."""
    import pandas as pd

    import recgauge

    result = run_experiment(experiment(Bias(), conventions=conventions, cutoffs=(5, 10)))
    lists, ids = result.ranking.top_k, result.split.test
    table = pd.DataFrame(
        {
            "user": np.repeat(ids.user_ids[lists.users], lists.items.shape[1]),
            "item": ids.item_ids[lists.items.ravel()],
            "score": lists.scores.ravel(),
        }
    )
    # every test row is judged, those below relevant_from with grade 0
    grade = np.where(ids.value >= 4, ids.value, 0)
    test = pd.DataFrame({"user": ids.user_ids[ids.user], "item": ids.item_ids[ids.item], "grade": grade})
    evaluation = recgauge.evaluate(
        table,
        test,
        metrics=RANKING,
        cutoffs=(5, 10),
        conventions=conventions,
        users=list(ids.user_ids[result.split.test_users]),
    )
    for key, value in result.ranking.evaluation.values().items():
        assert evaluation.values()[key] == pytest.approx(value, abs=1e-9), key


@pytest.mark.parametrize(
    ("conventions", "line"),
    [
        (
            "standard",
            "937 of 1,000 evaluated, 63 skipped without a relevant test item (value >= 4), 0",
        ),
        ("trec", "1,000 evaluated, 63 of them without a relevant test item (value >= 4), 0"),
    ],
)
def test_users_without_a_relevant_row_are_counted_as_the_convention_says(conventions, line):
    result = run_experiment(experiment(Random(), metrics=("ndcg",), conventions=conventions))
    assert any(line in shown for shown in run_lines(record_of(result)))
    counted = ~np.isnan(result.ranking.evaluation.per_user("ndcg_at_10"))
    assert counted.sum() == result.counts["users_evaluated"]
