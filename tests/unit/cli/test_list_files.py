"""Stored lists: complete, or only what the numbers rest on."""

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


def test_hits_and_held_out_rows_give_every_accuracy_metric(result, tmp_path):
    write_tables(result, tmp_path, "relevant_k")
    assert not (tmp_path / "recommendations.parquet").exists()
    hits, test, stored = (
        pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("hits", "test", "per_user")
    )
    judged = test[test.rating >= result.dataset.relevant_from]
    whole = expected(result).merge(judged, on=["user_id", "item_id"])
    assert len(hits) == len(whole) < len(expected(result)) / 5
    joined = hits.merge(judged, on=["user_id", "item_id"])
    assert len(joined) == len(hits)
    for k in CUTOFFS:
        for user, row in stored.set_index("user_id").iloc[::20].iterrows():
            grades = np.sort(judged.rating[judged.user_id == user])[::-1][:k]
            own = joined[(joined.user_id == user) & (joined["rank"] <= k)].sort_values("rank")
            ranks, n_relevant = own["rank"].to_numpy(), int((judged.user_id == user).sum())
            values = {
                "precision": len(ranks) / k,
                "recall": len(ranks) / n_relevant,
                "hit_rate": float(len(ranks) > 0),
                "mrr": 1 / ranks[0] if len(ranks) else 0.0,
                "map": (np.arange(1, len(ranks) + 1) / ranks).sum() / n_relevant,
                "ndcg": (own.rating / np.log2(ranks + 1)).sum()
                / (grades / np.log2(np.arange(2, len(grades) + 2))).sum(),
            }
            for name, value in values.items():
                assert row[f"{name}_at_{k}"] == pytest.approx(value, abs=1e-12), (user, name, k)


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
