"""One contestant of evaluate.py, as a process of its own: runs once for every line on standard input.

    python benchmarks/_peer.py NAME FOLDER

The first line of output says that it is ready or why it cannot be, every further one is a run's seconds and
values as JSON. Needs numpy, scipy and the contestant's own package.
"""

import sys
from pathlib import Path

import numpy as np
from _serve import serve
from scipy import sparse

CUTOFFS = (10, 20, 100)
THREADS = 2


class Problem:
    """Factors, training and test rows, as evaluate.py wrote them."""

    def __init__(self, folder):
        arrays = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
        self.user, self.item = arrays["user"], arrays["item"]
        shape = (len(self.user), len(self.item))
        rows = {part: (arrays[f"{part}_items"], arrays[f"{part}_start"]) for part in ("train", "test")}
        self.train, self.test = (
            sparse.csr_matrix((np.ones(len(items), np.float32), items, start), shape=shape)
            for items, start in rows.values()
        )


def recgauge(problem):
    """Make lists of 100, 18 metrics per user and as means, coverage at three cutoffs."""
    from recgauge.conventions import get_convention
    from recgauge.data.catalogue import Catalogue
    from recgauge.data.lists import Relevant
    from recgauge.evaluation.evaluate import select_metrics
    from recgauge.evaluation.values import EvaluationInputs
    from recgauge.judging import Policies
    from recgauge.models import FactorModel, Factors
    from recgauge.models.recommend import recommend

    class Fitted(FactorModel):
        _factors = Factors(problem.user, problem.item)

        def fit(self, train, *, rng):
            raise NotImplementedError

    names = {"precision": "precision", "recall": "recall", "ndcg": "ndcg_binary", "map": "map"}
    names |= {"mrr": "mrr", "hit_rate": "hit_rate", "coverage": "catalog_coverage"}
    suite = select_metrics(names, get_convention("standard"))
    users = np.arange(len(problem.user), dtype=np.int32)
    test, train = problem.test, sparse.csr_array(problem.train)
    gains = np.ones(len(test.indices))
    relevant = Relevant(users, test.indptr.astype(np.int64), test.indices.astype(np.int32), gains, 0)
    catalogue = Catalogue(len(problem.item), None, 0, None, None, None, None)

    def run():
        lists = recommend(Fitted(), users, max(CUTOFFS), excluded=train, n_threads=THREADS)
        inputs = EvaluationInputs(lists, relevant, users, None, catalogue)
        return inputs.evaluate(suite, cutoffs=CUTOFFS, policies=Policies()).values()

    return run


def rectools(problem):
    """Rank with implicit's top k, make the table, calc_metrics."""
    import pandas as pd
    from rectools.metrics import MAP, MRR, NDCG, CatalogCoverage, HitRate, Precision, Recall, calc_metrics
    from rectools.models.rank import Distance, ImplicitRanker

    kinds = {"precision": Precision, "recall": Recall, "map": MAP, "mrr": MRR, "hit_rate": HitRate}
    metrics = {f"{name}_at_{k}": kind(k=k) for k in CUTOFFS for name, kind in kinds.items()}
    metrics |= {f"ndcg_at_{k}": NDCG(k=k, divide_by_achievable=True) for k in CUTOFFS}
    metrics |= {f"coverage_at_{k}": CatalogCoverage(k=k) for k in CUTOFFS}
    n_users, k = len(problem.user), max(CUTOFFS)
    users, catalog = np.arange(n_users), np.arange(len(problem.item))
    owner = np.repeat(users, np.diff(problem.test.indptr))
    truth = pd.DataFrame({"user_id": owner, "item_id": problem.test.indices.astype(np.int64)})

    def run():
        ranker = ImplicitRanker(Distance.DOT, problem.user, problem.item, num_threads=THREADS)
        owners, items, _ = ranker.rank(users, k=k, filter_pairs_csr=problem.train)
        lists = pd.DataFrame({"user_id": owners, "item_id": np.asarray(items, np.int64)})
        lists["rank"] = lists.groupby("user_id", sort=False).cumcount() + 1
        values = calc_metrics(metrics, lists, truth, catalog=catalog)
        return values | {key: values[key] / len(catalog) for key in values if key.startswith("coverage")}

    return run


def implicit(problem):
    """Precision, MAP, nDCG and AUC at three cutoffs; a call makes its own lists."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    model = AlternatingLeastSquares(factors=problem.user.shape[1], num_threads=THREADS)
    model.user_factors, model.item_factors = problem.user, problem.item

    def run():
        values = {}
        for k in CUTOFFS:
            found = ranking_metrics_at_k(
                model, problem.train, problem.test, K=k, show_progress=False, num_threads=THREADS
            )
            values[f"ndcg_at_{k}"] = found["ndcg"]
        return values

    return run


def irspack(problem):
    """Hit, recall, nDCG, MAP, precision and coverage at three cutoffs, from blocks of 1,024 users."""
    from irspack.evaluation import Evaluator

    class Fitted:
        n_users, n_items = problem.train.shape
        X_train_all = problem.train

        def get_score_block(self, begin, end):
            return problem.user[begin:end] @ problem.item.T

    evaluator = Evaluator(problem.test, cutoff=10, n_threads=THREADS, mb_size=1024)
    n_items = len(problem.item)

    def run():
        found = evaluator.get_scores(Fitted(), list(CUTOFFS))
        names = {"hit_rate": "hit", "ndcg": "ndcg", "precision": "precision"}
        values = {f"{ours}_at_{k}": found[f"{theirs}@{k}"] for ours, theirs in names.items() for k in CUTOFFS}
        return values | {f"coverage_at_{k}": found[f"appeared_item@{k}"] / n_items for k in CUTOFFS}

    return run


CONTESTANTS = {"recgauge": recgauge, "rectools": rectools, "implicit": implicit, "irspack": irspack}

if __name__ == "__main__":
    serve(CONTESTANTS[sys.argv[1]], lambda: Problem(sys.argv[2]))
