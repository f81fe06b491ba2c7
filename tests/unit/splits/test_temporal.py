import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
from recgauge.splits.by_date import RollingWindow, TemporalDate
from recgauge.splits.folds import KFoldUsers, StrongGeneralisation
from recgauge.splits.shares import LeaveLastOut, LeaveRandomOut, TemporalFraction

DAY = 86_400


def timed(days, users=None):
    return Interactions.from_ids(
        np.ones(len(days), int) if users is None else users,
        np.arange(len(days)),
        None,
        (np.array(days) * DAY).astype(int),
    )


def days_of(part):
    return (part.timestamp // DAY).tolist()


def cut(splitter, rows):
    return splitter.split(rows, rng=np.random.default_rng(0))


def test_a_date_cuts_at_its_first_second():
    split = cut(TemporalDate("1970-01-03", validation_from="1970-01-02"), timed([0, 1, 1.5, 2, 3]))
    assert [days_of(part) for part in (split.train, split.validation, split.test)] == [[0], [1, 1], [2, 3]]


def test_rows_after_the_test_part_are_counted_not_used():
    split = cut(TemporalDate("1970-01-03", test_until="1970-01-04"), timed([0, 1, 2, 3, 4]))
    assert days_of(split.test) == [2]
    assert str(split.steps[0]) == "rows after the test part: 2 rows, 0 users, 2 items dropped"


def test_who_sets_no_date_is_told_the_span():
    with pytest.raises(ConfigError, match=r"split.test_from=DATE; the data span 1970-01-01 to 1970-01-05"):
        cut(TemporalDate(), timed([0, 4]))


@pytest.mark.parametrize(("date", "part"), [("1969-01-01", "train"), ("1999-01-01", "test")])
def test_dates_outside_the_data_are_refused_with_the_span(date, part):
    with pytest.raises(EmptySplitError, match=f"{part} has no rows; the data span 1970-01-01"):
        cut(TemporalDate(date), timed([0, 4]))


def test_rows_of_one_second_are_not_parted_by_a_fraction():
    split = cut(TemporalFraction(test_size=0.25), timed([0, 1, 2, 2, 2, 2, 1, 0]))
    assert days_of(split.test) == [2, 2, 2, 2]


def test_a_fraction_is_exact_without_ties():
    split = cut(TemporalFraction(test_size=0.2, validation_size=0.3), timed([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]))
    assert sorted(days_of(split.test)) == [8, 9]
    assert sorted(days_of(split.validation)) == [5, 6, 7]


def test_windows_follow_each_other_to_the_last_row_and_training_grows():
    rows = timed(range(12))
    windows = [cut(RollingWindow(n_windows=3, window=w, test_days=2), rows) for w in range(3)]
    assert [days_of(split.test) for split in windows] == [[6, 7], [8, 9], [10, 11]]
    assert [days_of(split.train) for split in windows] == [list(range(6)), list(range(8)), list(range(10))]
    assert [split.steps[0].dropped_rows for split in windows] == [4, 2, 0]


def test_windows_may_slide_and_have_a_validation_part():
    splitter = RollingWindow(n_windows=3, window=1, test_days=2, validation_days=1, train_days=4)
    split = cut(splitter, timed(range(12)))
    assert [days_of(part) for part in (split.train, split.validation, split.test)] == [
        [3, 4, 5, 6],
        [7],
        [8, 9],
    ]
    assert [step.dropped_rows for step in split.steps[:2]] == [2, 3]


@pytest.mark.parametrize("kind", [LeaveLastOut, LeaveRandomOut])
def test_one_row_of_everybody_is_left_out(kind, demo):
    split = kind().split(demo.interactions, rng=np.random.default_rng(0))
    assert (split.test.user_counts() == 1).all()
    assert len(split.train) == len(demo.interactions) - demo.interactions.n_users


def test_ties_favour_neither_items_of_high_code_nor_late_rows():
    """All rows of a user share one second; the one left out is then anywhere among the items."""
    users, items = np.repeat(np.arange(2000), 5), np.tile(np.arange(5), 2000)
    rows = Interactions.from_ids(users, items, None, np.zeros(10_000, int))
    counts = cut(LeaveLastOut(), rows).test.item_counts()
    assert counts.sum() == 2000
    assert np.abs(counts - 400).max() < 90  # five standard deviations of a fair draw


@pytest.mark.parametrize(("ties", "test", "validation"), [("row_order", 7, 5), ("row_order_reversed", 6, 4)])
def test_rows_without_times_are_in_the_order_of_the_table_if_that_is_the_rule(ties, test, validation):
    """Files with a user and the items on each line, oldest first, have no times."""
    rows = Interactions.from_ids([1, 2, 1, 2, 1, 1], [6, 1, 4, 2, 5, 7])
    split = cut(LeaveLastOut(n_validation=1, ties=ties), rows)
    assert [part.item_ids[part.item].tolist() for part in (split.test, split.validation)] == [
        [test],
        [validation],
    ]
    with pytest.raises(SchemaError, match=r"has none.*split\.ties=row_order"):
        cut(LeaveLastOut(), rows)


def test_random_ties_depend_on_the_seed_and_fixed_random_ties_do_not(demo):
    rows = demo.interactions
    rows = Interactions(rows.user, rows.item, rows.value, rows.timestamp // DAY, rows.user_ids, rows.item_ids)
    digests = {
        ties: {
            LeaveLastOut(ties=ties).split(rows, rng=np.random.default_rng(seed)).test.sha256()
            for seed in range(3)
        }
        for ties in ("random", "fixed_random", "row_order")
    }
    assert [len(different) for different in digests.values()] == [3, 1, 1]


@pytest.mark.parametrize("kind", [StrongGeneralisation, KFoldUsers])
def test_held_out_users_have_a_rule_for_ties_where_their_last_rows_are_hidden(kind):
    users = np.repeat(np.arange(6), 5)
    rows = Interactions.from_ids(users, np.tile([6, 4, 8, 5, 7], 6), None, np.zeros(30, int))
    for ties, item in (("row_order", 7), ("row_order_reversed", 6), ("item_id", 8), ("item_id_reversed", 4)):
        splitter = kind(pick="last", ties=ties)
        assert splitter.tie_rule == ties
        test = cut(splitter, rows).test
        assert set(test.item_ids[test.item].tolist()) == {item}
    assert kind().tie_rule is None
