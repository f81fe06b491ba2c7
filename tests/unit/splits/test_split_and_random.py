import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
from recgauge.splits.shares import RandomPerUser, RandomRows
from recgauge.utils.randomness import stream

STRATEGIES = (RandomRows, RandomPerUser)


def pairs(part):
    return set(zip(part.user.tolist(), part.item.tolist(), strict=True))


def test_share_of_each_users_rows_is_exact(demo):
    split = RandomPerUser(test_size=0.25).split(demo.interactions, rng=stream(0, "split"))
    expected = np.rint(demo.interactions.user_counts() * 0.25)
    assert np.array_equal(split.test.user_counts(), expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "sizes", [{"test_size": 0}, {"test_size": "a"}, {"test_size": 0.6, "validation_size": 0.4}]
)
def test_shares_that_leave_nothing_are_refused(strategy, sizes):
    with pytest.raises(ConfigError, match="size"):
        strategy(**sizes)


def test_a_split_without_test_rows_is_refused():
    rows = Interactions.from_ids([1, 1], [1, 2])
    with pytest.raises(EmptySplitError, match="test has no rows"):
        RandomRows(test_size=0.1).split(rows, rng=np.random.default_rng(0))


def test_held_out_rows_of_users_without_training_rows_are_dropped_and_said():
    rows = Interactions.from_ids([1, 2, 2, 2, 2], [1, 1, 2, 3, 4])
    for seed in range(20):
        split = RandomRows(test_size=0.4).split(rows, rng=np.random.default_rng(seed))
        if split.steps[0].dropped_rows:
            assert "without training rows: 1 rows, 1 users" in str(split.steps[0])
            break
    else:
        pytest.fail("no seed held out the only row of user 1")


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


def test_parts_over_other_ids_are_refused():
    train, test = Interactions.from_ids([1], [1]), Interactions.from_ids([2], [2])
    with pytest.raises(SchemaError, match="share their id arrays"):
        Split("bad", train=train, validation=None, test=test)
