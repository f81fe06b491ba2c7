"""Sessions and orders stay whole in every strategy that is given their column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge import splits
from recgauge.data.interactions import Interactions
from recgauge.errors import EmptySplitError, SchemaError

STRATEGIES = (
    splits.RandomRows(test_size=0.4, validation_size=0.2, whole="session"),
    splits.RandomPerUser(test_size=0.4, whole="session"),
    splits.TemporalFraction(test_size=0.4, validation_size=0.2, whole="session"),
    splits.TemporalPerUser(test_size=0.4, whole="session"),
    splits.LeaveLastOut(n=1, n_validation=1, whole="session"),
    splits.LeaveRandomOut(whole="session"),
    splits.KFold(n_splits=3, whole="session"),
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
