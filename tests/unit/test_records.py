import dataclasses

import numpy as np
import pytest

from recgauge.errors import SchemaError
from recgauge.experiment import run_experiment
from recgauge.filters.rows import NCore
from recgauge.runs.record import RunRecord
from recgauge.tracking.page import COUNTS, LONGEST, metric_values, run_note, shortened
from small_runs import experiment


@pytest.fixture(scope="module")
def result():
    return run_experiment(experiment(("ndcg", "recall"), cutoffs=(5, 10), filters=(NCore(10),)))


@pytest.fixture(scope="module")
def record(result):
    names = dict.fromkeys(("dataset", "split", "candidates", "conventions"), "x") | {"model": "popularity"}
    return RunRecord.from_result(
        result,
        names=names,
        seed=0,
        command="python run.py",
        settings={"seed": 0},
        environment={"python": "3"},
    )


@pytest.mark.parametrize("text", ["[]", '{"split": {}}', "not json"])
def test_other_text_is_refused(text):
    with pytest.raises(SchemaError, match="not a record"):
        RunRecord.from_json(text)


def test_the_metrics_to_read_first_are_logged_first(record):
    values = metric_values(record)
    ends = [f"ci/{key}_{end}" for key in ("ndcg_at_10", "recall_at_10") for end in ("low", "high")]
    assert list(values) == ["ndcg_at_10", "recall_at_10", "ndcg_at_5", "recall_at_5", *ends, *COUNTS]
    assert values["ci/ndcg_at_10_low"] < values["ndcg_at_10"] < values["ci/ndcg_at_10_high"]
    assert all(np.isfinite(value) for value in values.values())


def test_a_note_that_mlflow_would_cut_ends_with_a_whole_row(record):
    many = tuple(
        dataclasses.replace(record.results[0], key=f"m{n}_at_10", name=f"m{n}", k=10) for n in range(500)
    )
    note = run_note(dataclasses.replace(record, results=many))
    assert len(note) <= LONGEST
    rows = [line for line in note.splitlines() if line.startswith("| m")]
    assert len(rows) > 50
    assert all(line.endswith(" |") for line in rows)
    assert note.endswith("The rest is in record.json.")
    assert shortened(["short"], "record.json") == "short"
