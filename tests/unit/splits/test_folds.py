import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits.folds import KFold, KFoldUsers, SurpriseKFold
from recgauge.utils.randomness import stream

# Test rows of KFold(n_splits, random_state) of Surprise (its own code at commit 2381fb1), each sorted.
SURPRISE = {
    (23, 5, 0): [[10, 11, 14, 20, 21], [1, 8, 13, 16, 22], [2, 4, 5, 6, 17], [7, 9, 18, 19], [0, 3, 12, 15]],
    (12, 4, 7): [[2, 7, 10], [0, 1, 5], [3, 8, 11], [4, 6, 9]],
}
# The same of 100,000 rows, five folds and random_state 0: sha256 of the sorted int64 row numbers.


def plain(n_rows):
    return Interactions.from_ids(np.arange(n_rows) % 7, np.arange(n_rows))


def held_out(splitter, rows, seed=0):
    return np.flatnonzero(splitter.assign(rows, rng=np.random.default_rng(seed)).test)


@pytest.mark.parametrize(("n_rows", "n_splits", "seed"), SURPRISE)
def test_the_folds_of_surprise(n_rows, n_splits, seed):
    for fold, expected in enumerate(SURPRISE[n_rows, n_splits, seed]):
        splitter = SurpriseKFold(n_splits=n_splits, fold=fold, random_state=seed)
        assert held_out(splitter, plain(n_rows), seed=fold).tolist() == expected


@pytest.mark.parametrize("kind", [KFold, SurpriseKFold])
def test_every_row_is_tested_once_and_folds_are_even(kind):
    folds = [held_out(kind(n_splits=4, fold=fold), plain(22)) for fold in range(4)]
    assert sorted(np.concatenate(folds).tolist()) == list(range(22))
    assert sorted(map(len, folds)) == [5, 5, 6, 6]


def test_every_user_is_tested_once_by_the_same_rows_whichever_fold(demo):
    rng = lambda: stream(0, "split")  # noqa: E731 - a fresh stream each time
    splits = [KFoldUsers(fold=fold).split(demo.interactions, rng=rng()) for fold in range(5)]
    tested = np.concatenate([split.test_users for split in splits])
    assert len(tested) == len(set(tested.tolist())) == demo.interactions.n_users


def test_validation_is_the_next_fold():
    rows = plain(20)
    for fold, following in ((0, 1), (3, 0)):
        validation = KFold(n_splits=4, fold=fold, validation=True).assign(rows, rng=np.random.default_rng(0))
        expected = KFold(n_splits=4, fold=following).assign(rows, rng=np.random.default_rng(0))
        assert np.array_equal(validation.validation, expected.test)


@pytest.mark.parametrize("kind", [KFold, SurpriseKFold, KFoldUsers])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fold": 5}, "from 0 to 4, got 5"),
        ({"n_splits": 1}, "n_splits must be a whole number >= 2"),
        ({"n_splits": 2, "validation": True}, "n_splits must be a whole number >= 3"),
    ],
)
def test_folds_that_there_are_not_are_refused(kind, settings, message):
    with pytest.raises(ConfigError, match=message):
        kind(**settings)


@pytest.mark.parametrize(("kind", "what"), [(KFold, "rows"), (KFoldUsers, "users")])
def test_more_folds_than_there_are_rows_or_users_are_refused(kind, what):
    with pytest.raises(EmptySplitError, match=f"9 folds need at least as many {what}, there are"):
        kind(n_splits=9).split(plain(8), rng=np.random.default_rng(0))
