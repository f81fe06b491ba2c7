"""Every guard on data made to fire it, and on data where it must stay silent."""

import numpy as np
import pytest

from recgauge.candidates import CandidateItems, OwnTestItems
from recgauge.candidates.named import AllowList
from recgauge.data.interactions import Interactions, pairs_matrix
from recgauge.data.lists import Relevant
from recgauge.data.split import Split
from recgauge.errors import ConfigError
from recgauge.guards import GuardSettings
from recgauge.guards.checks import check_candidates, check_selection, check_split
from recgauge.splits.shares import RandomRows
from recgauge.utils.randomness import stream

N_USERS, N_ITEMS = 4, 20


def rows(pairs, times=None, values=None):
    user, item = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    values = np.full(len(user), 5.0) if values is None else values
    return Interactions(user, item, values, times, np.arange(N_USERS), np.arange(N_ITEMS))


def guards(train, test, validation=None, temporal=False, relevant_from=4):
    split = Split("made", train, validation, test)
    relevant = Relevant.from_interactions(test, relevant_from)
    return {result.name: result for result in check_split(split, relevant, temporal=temporal)}


TRAIN = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 3)]


def test_a_plain_random_split_fires_nothing(demo):
    split = RandomRows().split(demo.interactions, rng=stream(0, "split"))
    relevant = Relevant.from_interactions(split.test, 4)
    results = check_split(split, relevant, temporal=False)
    assert not [result for result in results if result.fired]
    assert {result.name for result in results} >= {"overlap", "unknown_items", "users_skipped"}


def test_test_rows_that_repeat_each_other_or_a_validation_row():
    test, validation = rows([(2, 0), (2, 0), (3, 1), (1, 1)]), rows([(3, 1)])
    split = Split("made", rows(TRAIN), validation, test, overlap=True)
    overlap = check_split(split, Relevant.from_interactions(test, 4), temporal=False)[0]
    assert (overlap.level, overlap.value) == ("error", 0.5)
    assert "1 in validation, 1 an earlier test row" in overlap.message


@pytest.mark.parametrize(("temporal", "level"), [(False, "note"), (True, "error")])
def test_training_rows_after_test_rows(temporal, level):
    train = rows(TRAIN, np.array([1, 9, 5, 5, 5]))
    test = rows([(0, 2), (1, 1), (0, 3)], np.array([4, 5, 12]))
    found = guards(train, test, temporal=temporal)
    assert (found["train_after_test"].value, found["train_after_test"].level) == (0.5, level)
    assert found["train_after_cut"].value == pytest.approx(4 / 5)
    if temporal:
        assert "claims to keep time order" in found["train_after_test"].message


def test_users_whose_rows_of_one_time_are_in_two_parts():
    """User 0 is cut inside a group of equal times, user 1 between times, user 2 before test alone."""
    train = rows([(0, 0), (0, 1), (1, 0), (1, 2), (2, 3)], np.array([1, 5, 5, 5, 5]))
    test = rows([(0, 2), (1, 1), (2, 4)], np.array([5, 6, 8]))
    validation = rows([(2, 5)], np.array([8]))

    def ties(train, validation, test, rule):
        relevant = Relevant.from_interactions(test, 4)
        split = Split("made", train, validation, test)
        found = check_split(split, relevant, temporal=True, ties=rule)
        return next((result for result in found if result.name == "ties_at_cut"), None)

    found = ties(train, validation, test, "item_id")
    assert (found.value, found.level) == (pytest.approx(2 / 3), "warning")
    assert "2 of 3 test users" in found.message
    assert "split.ties=item_id" in found.message
    assert ties(train, None, test, "item_id").value == pytest.approx(1 / 3)
    later = rows([(0, 2), (1, 1), (2, 4)], np.array([6, 6, 8]))
    assert (ties(train, None, later, "random").value, ties(train, None, later, "random").level) == (
        0.0,
        "note",
    )
    assert ties(train, None, test, None) is None  # the strategy does not order a user's rows


def test_items_first_seen_after_the_last_training_row():
    train, test = rows(TRAIN, np.arange(5)), rows([(0, 3), (1, 9), (2, 9)], np.array([9, 8, 9]))
    found = guards(train, test)["new_test_items"]
    assert (found.value, found.level) == (0.5, "warning")
    validation = rows([(3, 9)], np.array([2]))  # known before the cut, though not to train
    assert guards(train, test, validation)["new_test_items"].value == 0.0


@pytest.mark.parametrize(
    ("test", "value", "level"),
    [([(2, 0), (3, 1)], 0.0, "note"), ([(2, 0), (3, 9)], 0.5, "warning"), ([(2, 8), (3, 9)], 1.0, "error")],
)
def test_items_unknown_to_train(test, value, level):
    found = guards(rows(TRAIN), rows(test))["unknown_items"]
    assert (found.value, found.level) == (value, level)


def test_share_of_the_most_popular():
    found = guards(rows(TRAIN), rows([(2, 0), (3, 0), (3, 2), (0, 2)]))
    one, ten = found["test_on_top_1_percent"], found["test_on_top_10_percent"]
    assert one.value == ten.value == 0.5  # item 0 alone, in both
    assert ten.level == "note"
    assert guards(rows(TRAIN), rows([(2, 0), (3, 0)]))["test_on_top_10_percent"].level == "warning"


def test_users_without_relevant_rows():
    test = rows([(0, 2), (1, 1), (2, 1)], values=np.array([5.0, 1.0, 2.0]))
    found = guards(rows(TRAIN), test)["users_skipped"]
    assert (found.value, found.level) == (0.75, "warning")
    assert "1 have no test row, 2 no relevant one" in found.message
    assert guards(rows(TRAIN), rows([(0, 2)]))["users_skipped"].level == "note"


@pytest.fixture(scope="module")
def demo_split(demo):
    split = RandomRows().split(demo.interactions, rng=stream(0, "split"))
    return split, Relevant.from_interactions(split.test, 4)


def of_candidates(demo_split, chosen, top_k=10):
    split, relevant = demo_split
    sizes = {"n_users": split.test.n_users, "n_items": split.test.n_items}
    return {found.name: found for found in check_candidates(chosen, relevant, **sizes, top_k=top_k)}


def test_candidates_that_are_all_equally_relevant():
    test = rows([(0, 5), (0, 6), (1, 7), (2, 8)], values=np.array([4.0, 5.0, 5.0, 5.0]))
    split = Split("made", rows(TRAIN), None, test)
    own = OwnTestItems().choose(split, rng=stream(0, "candidates"))
    sizes = {"n_users": N_USERS, "n_items": N_ITEMS, "top_k": 10}

    def found(relevant_from, chosen=own):
        results = check_candidates(chosen, Relevant.from_interactions(test, relevant_from), **sizes)
        return next((one.value, one.level) for one in results if one.name == "nothing_to_order")

    assert found(None) == (1.0, "error")
    assert found(5) == (pytest.approx(2 / 3), "warning")  # user 0 has a candidate that is not relevant
    assert found(4) == (pytest.approx(2 / 3), "warning")  # user 0 has two grades to order
    assert found(None, CandidateItems()) == (0.0, "note")


def test_relevant_items_that_are_no_candidates(demo_split):
    split, relevant = demo_split
    allowed = AllowList(items=split.test.item_ids[:30].tolist()).choose(split, rng=stream(0, "candidates"))
    found = of_candidates(demo_split, allowed)["unreachable_items"]
    assert found.value == pytest.approx((relevant.items >= 30).mean())
    assert found.level == "warning"
    test = split.test
    barred = CandidateItems(excluded=pairs_matrix(test.user, test.item, (test.n_users, test.n_items)))
    assert of_candidates(demo_split, barred)["unreachable_items"].level == "error"


def test_selection_on_test():
    assert check_selection(GuardSettings(selected_on="test")).level == "warning"
    for other in (None, "validation"):
        assert check_selection(GuardSettings(selected_on=other)).level == "note"


def test_only_names_that_can_stop_a_run_are_overridden():
    with pytest.raises(ConfigError, match=r"one of overlap, train_after_test, .*got 'few_candidates'"):
        GuardSettings(("few_candidates",))
    with pytest.raises(ConfigError, match="test, validation; got 'train'"):
        GuardSettings(selected_on="train")
