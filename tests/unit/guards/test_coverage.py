"""What a number is of: users evaluated of those with test rows, rows dropped and why, a guard of both."""

import json

import numpy as np
import pytest

from recgauge.comparison.comparing import compare_values
from recgauge.comparison.user_values import RunValues, UserValues
from recgauge.data.coverage import Coverage
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.datasets.demo import Demo
from recgauge.errors import GuardError
from recgauge.experiment import run_experiment
from recgauge.filters import apply_filters
from recgauge.filters.rows import MinRating, NCore
from recgauge.guards import GuardSettings
from recgauge.guards.checks import check_coverage, check_filters
from recgauge.judging import Policies
from recgauge.models.item_knn import ItemKNN
from recgauge.models.popularity import Popularity
from recgauge.report.run_tables import run_blocks
from recgauge.runs.folder import JobOutcome
from recgauge.runs.record import RunRecord, coverage_counts
from recgauge.splits.folds import StrongGeneralisation
from recgauge.splits.shares import RandomRows, TemporalFraction
from recgauge.sweeps.tables import sweep_blocks
from recgauge.tracking.page import curve_points, metric_values
from small_runs import experiment

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
    assert none.coverage().is_whole
    assert none.coverage(np.array([0], np.int32)).dropped == {"nothing_relevant": 3}


def test_of_validation_rows_nothing_is_told_of_test_rows():
    rows = Interactions.from_ids(["a", "a", "b", "c"], ["x", "y", "x", "x"], None, [1, 2, 3, 4])
    split = TemporalFraction(test_size=0.25, validation_size=0.25, cold_users="keep").split(rows, rng=RNG)
    assert split.on_validation().coverage() == Coverage(1, 1, 1)


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


@pytest.mark.parametrize(
    "policies",
    [
        Policies(),
        Policies(no_relevant="zero"),
        Policies(no_relevant="nan"),
        Policies(no_positive_grade="zero"),
    ],
)
def test_users_evaluated_are_those_that_the_policies_count(policies):
    result = run_experiment(in_time(splitter=RandomRows(), policies=policies))
    assert result.coverage.users_evaluated == result.counts["users_evaluated"]
    assert result.coverage.users == 1000


def test_records_of_earlier_versions_say_what_they_know():
    record = record_of(run_experiment(in_time(splitter=RandomRows())))
    plain = json.loads(record.to_json())
    del plain["coverage"]
    earlier = RunRecord.from_json(json.dumps(plain))
    assert earlier.users == "937"
    assert coverage_counts(earlier) == {"users_evaluated": 937}
    assert "popularity on demo, 937 users" in text(run_blocks(earlier))


def test_one_test_user_is_told_as_one():
    splitter = StrongGeneralisation(n_test=1)
    found = {
        guard.name: guard for guard in run_experiment(in_time(splitter=splitter, model=ItemKNN())).guards
    }
    assert found["few_users"].level == "warning"
    assert "split.n_test=1 is one user" in found["few_users"].message


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
