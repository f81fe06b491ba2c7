"""Learning curves and early stopping: always by validation rows, never by test rows."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from recgauge.conventions import get_convention
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.evaluation.learning import Learning, watched_metric
from recgauge.experiment import run_experiment
from recgauge.models import EpochModel, FactorModel, Factors
from recgauge.models.popularity import Popularity
from recgauge.splits import RandomRows
from small_runs import experiment as small


@dataclass(eq=False)
class Wavering(EpochModel, FactorModel):
    """Scores by popularity, upside down in all epochs but the one named `good`."""

    n_epochs: int = 6
    good: int = 3

    def epochs(self, train, *, rng):
        counts = train.item_counts().astype(np.float32)[:, None]
        users = np.ones((train.n_users, 1), np.float32)
        for epoch in range(1, self.n_epochs + 1):
            self._factors = Factors(users, counts if epoch == self.good else -counts)
            yield 1.0 / epoch


def experiment(learning, **changes):
    settings = {"splitter": RandomRows(validation_size=0.1), "model": Wavering(), "cutoffs": (5, 10)}
    return small(("ndcg", "recall"), learning=learning, **settings | changes)


def value(result):
    return result.ranking.evaluation.values()["ndcg_at_10"]


def test_a_curve_has_loss_and_validation_value_of_every_epoch():
    result = run_experiment(experiment(Learning("ndcg_at_10")))
    assert [point.epoch for point in result.learned] == [1, 2, 3, 4, 5, 6]
    assert [point.loss for point in result.learned] == [1 / epoch for epoch in range(1, 7)]
    values = [point.value for point in result.learned]
    assert max(values) == values[2] > values[0]


def test_values_are_those_of_the_validation_rows():
    learned = run_experiment(experiment(Learning("ndcg_at_10"))).learned
    alone = run_experiment(experiment(None, evaluate_on="validation", model=Wavering(n_epochs=3)))
    assert learned[2].value == pytest.approx(value(alone), abs=1e-12)


def test_without_patience_the_model_is_that_of_the_last_epoch():
    watched = run_experiment(experiment(Learning("ndcg_at_10")))
    assert value(watched) == value(run_experiment(experiment(None)))


def test_training_ends_early_and_keeps_the_best_epoch():
    result = run_experiment(experiment(Learning("ndcg_at_10", patience=2)))
    assert [point.epoch for point in result.learned] == [1, 2, 3, 4, 5]
    assert value(result) == value(run_experiment(experiment(None, model=Wavering(n_epochs=3))))


def test_looking_every_second_epoch_and_at_the_last():
    result = run_experiment(experiment(Learning("recall_at_5", every=4)))
    assert [point.epoch for point in result.learned if point.value is not None] == [4, 6]


def test_nobody_looks_at_test_rows():
    """With every test row another one, the curve is the same."""
    splitter = RandomRows(test_size=0.2, validation_size=0.1)
    here = experiment(Learning("ndcg_at_10"), splitter=splitter)
    on_validation = replace(here, evaluate_on="validation")
    curves = [[p.value for p in run_experiment(each).learned] for each in (here, on_validation)]
    assert curves[0] == curves[1]


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(ConfigError, match="Popularity does not learn in epochs"):
        run_experiment(experiment(Learning(), model=Popularity()))
    with pytest.raises(ConfigError, match="ndcg_at_20 is not a result"):
        run_experiment(experiment(Learning("ndcg_at_20")))
    with pytest.raises(ConfigError, match="rmse is not a result"):
        run_experiment(experiment(Learning("rmse")))
    with pytest.raises(EmptySplitError, match="no validation rows"):
        run_experiment(experiment(Learning(), splitter=RandomRows()))


@pytest.mark.parametrize("settings", [{"every": 0}, {"patience": 0}, {"patience": "x"}])
def test_numbers_are_checked(settings):
    with pytest.raises(ConfigError, match="learning"):
        Learning(**settings)


def test_models_that_predict_ratings_are_chosen_by_their_error():
    metrics = {name: get_convention("standard").definition(name) for name in ("ndcg", "rmse")}
    assert watched_metric(None, metrics, (10,))[0] == "ndcg_at_10"
    assert watched_metric(None, metrics, (10,), rates=True)[0] == "rmse"
    assert watched_metric(None, {"ndcg": metrics["ndcg"]}, (10,), rates=True)[0] == "ndcg_at_10"
