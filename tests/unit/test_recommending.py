import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from recgauge.errors import ConfigError, ScoreError
from recgauge.models import Recommender
from recgauge.models.svd import SVD
from recgauge.randomness import stream
from recgauge.recommending import TopK, recommend


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
    st.integers(1, 5),
)
def test_lists_equal_a_plain_sort_with_ties_to_the_lower_code(scores, barred, k, block_users):
    users = np.arange(4, dtype=np.int32)
    lists = recommend(
        FixedScores(scores), users, k, excluded=sparse.csr_array(barred), block_users=block_users
    )
    assert lists.items.tolist() == sorted_lists(scores, barred, k)
    assert np.array_equal(lists.lengths, np.minimum(k, (~barred).sum(axis=1)))
    assert np.isneginf(lists.scores[lists.items < 0]).all()


def test_block_size_and_order_of_users_change_no_list(demo):
    train = demo.interactions
    model = SVD(8).fit(train, rng=stream(0, "fit"))
    users, seen = np.arange(200, dtype=np.int32), train.to_csr()
    whole = recommend(model, users, 20, excluded=seen)
    for block_users in (1, 7, 64):
        other = recommend(model, users, 20, excluded=seen, block_users=block_users)
        assert np.array_equal(whole.items, other.items)
        assert np.array_equal(whole.scores, other.scores)
    backwards = recommend(model, users[::-1].copy(), 20, excluded=seen)
    assert np.array_equal(whole.items, backwards.items[::-1])


def test_seen_items_never_return(demo):
    train = demo.interactions
    model = SVD(8).fit(train, rng=stream(0, "fit"))
    lists = recommend(model, np.arange(100, dtype=np.int32), 50, excluded=train.to_csr())
    seen = train.to_csr().todense() != 0
    listed = lists.items >= 0
    assert not (np.take_along_axis(seen[lists.users], lists.items, axis=1) & listed).any()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.0, np.nan]], "must be finite"),
        ([[0.0, np.inf]], "must be finite"),
        ([0.0], r"must return shape \(1, n_items\)"),
    ],
)
def test_scores_that_cannot_be_ranked_are_refused(scores, message):
    with pytest.raises(ScoreError, match=message):
        recommend(FixedScores(scores), np.array([0], dtype=np.int32), 1)


def test_k_of_zero_is_refused():
    with pytest.raises(ConfigError, match=r"k must be a whole number >= 1, got 0"):
        recommend(FixedScores([[1.0]]), np.array([0], dtype=np.int32), 0)


def test_lists_of_another_shape_than_scores_are_refused():
    with pytest.raises(ScoreError, match="shape"):
        TopK(np.array([0]), np.zeros((1, 2)), np.zeros((1, 3)))
