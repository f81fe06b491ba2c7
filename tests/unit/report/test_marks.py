"""What is said beside numbers, in a run's text and below a sweep's table."""

import dataclasses

import pytest

from recgauge.app.tracking.summaries import final_tags, metric_values, summary_markdown
from recgauge.report.marks import MARK, mark_lines, sanity_table, sweep_mark_lines
from recgauge.report.series import JobOutcome, has_rivals
from recgauge.report.tables import sweep_table
from recgauge.runs.record import RunRecord

WARNING = {"name": "few_candidates", "value": 0.6, "level": "warning", "message": "W.", "overridden": False}
NOTE = {"name": "overlap", "value": 0.0, "level": "note", "message": "N.", "overridden": False}
GONE_ON = {"name": "unknown_items", "value": 1.0, "level": "error", "message": "E.", "overridden": True}


def entry(name, k, value):
    facts = {"key": f"{name}_at_{k}", "name": name, "k": k, "value": value, "stderr": 0.1}
    return facts | {"definition": f"{name}@{k}", "higher_is_better": True}


@pytest.fixture
def record():
    return RunRecord(
        names={"dataset": "d", "split": "s", "candidates": "sampled", "model": "svd", "conventions": "c"},
        seed=0,
        command="python run.py",
        settings={"model": {"n_factors": 4}, "guards": {"selected_on": None}},
        dataset={
            "sha256": "0",
            "n_rows": 1,
            "n_users": 1,
            "n_items": 1,
            "provenance": "p",
            "relevant_from": 4,
        },
        split={"train_rows": 1, "test_rows": 1, "train_sha256": "a", "test_sha256": "b", "steps": []},
        results=[entry("ndcg", 5, 0.5), entry("ndcg", 10, 0.6), entry("novelty", 5, 2.0)],
        refused={},
        policies="",
        counts={},
        seconds={},
        environment={},
        incomparable="ranked among 100 negatives",
        guards=[NOTE, WARNING, GONE_ON],
        sanity={
            "chance": {"ndcg_at_5": 0.1, "ndcg_at_10": 0.2, "novelty_at_5": 3.0},
            "oracle": {"ndcg_at_5": 0.9, "ndcg_at_10": 1.0},
        },
    )


def with_settings(record, **changes):
    return dataclasses.replace(record, settings={"model": changes})


def test_marks_stand_first_and_notes_are_silent(record):
    assert mark_lines(record) == [
        f"{MARK} not comparable with full-catalogue numbers: ranked among 100 negatives (candidates=sampled)",
        "warning  few_candidates: W.",
        "overridden unknown_items: E.",
    ]
    plain = dataclasses.replace(record, incomparable="", guards=[NOTE])
    assert not mark_lines(plain)


def test_tags_and_metrics_of_the_tracker(record):
    tags, values = final_tags(record), metric_values(record)
    assert tags["recgauge.incomparable"] == "ranked among 100 negatives"
    assert tags["recgauge.guards"] == "few_candidates, unknown_items"
    assert tags["recgauge.overridden"] == "unknown_items"
    assert "recgauge.selected_on" not in tags
    assert values["guards/few_candidates"] == 0.6
    assert values["sanity/chance_ndcg_at_10"] == 0.2
    assert values["sanity/oracle_ndcg_at_5"] == 0.9
    plain = dataclasses.replace(record, incomparable="", guards=[NOTE], sanity={})
    assert not {"recgauge.incomparable", "recgauge.guards", "recgauge.overridden"} & set(final_tags(plain))
    chosen = dataclasses.replace(record, settings={"guards": {"selected_on": "test"}})
    assert final_tags(chosen)["recgauge.selected_on"] == "test"


def test_the_note_begins_with_the_marks(record):
    note = summary_markdown(record)
    assert note.index("not comparable") < note.index("| metric |")
    assert "| ndcg_at_5 | 0.1000 | 0.9000 |" in note
    assert "| novelty_at_5 | 3.0000 |  |" in note


def test_sanity_table_has_a_row_a_metric(record):
    table = sanity_table(record)
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns == {
        "chance/best": ["ndcg", "novelty"],
        "@5": [".1000/.9000", "3.000/"],
        "@10": [".2000/1.000", ""],
    }


def test_marked_jobs_in_a_sweeps_table(record):
    plain = dataclasses.replace(record, incomparable="")
    jobs = [JobOutcome(0, "a", record, None), JobOutcome(1, "b", plain, None)]
    status = next(column for column in sweep_table(jobs).columns if column.header == "status")
    assert [str(cell) for cell in status.cells] == [f"done {MARK}", "done"]


def test_the_best_is_starred_only_among_runs_that_can_be_compared(record):
    def stars(*records):
        jobs = [JobOutcome(number, "model=x", one, None) for number, one in enumerate(records)]
        cells = [list(column.cells) for column in sweep_table(jobs).columns[3:]]
        return [any("*" in str(column[row]) for column in cells) for row in range(len(records))]

    other = dataclasses.replace(record, names={**record.names, "candidates": "all"})
    assert stars(record, other) == [False, False]
    assert stars(other, record, record) == [False, True, True]
    same = [JobOutcome(0, "", record, None), JobOutcome(1, "", record, None)]
    assert has_rivals(same)
    assert not has_rivals([same[0], JobOutcome(1, "", other, None)])


def test_jobs_with_the_same_mark_share_a_line(record):
    plain = dataclasses.replace(record, incomparable="", guards=[])
    lines = sweep_mark_lines([(0, record), (1, plain), (4, record)])
    assert len(lines) == 3
    assert all(line.endswith("[jobs 0, 4]") for line in lines)


def test_choosing_settings_by_a_table_of_test_numbers(record):
    plain = dataclasses.replace(record, incomparable="", guards=[])
    four, eight = with_settings(plain, n_factors=4), with_settings(plain, n_factors=8)
    (line,) = sweep_mark_lines([(0, four), (1, eight)])
    assert "settings of svd differ" in line
    assert "hold out validation rows" in line
    assert line.endswith("[jobs 0, 1]")
    other = dataclasses.replace(eight, names=eight.names | {"model": "other"})
    assert not sweep_mark_lines([(0, four), (1, other)])
    assert not sweep_mark_lines([(0, four), (1, dataclasses.replace(eight, seed=1))])
    held = [
        dataclasses.replace(one, split=one.split | {"validation_rows": 3, "validation_users": 1})
        for one in (four, eight)
    ]
    assert "choose by the validation rows" in sweep_mark_lines(list(enumerate(held)))[0]
