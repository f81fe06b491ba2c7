"""Exact lists from dense item weights (EASE and the like) against scipy's product and argpartition.

    python benchmarks/item_weights.py [--quick]

Users of the generated set; 26,744 x 26,744 weights. scipy's product has one thread, the engine all CPUs that
the process may use: the CPU ratio compares the work, the other the waiting.
"""

import argparse

import numpy as np
from _factors import generate, truncated_svd
from _measure import save, side_by_side
from scipy import sparse
from topk import share_equal

from recgauge.engine import ItemWeights, top_k

GOAL = 0.3


def measure_item_weights(rows, item, n_users, repeats):
    """Dense item weights against scipy's sparse-dense product with mask and argpartition."""
    rng = np.random.default_rng(3)
    rows = rows[np.sort(rng.choice(rows.shape[0], n_users, replace=False))]
    weights = item @ item.T
    weights += 0.001 * rng.standard_normal(weights.shape, dtype=np.float32)
    np.fill_diagonal(weights, 0.0)
    users, lists = np.arange(n_users, dtype=np.int32), {}

    def with_scipy(block=512):
        for start in range(0, n_users, block):
            part = rows[start : start + block]
            scores = part @ weights
            scores[np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices] = -np.inf
            np.argpartition(-scores, 9, axis=1)[:, :10]

    def with_engine():
        lists[10] = top_k(ItemWeights(rows, weights), users, 10, seen=rows)[0]

    def scores_of(user):
        scores = np.zeros(len(weights), np.float32)
        for p in range(rows.indptr[user], rows.indptr[user + 1]):
            scores += rows.data[p] * weights[rows.indices[p]]
        return scores

    seconds = side_by_side({"scipy": with_scipy, "engine": with_engine}, repeats)
    yield {
        "what": f"dense weights, {n_users:,} x {len(weights):,}",
        "k": 10,
        "scipy s": seconds["scipy"][0],
        "lists s": seconds["engine"][0],
        "ratio": seconds["engine"][0] / seconds["scipy"][0],
        "cpu ratio": seconds["engine"][1] / seconds["scipy"][1],
        "goal": GOAL,
        "users/s": round(n_users / seconds["engine"][0]),
        "equal": share_equal(lists[10], scores_of, rows, 50),
    }


def all_rows(quick):
    """Give the one row."""
    small = np.ones((1, 1), np.float32)
    top_k(ItemWeights(sparse.csr_array(small), small), np.zeros(1, np.int32), 1)  # compiles, or loads
    n_users, n_items = (256, 8_192) if quick else (4_096, 26_744)
    rows = generate("ml-20m", n_users)[:, :n_items].tocsr()
    yield from measure_item_weights(rows, truncated_svd(rows, 64)[1], n_users, 1 if quick else 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="256 users and 8,192 items instead of 4,096 and 26,744"
    )
    options = parser.parse_args()
    save("item_weights", all_rows(options.quick), options.quick)
