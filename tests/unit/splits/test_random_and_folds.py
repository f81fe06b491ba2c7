"""Random shares, folds, and sessions that stay whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge import splits
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
from recgauge.splits.folds import KFold, KFoldUsers, SurpriseKFold
from recgauge.splits.shares import RandomPerUser
from recgauge.utils.randomness import stream

# Test rows of KFold(n_splits, random_state) of Surprise (its own code at commit 2381fb1), each sorted.
SURPRISE = {
    (23, 5, 0): [[10, 11, 14, 20, 21], [1, 8, 13, 16, 22], [2, 4, 5, 6, 17], [7, 9, 18, 19], [0, 3, 12, 15]],
    (12, 4, 7): [[2, 7, 10], [0, 1, 5], [3, 8, 11], [4, 6, 9]],
}


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


def test_share_of_each_users_rows_is_exact(demo):
    split = RandomPerUser(test_size=0.25).split(demo.interactions, rng=stream(0, "split"))
    expected = np.rint(demo.interactions.user_counts() * 0.25)
    assert np.array_equal(split.test.user_counts(), expected)


def test_pairs_may_repeat_only_where_the_guard_tells_them():
    rows = Interactions.from_ids([1, 1, 2, 2], [1, 2, 1, 2])
    part, twice = rows.take(np.array([0, 2])), rows.take(np.array([0, 0]))
    first = rows.take(np.array([0]))
    for train, validation, test in (
        (rows, None, part),
        (rows.take(np.array([1, 3])), first, part),
        (rows.take(np.array([1, 3])), None, twice),
    ):
        with pytest.raises(SchemaError, match=r"repeat \(user, item\) pairs .*filters=\[duplicates\]"):
            Split("bad", train, validation, test)
        assert len(Split("repeats", train, validation, test, overlap=True).test) == 2


STRATEGIES = (
    splits.RandomRows(test_size=0.4, validation_size=0.2, whole="session"),
    splits.RandomPerUser(test_size=0.4, whole="session"),
    splits.TemporalFraction(test_size=0.4, validation_size=0.2, whole="session"),
    splits.TemporalPerUser(test_size=0.4, whole="session"),
    splits.LeaveLastOut(n=1, n_validation=1, whole="session"),
    splits.LeaveRandomOut(whole="session"),
    splits.KFold(n_splits=3, whole="session"),
    splits.NextItem(quantile=0.5, target="all", whole="session"),
)


@st.composite
def sessions(draw):
    """Rows of sessions of one user each, which may overlap in time, in any order."""
    rows = []
    for session in range(draw(st.integers(3, 12))):
        user, begin = draw(st.integers(0, 3)), draw(st.integers(0, 50))
        items = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
        rows += [
            (user, item, 1_500_000_000 + 60 * (begin + step), session) for step, item in enumerate(items)
        ]
    users, items, times, names = zip(*draw(st.permutations(rows)), strict=True)
    return Interactions.from_ids(users, items, None, times, {"session": names})


@given(sessions(), st.sampled_from(STRATEGIES))
def test_no_session_is_in_two_parts(rows, strategy):
    try:
        split = strategy.split(rows, rng=np.random.default_rng(0), overlap=True)
    except EmptySplitError:
        return
    parts = [part for part in (split.train, split.validation, split.test) if part is not None]
    seen = [set(part.attributes["session"].codes.tolist()) for part in parts]
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_a_users_last_session_is_held_out_with_all_its_rows():
    names = {"order": ["a", "b", "b", "a"]}
    rows = Interactions.from_ids([1, 1, 1, 1], [1, 2, 3, 4], None, [10, 20, 30, 11], names)
    split = splits.LeaveLastOut(whole="order").split(rows, rng=np.random.default_rng(0))
    assert split.test.item_ids[split.test.item].tolist() == [2, 3]


def test_a_session_of_two_users_and_a_column_that_is_not_there_are_refused():
    rows = Interactions.from_ids([1, 2], [1, 2], attributes={"order": ["a", "a"]})
    with pytest.raises(SchemaError, match="several users"):
        splits.RandomRows(whole="order").split(rows, rng=np.random.default_rng(0))
    with pytest.raises(SchemaError, match="session"):
        splits.RandomRows(whole="session").split(rows, rng=np.random.default_rng(0))
