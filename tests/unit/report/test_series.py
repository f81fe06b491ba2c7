"""A sweep's table: folds and seeds in their order with their mean, the best value, and what is said below."""

import dataclasses

import pytest

from recgauge.comparison.run_groups import group, has_rivals
from recgauge.guards.checks import check_neighbours
from recgauge.report.run_tables import sweep_mark_lines, tied_lines
from recgauge.runs.folder import JobOutcome
from recgauge.runs.record import PartFacts, SplitFacts
from recgauge.sweeps.tables import sweep_table
from records import NAMES, metric, record_with


def job(number, model, value, *, seed=0, rows=None, **split):
    """Make a finished job; jobs of one fold and seed have the same rows."""
    words = (f"split.{name}={of}" for name, of in split.items())
    label = " ".join([f"model={model}", *words, f"seed={seed}"])
    digest = rows or f"{split} {seed}"
    record = record_with(
        metric("ndcg", 10, value, stderr=0.1),
        names=NAMES | {"model": model},
        seed=seed,
        settings={"seed": seed, "split": {"n_splits": 5, **split}, "model": {"of": model}},
        split=SplitFacts(PartFacts(1, 1, f"train {digest}"), PartFacts(1, 1, f"test {digest}")),
    )
    return JobOutcome(number, label, record=record)


def shown(jobs):
    """Return the table's rows: number of the job, settings, value with a star if it is the best."""
    table = sweep_table(jobs)
    assert table.header == ("job", "settings", "status", "ndcg@10")
    return [
        (job.text, settings.text, " ".join([f"{value.text}{'*' * (value.rank == 'best')}", *value.small]))
        for job, settings, _, value in table.cells()
    ]


def test_folds_stand_in_their_order_with_their_mean_and_only_means_are_starred():
    values = {"a": [0.3, 0.5, 0.1], "b": [0.4, 0.4, 0.4]}
    jobs = [
        job(3 * row + place, model, values[model][place], fold=fold)
        for row, model in enumerate(values)
        for place, fold in enumerate(["u10", "u1", "u2"])
    ]
    rows = shown(jobs)
    assert [row[0] for row in rows] == ["1", "2", "0", "mean", "4", "5", "3", "mean"]
    assert [row[2] for row in rows[:3]] == ["0.5000", "0.1000", "0.3000"]
    assert rows[3][1:] == ("model=a seed=0 mean ± deviation of 3", "0.3000 ±.2000")
    assert rows[7][1:] == ("model=b seed=0 mean ± deviation of 3", "0.4000* ±.0000")
    assert has_rivals(group([job.run for job in jobs]))


def test_seeds_make_a_series_whether_or_not_they_change_the_split():
    for rows in (None, "the same"):
        jobs = [job(place, "a", seed / 10, seed=seed, rows=rows) for place, seed in enumerate([10, 2, 1])]
        assert [row[0] for row in shown(jobs)] == ["2", "1", "0", "mean"]
        assert not any("*" in row[2] for row in shown(jobs))  # a series alone has no rival
        assert not has_rivals(group([job.run for job in jobs]))


def test_seeds_that_change_nothing_are_no_repetitions():
    jobs = [job(seed, "a", 0.5, seed=seed, rows="the same") for seed in range(3)]
    jobs += [job(3 + seed, "b", 0.4 + seed / 100, seed=seed, rows="the same") for seed in range(3)]
    alike, differing = (row for row in shown(jobs) if row[0] == "mean")
    assert alike[1:] == ("model=a mean of 3 equal runs", "0.5000*")
    assert differing[2] == "0.4100 ±.0100"
    others = [job(seed, "a", 0.5, seed=seed) for seed in range(3)]  # equal by chance, on other rows
    assert shown(others)[-1][1] == "model=a mean ± deviation of 3"


def test_means_over_other_folds_are_not_compared():
    """A model that failed on one fold has no mean over the same rows."""
    jobs = [job(fold, "a", 0.1, fold=fold) for fold in range(3)]
    jobs += [job(3 + fold, "b", 0.9, fold=fold) for fold in range(2)]
    jobs.append(JobOutcome(5, "model=b split.fold=2", "failed", "it broke"))
    rows = shown(jobs)
    assert not any("*" in row[2] for row in rows)
    means = [f"model={model} seed=0 mean ± deviation of {n_folds}" for model, n_folds in (("a", 3), ("b", 2))]
    assert [row[1] for row in rows if "mean" in row[1]] == means
    assert rows[-1][0] == "5"  # failed jobs come last


@pytest.fixture
def record():
    return record_with(
        metric("ndcg", 5, 0.5, stderr=0.1),
        metric("ndcg", 10, 0.6, stderr=0.1),
        metric("novelty", 5, 2.0, stderr=0.1),
        names={"dataset": "d", "split": "s", "candidates": "sampled", "model": "svd", "conventions": "c"},
        settings={"model": {"n_factors": 4}, "guards": {"selected_on": None}},
        incomparable="ranked among 100 negatives",
    )


def test_the_best_is_starred_only_among_runs_that_can_be_compared(record):
    def stars(*records):
        jobs = [JobOutcome(number, "model=x", record=one) for number, one in enumerate(records)]
        starred = [any(cell.rank == "best" for cell in row) for row in sweep_table(jobs).cells()]
        assert has_rivals(group([job.run for job in jobs])) == any(starred)
        return starred

    other = dataclasses.replace(record, names={**record.names, "candidates": "all"})
    assert stars(record, other) == [False, False]
    assert stars(other, record, record) == [False, True, True]


def test_choosing_settings_by_a_table_of_test_numbers(record):
    plain = dataclasses.replace(record, incomparable="", guards=())
    four, eight = (dataclasses.replace(plain, settings={"model": {"n_factors": n}}) for n in (4, 8))
    (line,) = sweep_mark_lines([(0, four), (1, eight)])
    parts = ("settings of svd differ", "hold out validation rows", "[jobs 0, 1]")
    assert [part for part in parts if part not in line] == []
    other = dataclasses.replace(eight, names=eight.names | {"model": "other"})
    assert not sweep_mark_lines([(0, four), (1, other)])
    assert not sweep_mark_lines([(0, four), (1, dataclasses.replace(eight, seed=1))])
    split = dataclasses.replace(four.split, validation=PartFacts(3, 1, "v"))
    held = [dataclasses.replace(one, split=split) for one in (four, eight)]
    assert "choose by the validation rows" in sweep_mark_lines(list(enumerate(held)))[0]


def test_equal_neighbours_in_several_jobs_are_one_line(record):
    tied = [dataclasses.replace(record, guards=(check_neighbours(share),)) for share in (0.1, 0.3, 0.2)]
    (line,) = tied_lines(list(enumerate(tied)))
    assert line.startswith("ties     For 30.0%")
    assert line.endswith("[jobs 0-2; most in job 1]")
