"""One job of recorded_lists.py, in a process of its own: read the lists of a parquet file, or measure them.

    python benchmarks/_recorded_peer.py NAME FOLDER

Prints the seconds of the job, without imports, and its values, as JSON.
"""

import json
import sys
import time
from pathlib import Path

LISTS, TRUTH = "lists.parquet", "truth.parquet"


def pyarrow(folder):
    """Read the lists."""
    from pyarrow import parquet

    return lambda: parquet.read_table(folder / LISTS) and {}


def polars(folder):
    """Read the lists."""
    import polars as library

    return lambda: library.read_parquet(folder / LISTS).height and {}


def rectools(folder):
    """Read lists and relevance, and measure."""
    import pandas as pd
    from rectools.metrics import NDCG, Recall, calc_metrics

    metrics = {"ndcg_at_10": NDCG(k=10, divide_by_achievable=True), "recall_at_20": Recall(k=20)}
    names = {"user": "user_id", "item": "item_id"}

    def job():
        lists, truth = (pd.read_parquet(folder / name).rename(columns=names) for name in (LISTS, TRUTH))
        lists["rank"] = lists.groupby("user_id", sort=False).cumcount() + 1  # the file has lists best first
        return calc_metrics(metrics, lists, truth)

    return job


def ranx(folder):
    """Read lists and relevance, and measure."""
    import pandas as pd
    from ranx import Qrels, Run, evaluate

    def job():
        lists, truth = (pd.read_parquet(folder / name) for name in (LISTS, TRUTH))
        for table in (lists, truth):  # ids must be text
            table["user"], table["item"] = table["user"].astype(str), table["item"].astype(str)
        truth["grade"] = 1
        run = Run.from_df(lists, "user", "item", "score")
        found = evaluate(Qrels.from_df(truth, "user", "item", "grade"), run, ["ndcg@10", "recall@20"])
        return {"ndcg_at_10": float(found["ndcg@10"]), "recall_at_20": float(found["recall@20"])}

    return job


JOBS = {"pyarrow read_table": pyarrow, "polars read_parquet": polars, "RecTools": rectools, "ranx": ranx}

if __name__ == "__main__":
    chosen = JOBS[sys.argv[1]](Path(sys.argv[2]))
    began = time.perf_counter()
    values = chosen()
    print(json.dumps({"s": time.perf_counter() - began, "values": values}))
