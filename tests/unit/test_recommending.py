import numpy as np
import pytest

from recgauge.data.lists import TopK
from recgauge.errors import ScoreError
from recgauge.models import Factors, Recommender
from recgauge.models.recommend import recommend
from recgauge.models.svd import SVD


class FixedScores(Recommender):
    """Gives the scores that it was made with."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=np.float32)

    def fit(self, train, *, rng):
        return self

    def score(self, users):
        return self.scores[users]


def test_errors_name_the_model_whose_factors_diverged():
    model = SVD(1)
    model._factors = Factors(np.array([[np.nan]]), np.ones((3, 1)))
    with pytest.raises(ScoreError, match=r"SVD: user factors must be finite.*Did training diverge"):
        recommend(model, np.array([0], dtype=np.int32), 1)


def test_progress_counts_every_user(progress):
    recommend(FixedScores(np.zeros((9, 4))), np.arange(9, dtype=np.int32), 2, progress=progress)
    assert progress.steps == [("recommend", 9, "users", [9])]


def test_lists_of_another_shape_than_scores_are_refused():
    with pytest.raises(ScoreError, match="shape"):
        TopK(np.array([0]), np.zeros((1, 2), np.int32), np.zeros((1, 3)))
