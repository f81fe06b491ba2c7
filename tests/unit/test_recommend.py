"""Users and lists that are not those asked for are refused."""

import numpy as np
import pytest
from scipy import sparse

from recgauge import recommend
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


def test_scores_of_other_items_are_refused_with_the_model():
    with pytest.raises(ScoreError, match=r"^FixedScores: score\(users\) must return one score for every"):
        recommend(FixedScores(np.zeros((3, 4))), np.array([0]), 2, excluded=sparse.csr_array((3, 5)))


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
