"""Lists of a model, and what an interactive session shows of the objects of a run."""

import numpy as np
import pytest

from recgauge import SVD, Demo, RandomRows, Relevant, evaluate, recommend, stream
from recgauge.data.lists import TopK
from recgauge.errors import ConfigError, ScoreError
from recgauge.models import Recommender


class FixedScores(Recommender):
    """Gives the scores that it was made with."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=np.float32)

    def fit(self, train, *, rng):
        return self

    def score(self, users):
        return self.scores[users]


@pytest.mark.parametrize("users", [["ann"], [0.5], [-1], [True], [[0]], [1, 1]])
def test_users_that_are_no_codes_are_refused(users):
    with pytest.raises(ConfigError, match="recommend"):
        recommend(FixedScores(np.zeros((3, 4))), np.array(users), 2)


class FixedLists(FixedScores):
    """Gives the lists of other users, or too long ones."""

    def lists(self, users, k, candidates):
        return self.scores


@pytest.mark.parametrize("lists", [TopK([1], [[0]], [[1]]), TopK([0], [[0, 1]], [[2, 1]]), [[0]]])
def test_lists_of_other_users_are_refused_with_the_model(lists):
    model = FixedLists(np.zeros((3, 4)))
    model.scores = lists
    with pytest.raises(ScoreError, match="FixedLists"):
        recommend(model, np.array([0], np.int32), 1)


@pytest.fixture(scope="module")
def objects():
    dataset = Demo().load()
    split = RandomRows(test_size=0.2).split(dataset.interactions, rng=stream(0, "split"))
    model = SVD(n_factors=4).fit(split.train, rng=stream(0, "fit"))
    relevant = Relevant.from_interactions(split.test, relevant_from=4)
    lists = recommend(model, relevant.users, k=10, excluded=split.train.to_csr())
    return {
        "Dataset(demo: 60,000 rows, 1,000 users, 1,500 items; explicit, relevant from 4)": dataset,
        "Interactions(60,000 rows, 1,000 users, 1,500 items, with times)": dataset.interactions,
        "Split(random: train 48,000 rows, test 12,000 rows)": split,
        f"Relevant(937 users, {len(relevant.items):,} relevant items)": relevant,
        "TopK(937 users, k=10)": lists,
        "Evaluation(937 users: ndcg@5 ": evaluate(lists, relevant, metrics=("ndcg", "map"), cutoffs=(5, 10)),
    }


def test_each_is_one_short_line(objects):
    for line, value in objects.items():
        assert repr(value).startswith(line)
        assert len(repr(value)) < 110
        assert "\n" not in repr(value)


def test_an_evaluation_is_a_small_table_in_a_notebook(objects):
    html = [*objects.values()][-1]._repr_html_()
    assert html.startswith("<table>")
    assert len(html) < 3000
