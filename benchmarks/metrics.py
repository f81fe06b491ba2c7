"""Metrics of given lists: 18 metrics for 138,493 users at k = 100, beside the peers that are installed.

    python benchmarks/metrics.py [--quick] [--repeats 5]

The lists are drawn here, from a seed: items by falling popularity, a tenth of them relevant, as in a good
model's lists. Every library gets the same lists; what it needs to take them in is timed apart. Outputs are
checked to be equal before anything is timed. Peers: RecTools and pytrec_eval, where they can be imported.
"""

import argparse
import json
import os
import platform
import statistics
import threading
import time
from pathlib import Path

import numba
import numpy as np

import recgauge
from recgauge.conventions import get_convention
from recgauge.evaluation import evaluate_top_k, select_metrics
from recgauge.judging import Relevant
from recgauge.recommending import TopK

CUTOFFS = (10, 20, 100)
NAMES = ("precision", "recall", "ndcg_binary", "map", "mrr", "hit_rate")
N_ITEMS = 26_744


def draw(n_users, k=100, seed=20):
    """Draw lists (n_users, k) of distinct items and the relevant items of each user, as codes."""
    rng = np.random.default_rng(seed)
    # rising steps keep the items of a list apart; the cube makes early codes popular
    items = np.sort(((N_ITEMS - k) * rng.random((n_users, k), np.float32) ** 3).astype(np.int32), axis=1)
    items = rng.permuted(items + np.arange(k, dtype=np.int32), axis=1)
    row, column = np.nonzero(
        rng.random((n_users, k), np.float32) < 0.1 * rng.random((n_users, 1), np.float32) * 2
    )
    found = row * N_ITEMS + items[row, column]
    n_missed = rng.geometric(0.1, n_users)
    owner = np.repeat(np.arange(n_users), n_missed)
    missed = owner * N_ITEMS + (N_ITEMS * rng.random(len(owner)) ** 3).astype(np.int64)
    pairs = np.unique(np.concatenate((found, missed)))
    users = np.arange(n_users, dtype=np.int32)
    start = np.concatenate(([0], np.cumsum(np.bincount(pairs // N_ITEMS, minlength=n_users))))
    relevant = Relevant(users, start, (pairs % N_ITEMS).astype(np.int32), np.ones(len(pairs)), 0)
    scores = np.broadcast_to(-np.arange(k, dtype=np.float32), items.shape)
    return TopK(users, items, scores), relevant


def ours(top_k, relevant):
    """Take lists and relevance as codes to an Evaluation, joining included."""
    suite = select_metrics({name.removesuffix("_binary"): name for name in NAMES}, get_convention("standard"))
    user_ids = np.arange(len(top_k.users))
    return lambda: evaluate_top_k(suite, top_k, relevant, cutoffs=CUTOFFS, user_ids=user_ids)


def frames(top_k, relevant):
    """Return the same as data frames of ids."""
    import pandas as pd

    n_users, k = top_k.items.shape
    lists = pd.DataFrame({
        "user_id": np.repeat(top_k.users, k).astype(np.int64),
        "item_id": top_k.items.ravel().astype(np.int64),
        "rank": np.tile(np.arange(1, k + 1), n_users),
    })  # fmt: skip
    owner = np.repeat(relevant.users, np.diff(relevant.start))
    truth = pd.DataFrame({"user_id": owner.astype(np.int64), "item_id": relevant.items.astype(np.int64)})
    return lists, truth


def ours_from_frames(top_k, relevant):
    """Take data frames of ids to an Evaluation: the public function with all its checks and conversions."""
    lists, truth = (
        frame.rename(columns={"user_id": "user", "item_id": "item"}) for frame in frames(top_k, relevant)
    )
    names = {name.removesuffix("_binary"): name for name in NAMES}
    return lambda: recgauge.evaluate(lists, truth, metrics=names, cutoffs=CUTOFFS)


def rectools(top_k, relevant):
    """Take data frames, as RecTools needs them, to calc_metrics."""
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    lists, truth = frames(top_k, relevant)
    kinds = {"precision": Precision, "recall": Recall, "map": MAP, "mrr": MRR, "hit_rate": HitRate}
    metrics = {f"{name}_at_{k}": kind(k=k) for k in CUTOFFS for name, kind in kinds.items()}
    metrics |= {f"ndcg_at_{k}": NDCG(k=k, divide_by_achievable=True) for k in CUTOFFS}
    return lambda: calc_metrics(metrics, lists, truth)


def pytrec_eval(top_k, relevant):
    """Take dictionaries of strings, as pytrec_eval needs them, to the means of its values."""
    import pytrec_eval as library

    scores = np.linspace(1, 0.01, top_k.items.shape[1]).tolist()
    run = {
        str(u): dict(zip(map(str, row.tolist()), scores, strict=True)) for u, row in enumerate(top_k.items)
    }
    start, items = relevant.start, relevant.items.tolist()
    truth = {
        str(u): dict.fromkeys(map(str, items[start[u] : start[u + 1]]), 1) for u in range(len(top_k.users))
    }
    cuts = ",".join(map(str, CUTOFFS))
    theirs = {
        "precision": "P",
        "recall": "recall",
        "ndcg": "ndcg_cut",
        "map": "map_cut",
        "hit_rate": "success",
    }
    measures = {f"{measure}.{cuts}" for measure in theirs.values()}
    keys = {f"{ours}_at_{k}": f"{measure}_{k}" for ours, measure in theirs.items() for k in CUTOFFS}

    def evaluate():
        per_user = list(library.RelevanceEvaluator(truth, measures).evaluate(run).values())
        return {
            ours: float(np.mean([values[measure] for values in per_user])) for ours, measure in keys.items()
        }

    return evaluate


CONTESTANTS = {
    "recgauge, codes": ours,
    "recgauge, data frames": ours_from_frames,
    "RecTools calc_metrics": rectools,
    "pytrec_eval evaluate": pytrec_eval,
}


class PeakMemory:
    """Highest resident memory inside a ``with`` block above that before, in MiB."""

    def __enter__(self):
        self.start, self.mib, self.stop = _resident(), 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()
        return self

    def _watch(self):
        while not self.stop.wait(0.002):
            self.mib = max(self.mib, _resident() - self.start)

    def __exit__(self, *_error):
        self.stop.set()
        self.thread.join()


def _resident():
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _values(result):
    return result.values() if isinstance(result, recgauge.Evaluation) else result


def measure(n_users, repeats):
    """Return a row a contestant: seconds to take lists in, median seconds of the metrics, memory."""
    lists = draw(n_users)
    runs, rows, expected = {}, {}, None
    for name, prepare in CONTESTANTS.items():
        started = time.perf_counter()
        try:
            run = prepare(*lists)
        except ImportError as error:
            print(f"{name}: not installed ({error.name})")
            continue
        taken_in = time.perf_counter() - started
        with PeakMemory() as memory:
            values = _values(run())
        expected = expected or values
        differing = [key for key in values if abs(values[key] - expected[key]) > 1e-9]
        assert not differing, f"{name} differs at {differing}"
        runs[name] = run
        rows[name] = {"what": name, "n_users": n_users, "n_values": len(values), "prepare_seconds": taken_in}
        rows[name] |= {"peak_mib": memory.mib, "seconds": []}
    for _ in range(repeats):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            rows[name]["seconds"].append(time.perf_counter() - started)
    fastest = statistics.median(rows["recgauge, codes"]["seconds"])
    for row in rows.values():
        row["seconds"] = statistics.median(row["seconds"])
        row["users_per_second"] = n_users / row["seconds"]
        row["times_ours"] = row["seconds"] / fastest
    return list(rows.values())


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 users instead of 138,493")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    rows = measure(10_000 if arguments.quick else 138_493, arguments.repeats)
    for row in rows:
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in row.items()
            )
        )
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    path = Path(__file__).parent / "results" / f"metrics{'-quick' if arguments.quick else ''}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
