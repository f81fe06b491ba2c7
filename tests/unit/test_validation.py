"""Validation rows: evaluating on them, training the final model on them, learning curves, early stopping."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from recgauge.conventions import get_convention
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.evaluation.learning import Learning, watched_metric
from recgauge.experiment import prepare, run_experiment
from recgauge.models import EpochModel, FactorModel, Factors
from recgauge.models.popularity import Popularity
from recgauge.models.recommend import rows_to_fit
from recgauge.models.svd import SVD
from recgauge.splits import RandomRows
from recgauge.utils.progress import Progress, Timings
from recgauge.utils.randomness import stream
from small_runs import experiment as small


def experiment(**changes):
    return small(**{"splitter": RandomRows(validation_size=0.1)} | changes)


def pairs(rows):
    return set(zip(rows.user.tolist(), rows.item.tolist(), strict=True))


def parts(**changes):
    return prepare(experiment(**changes), Timings(Progress())).split


def test_a_run_on_validation_rows_has_no_test_rows():
    whole, chosen_by = parts(), parts(evaluate_on="validation")
    assert chosen_by.evaluated == "validation"
    assert chosen_by.validation is None
    assert pairs(chosen_by.test) == pairs(whole.validation)
    assert pairs(chosen_by.train) == pairs(whole.train)
    assert not pairs(chosen_by.test) & pairs(whole.test)


def test_its_numbers_are_those_of_a_split_whose_test_part_is_the_validation_part():
    whole = parts()
    metrics = {"recall": get_convention("standard").definition("recall")}
    result = run_experiment(experiment(evaluate_on="validation", metrics=metrics, model=SVD(n_factors=4)))
    model = SVD(n_factors=4).fit(whole.train, rng=stream(0, "fit"))
    wanted = whole.validation.take(whole.validation.value >= result.dataset.relevant_from)
    recalls = []
    for user in np.unique(wanted.user):
        scores = model.score(np.array([user], np.int32))[0]
        scores[whole.train.item[whole.train.user == user]] = -np.inf
        items = wanted.item[wanted.user == user]
        recalls.append(np.isin(items, np.argsort(-scores)[:10]).mean())
    assert result.ranking.evaluation.results[0].value == pytest.approx(np.mean(recalls), abs=1e-12)


def test_the_final_model_may_learn_from_validation_rows():
    whole, final = parts(), parts(fit_on="train_validation")
    assert pairs(final.train) == pairs(whole.train) | pairs(whole.validation)
    assert (pairs(final.test), final.validation) == (pairs(whole.test), None)
    words = f"{len(whole.train):,} training and {len(whole.validation):,} validation rows"
    step = (f"train is {words} (fit_on=train_validation)", (len(whole.train), len(final.train)))
    assert (final.steps[-1].note, final.steps[-1].rows) == step


def test_a_model_may_learn_from_every_row_where_an_article_leaks(demo):
    whole = parts()
    rows = rows_to_fit(whole, "all")
    assert pairs(rows) == pairs(demo.interactions)
    assert len(rows) == len(whole.train) + len(whole.validation) + len(whole.test)
    with pytest.raises(ConfigError, match="fit_on must be one of train, train_validation, all; got 'test'"):
        rows_to_fit(whole, "test")


@pytest.mark.parametrize("fit_on", ["train_validation", "all"])
def test_a_model_that_saw_the_validation_rows_is_not_evaluated_on_them(fit_on):
    with pytest.raises(ConfigError, match="evaluate_on=validation"):
        experiment(evaluate_on="validation", fit_on=fit_on)


@pytest.mark.parametrize("change", [{"evaluate_on": "validation"}, {"fit_on": "train_validation"}])
def test_a_split_without_validation_rows_says_how_to_hold_some_out(change):
    with pytest.raises(EmptySplitError, match="validation_size"):
        parts(splitter=RandomRows(test_size=0.2), **change)


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


def learning_experiment(learning, **changes):
    settings = {"splitter": RandomRows(validation_size=0.1), "model": Wavering(), "cutoffs": (5, 10)}
    return small(("ndcg", "recall"), learning=learning, **settings | changes)


def value(result):
    return result.ranking.evaluation.values()["ndcg_at_10"]


def test_a_curve_has_loss_and_validation_value_of_every_epoch():
    result = run_experiment(learning_experiment(Learning("ndcg_at_10")))
    assert [point.epoch for point in result.learned] == [1, 2, 3, 4, 5, 6]
    assert [point.loss for point in result.learned] == [1 / epoch for epoch in range(1, 7)]
    values = [point.value for point in result.learned]
    assert max(values) == values[2] > values[0]


def test_training_ends_early_and_keeps_the_best_epoch():
    result = run_experiment(learning_experiment(Learning("ndcg_at_10", patience=2)))
    assert [point.epoch for point in result.learned] == [1, 2, 3, 4, 5]
    assert value(result) == value(run_experiment(learning_experiment(None, model=Wavering(n_epochs=3))))


def test_nobody_looks_at_test_rows():
    """With every test row another one, the curve is the same."""
    splitter = RandomRows(test_size=0.2, validation_size=0.1)
    here = learning_experiment(Learning("ndcg_at_10"), splitter=splitter)
    on_validation = replace(here, evaluate_on="validation")
    curves = [[p.value for p in run_experiment(each).learned] for each in (here, on_validation)]
    assert curves[0] == curves[1]


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(ConfigError, match="Popularity does not learn in epochs"):
        run_experiment(learning_experiment(Learning(), model=Popularity()))
    with pytest.raises(ConfigError, match="ndcg@20 is not a result"):
        run_experiment(learning_experiment(Learning("ndcg_at_20")))
    with pytest.raises(ConfigError, match="rmse is not a result"):
        run_experiment(learning_experiment(Learning("rmse")))
    with pytest.raises(EmptySplitError, match="no validation rows"):
        run_experiment(learning_experiment(Learning(), splitter=RandomRows()))


def test_models_that_predict_ratings_are_chosen_by_their_error():
    metrics = {name: get_convention("standard").definition(name) for name in ("ndcg", "rmse")}
    assert watched_metric(None, metrics, (10,))[0] == "ndcg_at_10"
    assert watched_metric(None, metrics, (10,), rates=True)[0] == "rmse"
    assert watched_metric(None, {"ndcg": metrics["ndcg"]}, (10,), rates=True)[0] == "ndcg_at_10"


def test_looking_every_second_epoch_and_at_the_last():
    result = run_experiment(learning_experiment(Learning("recall_at_5", every=4)))
    assert [point.epoch for point in result.learned if point.value is not None] == [4, 6]
