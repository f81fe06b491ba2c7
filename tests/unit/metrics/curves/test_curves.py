"""Curves and areas of full rankings: against loops over pairs, lists and scikit-learn; means; in a run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from beyond_lists import judged_lists
from recgauge import Popularity, evaluate
from recgauge.data.catalogue import Catalogue
from recgauge.errors import ConfigError, MetricError, SchemaError
from recgauge.experiment import run_experiment
from recgauge.metrics.curves import precision_recall_curve, precision_recall_over_k, roc_curve
from recgauge.metrics.curves.full_ranking import AUC, FullRankings, mean_roc, rank_one
from small_runs import experiment


@pytest.mark.parametrize(
    ("relevant", "scores", "error", "message"),
    [
        ([], [], SchemaError, "relevant must be one column with at least one row"),
        ([1, 0], [1.0, float("nan")], SchemaError, "scores must be numbers in every row, got NaN"),
        ([0, 0], [1.0, 2.0], MetricError, "undefined without a relevant row"),
    ],
)
def test_wrong_columns(relevant, scores, error, message):
    for function in (rank_one, roc_curve, precision_recall_curve):
        with pytest.raises(error, match=message):
            function(relevant, scores)


N_ITEMS = 9
CUTOFFS = st.integers(1, 8)


@st.composite
def cases(draw):
    """Lists and relevant items of some users, and how many items each has seen in training."""
    n_users = draw(st.integers(1, 4))
    items = st.permutations(range(2, N_ITEMS))  # 0 and 1 were seen in training
    lists = [draw(items)[: draw(st.integers(0, 6))] for _ in range(n_users)]
    relevant = [sorted(draw(items)[: draw(st.integers(1, 5))]) for _ in range(n_users)]
    return lists, relevant


def judged(lists, relevant, catalogue=True):
    seen = sparse.csr_array(np.tile(np.arange(N_ITEMS) < 2, (len(lists), 1)).astype(np.int8))
    return judged_lists(lists, relevant, catalogue=Catalogue(N_ITEMS, seen=seen) if catalogue else None)


@given(case=cases(), max_k=CUTOFFS)
def test_precision_and_recall_over_k(case, max_k):
    lists, relevant = case
    curve = precision_recall_over_k(judged(lists, relevant), max_k)
    for k, precision, recall in zip(curve.k, curve.precision, curve.recall, strict=True):
        hits = [sum(item in own for item in one[:k]) for one, own in zip(lists, relevant, strict=True)]
        assert precision == pytest.approx(np.mean(hits) / k)
        assert recall == pytest.approx(np.mean([h / len(own) for h, own in zip(hits, relevant, strict=True)]))


CANDIDATES = st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.3, 0.4])), min_size=2, max_size=9)


def places_of(users):
    return FullRankings.merge([rank_one(*zip(*rows, strict=True)) for rows in users])


def has_both(rows):
    return 0 < sum(relevant for relevant, _ in rows) < len(rows)


@given(users=st.lists(CANDIDATES.filter(has_both), min_size=1, max_size=5))
def test_area_under_the_mean_is_the_mean_area(users):
    curve = mean_roc(places_of(users))
    assert curve.area() == pytest.approx(AUC().value(places_of(users)))
    assert curve.area() == pytest.approx(
        np.mean([roc_curve(*zip(*rows, strict=True)).area() for rows in users])
    )
    for rates in (curve.false_positive_rate, curve.true_positive_rate):
        assert (rates[0], rates[-1]) == (0, 1)
        assert (np.diff(rates) >= 0).all()


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
