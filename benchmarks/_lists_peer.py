"""One contestant of metrics.py, as a process of its own: metrics of given lists, without making any.

    python benchmarks/_lists_peer.py NAME FOLDER

Needs numpy and the contestant's own package.
"""

import sys
from pathlib import Path

import numpy as np
from _serve import serve

CUTOFFS = (10, 20, 100)
NAMES = ("precision", "recall", "ndcg_binary", "map", "mrr", "hit_rate")


class Problem:
    """Lists (n_users, k) of item codes, best first, and relevant items, as metrics.py wrote them."""

    def __init__(self, folder):
        arrays = np.load(Path(folder) / "lists.npz")
        self.items, self.start, self.relevant = arrays["items"], arrays["start"], arrays["relevant"]

    def frames(self, user="user_id", item="item_id"):
        """Return the same as data frames of ids."""
        import pandas as pd

        n_users, k = self.items.shape
        lists = pd.DataFrame({
            user: np.repeat(np.arange(n_users), k),
            item: self.items.ravel().astype(np.int64),
            "rank": np.tile(np.arange(1, k + 1), n_users),
        })  # fmt: skip
        owner = np.repeat(np.arange(n_users), np.diff(self.start))
        return lists, pd.DataFrame({user: owner, item: self.relevant.astype(np.int64)})


def codes(problem):
    """Take lists and relevance as codes to an Evaluation, joining included."""
    from recgauge.conventions import get_convention
    from recgauge.data.lists import Relevant, TopK
    from recgauge.evaluation.evaluate import select_metrics
    from recgauge.evaluation.values import EvaluationInputs
    from recgauge.judging import Policies

    users = np.arange(len(problem.items), dtype=np.int32)
    gains = np.ones(len(problem.relevant))
    relevant = Relevant(users, problem.start, problem.relevant, gains, 0)
    falling = -np.arange(problem.items.shape[1], dtype=np.float32)
    lists = TopK(users, problem.items, np.broadcast_to(falling, problem.items.shape))
    suite = select_metrics({name.removesuffix("_binary"): name for name in NAMES}, get_convention("standard"))
    inputs = EvaluationInputs(lists, relevant, users, None, None)
    return lambda: inputs.evaluate(suite, cutoffs=CUTOFFS, policies=Policies()).values()


def data_frames(problem):
    """Take data frames of ids to an Evaluation: the public function with all its checks and conversions."""
    import recgauge

    lists, truth = problem.frames("user", "item")
    names = {name.removesuffix("_binary"): name for name in NAMES}
    return lambda: recgauge.evaluate(lists, truth, metrics=names, cutoffs=CUTOFFS).values()


def rectools(problem):
    """Take data frames, as RecTools needs them, to calc_metrics."""
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    lists, truth = problem.frames()
    kinds = {"precision": Precision, "recall": Recall, "map": MAP, "mrr": MRR, "hit_rate": HitRate}
    metrics = {f"{name}_at_{k}": kind(k=k) for k in CUTOFFS for name, kind in kinds.items()}
    metrics |= {f"ndcg_at_{k}": NDCG(k=k, divide_by_achievable=True) for k in CUTOFFS}
    return lambda: calc_metrics(metrics, lists, truth)


def pytrec_eval(problem):
    """Take dictionaries of strings, as pytrec_eval needs them, to the means of its values."""
    import pytrec_eval as library

    scores = np.linspace(1, 0.01, problem.items.shape[1]).tolist()
    run = {
        str(u): dict(zip(map(str, row.tolist()), scores, strict=True)) for u, row in enumerate(problem.items)
    }
    start, items = problem.start, problem.relevant.tolist()
    truth = {
        str(u): dict.fromkeys(map(str, items[start[u] : start[u + 1]]), 1) for u in range(len(problem.items))
    }
    cuts = ",".join(map(str, CUTOFFS))
    theirs = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "map": "map_cut"}
    theirs["hit_rate"] = "success"
    measures = {f"{measure}.{cuts}" for measure in theirs.values()}
    keys = {f"{ours}_at_{k}": f"{measure}_{k}" for ours, measure in theirs.items() for k in CUTOFFS}

    def evaluate():
        per_user = list(library.RelevanceEvaluator(truth, measures).evaluate(run).values())
        return {
            ours: float(np.mean([values[measure] for values in per_user])) for ours, measure in keys.items()
        }

    return evaluate


CONTESTANTS = {
    "recgauge, codes": codes,
    "recgauge, data frames": data_frames,
    "RecTools calc_metrics": rectools,
    "pytrec_eval evaluate": pytrec_eval,
}

if __name__ == "__main__":
    serve(CONTESTANTS[sys.argv[1]], lambda: Problem(sys.argv[2]))
