"""Writes what a run leaves behind, so that anyone can recompute every number with another tool."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recgauge.experiment import RunResult
from recgauge.interactions import Interactions
from recgauge.recommending import TopK
from recgauge.records import RunRecord


def write_tables(result: RunResult, folder: Path) -> None:
    """Write the run's tables as parquet, all with the publisher's ids.

    Parameters
    ----------
    result : RunResult
    folder : Path
        Made if it does not exist. Gets recommendations.parquet (user_id, item_id, rank from 1, score),
        test.parquet (user_id, item_id, rating) and per_user.parquet (user_id, one column a metric).
    """
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(_lists(result.top_k, result.dataset.interactions), folder / "recommendations.parquet")
    pq.write_table(_held_out(result.split.test), folder / "test.parquet")
    columns = {"user_id": result.evaluation.users}
    columns |= {r.key: r.per_user for r in result.evaluation.results if r.per_user is not None}
    pq.write_table(pa.table(columns), folder / "per_user.parquet")


def write_record(record: RunRecord, config_yaml: str, folder: Path) -> None:
    """Write record.json, environment.json and config.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_text(record.to_json(), encoding="utf-8")
    (folder / "environment.json").write_text(
        json.dumps(record.environment, indent=2) + "\n", encoding="utf-8"
    )
    (folder / "config.yaml").write_text(config_yaml, encoding="utf-8")


def _lists(top_k: TopK, ids: Interactions) -> pa.Table:
    row, column = np.nonzero(top_k.items >= 0)
    return pa.table(
        {
            "user_id": ids.user_ids[top_k.users[row]],
            "item_id": ids.item_ids[top_k.items[row, column]],
            "rank": (column + 1).astype(np.int32),
            "score": top_k.scores[row, column],
        }
    )


def _held_out(test: Interactions) -> pa.Table:
    return pa.table(
        {"user_id": test.user_ids[test.user], "item_id": test.item_ids[test.item], "rating": test.value}
    )
