"""Stored lists: whole, or none."""

import numpy as np
import pandas as pd
import pytest

from recgauge.experiment import run_experiment
from recgauge.runs.folder import unfinished
from recgauge.sweeps.artifacts import write_tables
from small_runs import experiment

METRICS = ("precision", "recall", "hit_rate", "mrr", "map", "ndcg")
CUTOFFS = (1, 5, 20)


@pytest.fixture(scope="module")
def result():
    return run_experiment(experiment(METRICS, cutoffs=CUTOFFS))


def expected(result):
    top_k, ids = result.ranking.top_k, result.dataset.interactions
    row, column = np.nonzero(top_k.items >= 0)
    return pd.DataFrame(
        {
            "user_id": ids.user_ids[top_k.users[row]],
            "item_id": ids.item_ids[top_k.items[row, column]],
            "rank": (column + 1).astype(np.int32),
            "score": top_k.scores[row, column],
        }
    )


def test_lists_are_stored_whole_or_not_at_all(result, tmp_path):
    write_tables(result, tmp_path, lists=False)
    assert not (tmp_path / "recommendations.parquet").exists()
    write_tables(result, tmp_path, lists=True)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "recommendations.parquet"), expected(result))


def run_files(folder, **texts):
    """Write the files of a run as a job does."""
    with unfinished(folder) as room:
        for name, text in texts.items():
            (room / name.replace("_", ".")).write_text(text)


def test_lists_of_another_run_do_not_stay_in_the_folder(tmp_path):
    run_files(tmp_path, record_json="1", recommendations_parquet="lists")
    (tmp_path / "mine.txt").write_text("kept")
    run_files(tmp_path, record_json="2", recommendations_parquet="lists")
    assert (tmp_path / "recommendations.parquet").read_text() == "lists"
    run_files(tmp_path, record_json="3")
    assert {path.name for path in tmp_path.iterdir()} == {"record.json", "SHA256SUMS", "mine.txt"}
