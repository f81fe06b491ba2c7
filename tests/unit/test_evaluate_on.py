"""Evaluating on validation rows, and training the final model on them, too."""

import numpy as np
import pytest

from recgauge.conventions import get_convention
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.experiment import prepare, run_experiment
from recgauge.models.recommend import rows_to_fit
from recgauge.models.svd import SVD
from recgauge.splits import RandomRows, StrongGeneralisation
from recgauge.utils.progress import NoProgress, Timings
from recgauge.utils.randomness import stream
from small_runs import experiment as small


def experiment(**changes):
    return small(**{"splitter": RandomRows(validation_size=0.1)} | changes)


def pairs(rows):
    return set(zip(rows.user.tolist(), rows.item.tolist(), strict=True))


def parts(**changes):
    return prepare(experiment(**changes), Timings(NoProgress())).split


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
    assert pairs(final.test) == pairs(whole.test)
    assert final.validation is None
    n_rows = f"{len(whole.train):,} training and {len(whole.validation):,} validation rows"
    assert final.steps[-1].note == f"train is {n_rows} (fit_on=train_validation)"


def test_a_model_may_learn_from_every_row_where_an_article_leaks(demo):
    whole = parts()
    rows = rows_to_fit(whole, "all")
    assert pairs(rows) == pairs(demo.interactions)
    assert len(rows) == len(whole.train) + len(whole.validation) + len(whole.test)
    with pytest.raises(ConfigError, match="fit_on must be one of train, train_validation, all; got 'test'"):
        rows_to_fit(whole, "test")


def test_held_out_validation_users_become_training_users():
    splitter = StrongGeneralisation(n_test=0.1, n_validation=0.1)
    whole = parts(splitter=splitter, model=SVD())
    final = parts(splitter=splitter, model=SVD(), fit_on="train_validation")
    moved = np.unique(whole.validation.user)
    assert len(final.train) + len(final.fold_in) == sum(
        len(part) for part in (whole.train, whole.fold_in, whole.validation)
    )
    assert not set(moved.tolist()) & set(final.fold_in.user.tolist())
    assert set(moved.tolist()) <= set(final.train.user.tolist())


@pytest.mark.parametrize("fit_on", ["train_validation", "all"])
def test_a_model_that_saw_the_validation_rows_is_not_evaluated_on_them(fit_on):
    with pytest.raises(ConfigError, match="evaluate_on=validation"):
        experiment(evaluate_on="validation", fit_on=fit_on)


@pytest.mark.parametrize("change", [{"evaluate_on": "validation"}, {"fit_on": "train_validation"}])
def test_a_split_without_validation_rows_says_how_to_hold_some_out(change):
    with pytest.raises(EmptySplitError, match="validation_size"):
        parts(splitter=RandomRows(test_size=0.2), **change)


def test_no_list_holds_a_row_that_is_not_judged():
    whole = parts()
    ranking = run_experiment(experiment(model=SVD(n_factors=4))).ranking
    listed = {
        (int(user), int(item))
        for user, items in zip(ranking.top_k.users, ranking.top_k.items, strict=True)
        for item in items
    }
    assert not listed & (pairs(whole.train) | pairs(whole.validation))
    assert ranking.candidates.excluded.nnz == len(whole.train) + len(whole.validation)
