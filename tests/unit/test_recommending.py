import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from recgauge.data.top_k import TopK
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


def sorted_lists(scores, barred, k):
    """Rank by plain Python: score falling, then code rising."""
    lists = []
    for row, out in zip(scores.tolist(), barred.tolist(), strict=True):
        ranked = sorted((-score, code) for code, score in enumerate(row) if not out[code])[:k]
        lists.append([code for _, code in ranked] + [-1] * (k - len(ranked)))
    return lists


@given(
    hnp.arrays(np.float32, (4, 6), elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0])),
    hnp.arrays(np.bool_, (4, 6)),
    st.integers(1, 8),
    st.integers(1, 64),
    st.integers(1, 3),
)
def test_lists_equal_a_plain_sort_with_ties_to_the_lower_code(scores, barred, k, memory_mib, n_threads):
    users = np.arange(4, dtype=np.int32)
    lists = recommend(
        FixedScores(scores),
        users,
        k,
        excluded=sparse.csr_array(barred),
        memory_mib=memory_mib,
        n_threads=n_threads,
    )
    assert lists.items.tolist() == sorted_lists(scores, barred, k)
    assert np.array_equal(lists.lengths, np.minimum(k, (~barred).sum(axis=1)))
    assert np.isneginf(lists.scores[lists.items < 0]).all()


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
        TopK(np.array([0]), np.zeros((1, 2)), np.zeros((1, 3)))
