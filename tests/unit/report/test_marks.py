"""What is said beside numbers, in a run's text and below a sweep's table."""

import dataclasses

import pytest

from recgauge.comparison.series import has_rivals
from recgauge.guards import GuardResult
from recgauge.report.run_tables import sweep_mark_lines, sweep_table
from recgauge.runs.folder import JobOutcome
from recgauge.runs.record import PartFacts, SanityFacts
from recgauge.tracking.page import final_tags
from records import metric, record_with

WARNING = GuardResult("few_candidates", 0.6, "warning", "W.")
NOTE = GuardResult("overlap", 0.0, "note", "N.")
GONE_ON = GuardResult("unknown_items", 1.0, "error", "E.", overridden=True)


@pytest.fixture
def record():
    return record_with(
        metric("ndcg", 5, 0.5, stderr=0.1),
        metric("ndcg", 10, 0.6, stderr=0.1),
        metric("novelty", 5, 2.0, stderr=0.1),
        names={"dataset": "d", "split": "s", "candidates": "sampled", "model": "svd", "conventions": "c"},
        settings={"model": {"n_factors": 4}, "guards": {"selected_on": None}},
        incomparable="ranked among 100 negatives",
        guards=(NOTE, WARNING, GONE_ON),
        sanity=SanityFacts(
            chance={"ndcg_at_5": 0.1, "ndcg_at_10": 0.2, "novelty_at_5": 3.0},
            oracle={"ndcg_at_5": 0.9, "ndcg_at_10": 1.0},
        ),
    )


def with_settings(record, **changes):
    return dataclasses.replace(record, settings={"model": changes})


def test_tags_of_the_tracker(record):
    tags = final_tags(record)
    assert tags["recgauge.guards"] == "few_candidates, unknown_items"
    assert "recgauge.selected_on" not in tags
    plain = dataclasses.replace(record, incomparable="", guards=(NOTE,), sanity=None)
    assert not {"recgauge.incomparable", "recgauge.guards", "recgauge.overridden"} & set(final_tags(plain))
    chosen = dataclasses.replace(record, settings={"guards": {"selected_on": "test"}})
    assert final_tags(chosen)["recgauge.selected_on"] == "test"


def test_the_best_is_starred_only_among_runs_that_can_be_compared(record):
    def stars(*records):
        jobs = [JobOutcome(number, "model=x", record=one) for number, one in enumerate(records)]
        return [any(cell.rank == "best" for cell in row) for row in sweep_table(jobs).cells()]

    other = dataclasses.replace(record, names={**record.names, "candidates": "all"})
    assert stars(record, other) == [False, False]
    assert stars(other, record, record) == [False, True, True]
    same = [JobOutcome(0, "", record=record), JobOutcome(1, "", record=record)]
    assert has_rivals(same)
    assert not has_rivals([same[0], JobOutcome(1, "", record=other)])


def test_choosing_settings_by_a_table_of_test_numbers(record):
    plain = dataclasses.replace(record, incomparable="", guards=())
    four, eight = with_settings(plain, n_factors=4), with_settings(plain, n_factors=8)
    (line,) = sweep_mark_lines([(0, four), (1, eight)])
    assert "settings of svd differ" in line
    assert "hold out validation rows" in line
    assert line.endswith("[jobs 0, 1]")
    assert "validation" not in sweep_mark_lines([(0, four), (1, eight)], advise=False)[0]
    other = dataclasses.replace(eight, names=eight.names | {"model": "other"})
    assert not sweep_mark_lines([(0, four), (1, other)])
    assert not sweep_mark_lines([(0, four), (1, dataclasses.replace(eight, seed=1))])
    held = [
        dataclasses.replace(one, split=dataclasses.replace(one.split, validation=PartFacts(3, 1, "v")))
        for one in (four, eight)
    ]
    assert "choose by the validation rows" in sweep_mark_lines(list(enumerate(held)))[0]
