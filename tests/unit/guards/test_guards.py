"""Every guard on data made to fire it and on data where it stays silent; what a number is of."""

import json

import numpy as np
import pytest

from recgauge.candidates import CandidateItems, OwnTestItems
from recgauge.candidates.named import AllowList
from recgauge.comparison.comparing import compare_values
from recgauge.comparison.user_values import RunValues, UserValues
from recgauge.data.coverage import Coverage
from recgauge.data.interactions import Interactions, pairs_matrix
from recgauge.data.lists import Relevant
from recgauge.data.split import Split
from recgauge.datasets.demo import Demo
from recgauge.errors import ConfigError, GuardError
from recgauge.experiment import run_experiment
from recgauge.filters import apply_filters
from recgauge.filters.rows import MinRating, NCore
from recgauge.guards import GuardSettings
from recgauge.guards.checks import (
    check_candidates,
    check_coverage,
    check_filters,
    check_selection,
    check_split,
)
from recgauge.models.popularity import Popularity
from recgauge.report.run_tables import run_blocks
from recgauge.runs.folder import JobOutcome
from recgauge.runs.record import RunRecord, coverage_counts
from recgauge.splits.shares import RandomRows, TemporalFraction
from recgauge.sweeps.tables import sweep_blocks
from recgauge.tracking.page import curve_points, metric_values
from recgauge.utils.randomness import stream
from small_runs import experiment

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
    assert "1 in validation, 1 in an earlier test row" in overlap.message


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


RNG = np.random.default_rng(0)


def record_of(result, folder=None):
    names = {"dataset": "demo", "split": "s", "model": "popularity", "candidates": "all"}
    settings = {"seed": 0}
    return RunRecord.from_result(result, names=names, seed=0, command="", settings=settings, environment={})


def in_time(**changes):
    """A run on the last fifth of all rows, of whose users few were there before."""
    changes = {"splitter": TemporalFraction(), "model": Popularity(), "cutoffs": (10,)} | changes
    return experiment(("recall", "ndcg"), **changes)


def text(blocks):
    return "\n".join(str(block) for block in blocks)


def test_rows_of_unknown_users_and_items_are_dropped_by_reason():
    users, items = ["a", "a", "a", "b", "b", "c", "c"], ["x", "y", "z", "x", "y", "x", "w"]
    rows = Interactions.from_ids(users, items, None, [1, 2, 9, 3, 10, 11, 12])
    kept = TemporalFraction(test_size=0.5).split(rows, rng=RNG)  # test: a z, b y, c x, c w
    assert kept.coverage() == Coverage(3, 4, 2, {"unknown_users": 2})
    both = TemporalFraction(test_size=0.5, cold_items="drop").split(rows, rng=RNG)
    assert both.coverage() == Coverage(3, 4, 1, {"unknown_users": 2, "unknown_items": 1})
    none = TemporalFraction(test_size=0.5, cold_users="keep").split(rows, rng=RNG)
    assert none.coverage() == Coverage(3, 4, 3)
    assert none.coverage(np.array([0], np.int32)).dropped == {"nothing_relevant": 3}


@pytest.mark.parametrize(
    ("users", "evaluated", "rows", "dropped", "level"),
    [
        (100, 100, 200, 0, "note"),
        (100, 50, 200, 100, "note"),
        (100, 49, 200, 60, "warning"),
        (100, 60, 200, 101, "warning"),  # the users stay who have few rows
        (100, 10, 200, 180, "warning"),
        (100, 9, 200, 180, "error"),
    ],
)
def test_the_guard_warns_below_half_and_stops_below_a_tenth(users, evaluated, rows, dropped, level):
    held = Interactions.from_ids(np.arange(60), np.zeros(60, int), None, np.arange(60))
    split = Split("made", held, None, held, overlap=True)
    coverage = Coverage(users, rows, evaluated, {"unknown_users": dropped} if dropped else {})
    found = {result.name: result for result in check_coverage(coverage, split)}
    assert found["coverage"].level == level
    assert ("split.cold_users=keep" in found["coverage"].message) == (level != "note")
    assert found["few_users"].fired == (evaluated < 20)


def test_a_split_may_hold_out_few_users_and_evaluate_them_all():
    """Of a split that loses most of its users under a tenth of all, the guard stops the run."""
    train = Interactions.from_ids(np.arange(1000), np.zeros(1000, int))
    split = Split("made", train, None, train.take(np.arange(1000) < 50), overlap=True)
    assert check_coverage(Coverage(50, 50, 50), split)[0].level == "note"
    assert check_coverage(Coverage(240, 500, 59, {"unknown_users": 400}), split)[0].level == "error"


def test_a_run_of_few_users_is_stopped_unless_it_is_to_go_on():
    with pytest.raises(GuardError, match=r"59 of 243.*temporal_per_user.*guards.override=\[coverage\]"):
        run_experiment(in_time())
    result = run_experiment(in_time(guards=GuardSettings(override=("coverage",))))
    record = record_of(result)
    assert [guard.name for guard in record.guards if guard.overridden] == ["coverage"]
    assert record.coverage.users_evaluated == record.counts["users_evaluated"] == 59
    judged = result.split.test.user_counts()[result.ranking.relevant.users].sum()
    assert record.coverage.rows - record.coverage.rows_dropped == judged
    assert RunRecord.from_json(record.to_json()).coverage == record.coverage

    shown = text(run_blocks(record))
    assert "popularity on demo, 59 of 243 users with test rows" in shown
    assert f"{record.coverage.rows_dropped:,} of 12,000 test rows dropped" in shown
    sweep = text(sweep_blocks([JobOutcome(n, f"job {n}", record=record, folder=None) for n in range(2)]))
    assert "'59 of 243'" in sweep
    assert "10,255 of users without training rows" in sweep

    values = metric_values(record)
    assert (values["users_evaluated"], values["test_rows_dropped"]) == (59, record.coverage.rows_dropped)
    assert {name for name, _, _ in curve_points(record)} == {"by_cutoff/recall", "by_cutoff/ndcg"}

    per_user = result.ranking.evaluation.per_user("ndcg_at_10")
    runs = {
        name: RunValues(result.ranking.evaluation.users, {"ndcg": per_user * weight}, record=record)
        for name, weight in (("one", 1.0), ("two", 0.5))
    }
    found = compare_values([UserValues.of(runs)]).results[0]
    assert "of 59 of 243 users" in found.claims[0]
    assert found.users == "59 of 243 users with test rows"


def test_records_of_earlier_versions_say_what_they_know():
    record = record_of(run_experiment(in_time(splitter=RandomRows())))
    plain = json.loads(record.to_json())
    del plain["coverage"]
    earlier = RunRecord.from_json(json.dumps(plain))
    assert earlier.users == "937"
    assert coverage_counts(earlier) == {"users_evaluated": 937}
    assert "popularity on demo, 937 users" in text(run_blocks(earlier))


@pytest.mark.parametrize(
    ("filters", "broken"),
    [
        ((NCore(10), MinRating(4)), True),
        ((MinRating(4), NCore(10)), False),
        ((NCore(10), MinRating(4), NCore(10)), False),
        ((NCore(10, repeat=False), MinRating(4)), False),  # which promises nothing of what is left
        ((NCore(10), MinRating(1)), False),
    ],
)
def test_a_core_that_later_filters_break_is_told(filters, broken):
    dataset, _ = apply_filters(Demo().load(), filters)
    told = check_filters(filters, dataset.interactions)
    assert [guard.level for guard in told] == ["warning"] * broken
    counts = dataset.interactions.user_counts()
    assert not broken or f"{(counts < 10).sum():,} users have fewer than 10 rows" in told[0].message
