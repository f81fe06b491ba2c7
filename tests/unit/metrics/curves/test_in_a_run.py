"""Metrics of full rankings as a run gives them: beside those of lists, aligned with their users."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from recgauge import Popularity, evaluate
from recgauge.errors import ConfigError
from recgauge.experiment import run_experiment
from recgauge.metrics import AUC
from small_runs import experiment

NAMES = ("recall", "auc", "step_average_precision")


@pytest.fixture(scope="module")
def result():
    return run_experiment(experiment(NAMES, cutoffs=(5,)))


def test_values_are_those_of_scikit_learn_user_by_user(result):
    split, evaluation = result.split, result.ranking.evaluation
    model = Popularity().fit(split.train, rng=np.random.default_rng(0))
    seen, relevant = split.train.to_csr(), result.ranking.relevant
    scores = model.score(relevant.users[:50])
    for row, user in enumerate(relevant.users[:50]):
        own = relevant.items[relevant.start[row] : relevant.start[row + 1]]
        candidates = np.setdiff1d(np.arange(split.train.n_items), seen[[user]].indices)
        flags = np.isin(candidates, own)
        for key, measure in (("auc", roc_auc_score), ("step_average_precision", average_precision_score)):
            expected = measure(flags, scores[row][candidates])
            assert evaluation.per_user(key)[row] == pytest.approx(expected, abs=1e-12)


def test_the_value_is_the_mean_and_stands_beside_the_lists(result):
    values = result.ranking.evaluation.values()
    assert list(values) == ["recall_at_5", "auc", "step_average_precision"]
    assert values["auc"] == AUC().value(result.ranking.rankings)
    assert values["auc"] == pytest.approx(np.nanmean(result.ranking.evaluation.per_user("auc")))
    assert result.ranking.evaluation.definitions()["auc"].startswith("AUC(")


def test_users_without_relevant_items_have_no_value(result):
    counted = run_experiment(experiment(NAMES, "article_system_evaluation", cutoffs=(5,))).ranking.evaluation
    known = np.isin(counted.users, result.ranking.evaluation.users)
    assert not known.all()
    np.testing.assert_array_equal(counted.per_user("auc")[known], result.ranking.evaluation.per_user("auc"))
    assert np.isnan(counted.per_user("auc")[~known]).all()
    assert counted.values()["auc"] == result.ranking.evaluation.values()["auc"]


def test_they_are_not_asked_for_alone():
    with pytest.raises(ConfigError, match=r"auc need metrics of lists as well; add metrics=\[ranking\]"):
        experiment(("auc",))


def test_lists_alone_give_the_part_of_the_suite_that_they_can():
    one = evaluate({"ann": [1, 2]}, {"ann": [2]}, metrics="curves", cutoffs=(2,), n_items=5)
    assert {result.name for result in one.results} == {
        *("list_auc", "partial_auc", "pap", "limited_auc", "completed_auc")
    }
