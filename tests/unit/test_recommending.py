from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from recgauge.data.top_k import TopK
from recgauge.engine import ItemWeights
from recgauge.errors import ScoreError
from recgauge.models import Factors, Recommender
from recgauge.models.recommend import recommend
from recgauge.models.svd import SVD
from recgauge.utils.progress import NoProgress
from recgauge.utils.randomness import stream


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


class OnlyScores(FixedScores):
    """Scores of another model, without its factors."""

    def __init__(self, model):
        self.score = model.score


@pytest.mark.parametrize("kind", [lambda model: model, OnlyScores], ids=["factors", "scores"])
def test_memory_threads_and_order_of_users_change_neither_list_nor_score(demo, kind):
    train = demo.interactions
    model = kind(SVD(8).fit(train, rng=stream(0, "fit")))
    users, seen = np.arange(200, dtype=np.int32), train.to_csr()
    whole = recommend(model, users, 20, excluded=seen, n_threads=1)
    for memory_mib in (1, 2, 64):
        for n_threads in (1, 2):
            other = recommend(model, users, 20, excluded=seen, memory_mib=memory_mib, n_threads=n_threads)
            assert np.array_equal(whole.items, other.items)
            assert np.array_equal(whole.scores, other.scores)
    backwards = recommend(model, users[::-1].copy(), 20, excluded=seen)
    assert np.array_equal(whole.items, backwards.items[::-1])
    assert np.array_equal(whole.scores, backwards.scores[::-1])


class Neighbors(FixedScores):
    """Gives item weights instead of scores."""

    def __init__(self, weights):
        self.weights = weights

    def item_weights(self):
        return self.weights


def test_item_weights_are_summed_over_a_users_items(demo, rng):
    rows = demo.interactions.to_csr().astype(np.float32)
    weights = rng.integers(-3, 4, (rows.shape[1],) * 2).astype(np.float32)  # sums are exact: any order
    users = np.arange(50, dtype=np.int32)
    expected = recommend(FixedScores(rows @ weights), users, 10, excluded=rows)
    for form in (weights, sparse.csr_array(weights)):
        lists = recommend(Neighbors(ItemWeights(rows, form)), users, 10, excluded=rows)
        assert np.array_equal(lists.items, expected.items)
        assert np.array_equal(lists.scores, expected.scores)


def test_errors_name_the_model_whose_factors_diverged():
    model = SVD(1)
    model._factors = Factors(np.array([[np.nan]]), np.ones((3, 1)))
    with pytest.raises(ScoreError, match=r"SVD: user factors must be finite.*Did training diverge"):
        recommend(model, np.array([0], dtype=np.int32), 1)


def test_progress_counts_every_user():
    seen = []

    class Counting(NoProgress):
        @contextmanager
        def step(self, name, total, unit):
            seen.append((name, total, unit))
            yield lambda done: seen.append(done)

    recommend(FixedScores(np.zeros((9, 4))), np.arange(9, dtype=np.int32), 2, progress=Counting())
    assert seen[0] == ("recommend", 9, "users")
    assert sum(seen[1:]) == 9


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


def test_lists_of_another_shape_than_scores_are_refused():
    with pytest.raises(ScoreError, match="shape"):
        TopK(np.array([0]), np.zeros((1, 2)), np.zeros((1, 3)))
