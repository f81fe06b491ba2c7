"""Exact top k against the plain float32 product of the same matrices; lists are checked with a full sort.

    python benchmarks/topk.py [--quick] [--data FOLDER]

FOLDER holds gowalla.zip and ml-1m.zip (or set RECGAUGE_MIRROR); rows of real sets are left out without it.
Both sides use all CPUs the process may use. A ratio is the median time of the lists over that of the product
alone, which selects nothing.
"""

import argparse
import os
from types import SimpleNamespace

import numpy as np
from _factors import generate, real, truncated_svd
from _measure import save, side_by_side
from _serve import PeakMemory

from recgauge.engine import top_k

GOALS = {
    "generated": (0.15, 0.2, 0.5),
    "gowalla": (0.2, 0.25, 0.5),
    "ml-1m": (0.8, 1.0, 2.0),
    "unit norms": (1.3, 1.4, 2.0),
}
CUTOFFS = (10, 20, 100)


def product(user, item, block=1024):
    """Compute the scores alone, block by block into the same memory, with all BLAS threads."""
    out = np.empty((block, len(item)), np.float32)
    for start in range(0, len(user), block):
        part = user[start : start + block]
        np.dot(part, item.T, out=out[: len(part)])


def exact_scores(user, item):
    """One user's scores as docs/engine.md defines them: float64 in a fixed order, rounded to float32."""
    products = user.astype(np.float64) * item.astype(np.float64)
    whole = products.shape[1] // 8 * 8
    sums = np.zeros((len(item), 8))
    for start in range(0, whole, 8):
        sums += products[:, start : start + 8]
    for half in (4, 2, 1):
        sums = sums[:, :half] + sums[:, half:]
    total = sums[:, 0]
    for column in range(whole, products.shape[1]):
        total = total + products[:, column]
    return total.astype(np.float32)


def share_equal(items, scores_of, seen, n=200):
    """Share of a sample of users whose list is that of a full sort."""
    equal = []
    for user in np.linspace(0, len(items) - 1, min(n, len(items))).astype(int):
        scores = scores_of(user)
        scores[seen.indices[seen.indptr[user] : seen.indptr[user + 1]]] = -np.inf
        best = np.lexsort((np.arange(len(scores)), -scores))[: items.shape[1]]
        equal.append(np.array_equal(best, items[user]))
    return float(np.mean(equal))


def measure_factors(kind, name, user, item, seen, repeats, cutoffs=CUTOFFS):
    """Rows of one model: product and lists of every cutoff in turn."""
    users = np.arange(len(user), dtype=np.int32)
    model, lists = SimpleNamespace(user=user, item=item), {}

    def lists_of(k):
        def run():
            lists[k] = top_k(model, users, k, seen=seen)[0]

        return run

    contestants = {"product": lambda: product(user, item), **{k: lists_of(k) for k in cutoffs}}
    seconds = side_by_side(contestants, repeats)
    for k in cutoffs:
        goal = GOALS[kind][CUTOFFS.index(k)] if kind in GOALS else None
        yield {
            "what": f"{name}, d={user.shape[1]}, {len(user):,} x {len(item):,}",
            "k": k,
            "product s": seconds["product"][0],
            "lists s": seconds[k][0],
            "ratio": seconds[k][0] / seconds["product"][0],
            "cpu ratio": seconds[k][1] / seconds["product"][1],
            "goal": goal if goal is not None else "",
            "users/s": round(len(user) / seconds[k][0]),
            "equal": share_equal(lists[k], lambda u: exact_scores(user[u], item), seen),
        }


def measure_growth(user, item, seen, repeats):
    """K = 10 over four numbers of users and of items."""
    rng = np.random.default_rng(0)
    for part in (8, 4, 2, 1):
        n = len(user) // part
        yield from measure_factors("growth", "growth in users", user[:n], item, seen[:n], repeats, (10,))
    for part in (8, 4, 2, 1):
        kept = np.sort(rng.choice(len(item), len(item) // part, replace=False))
        few = len(user) // 4
        part_seen = seen[:few][:, kept].tocsr()
        yield from measure_factors(
            "growth", "growth in items", user[:few], item[kept], part_seen, repeats, (10,)
        )


def measure_memory(user, item, seen, n_users, n_items, name):
    """Peak memory beyond model, interactions and result, at a shape made by drawing rows again."""
    rng = np.random.default_rng(0)
    who, what = rng.integers(0, len(user), n_users), rng.integers(0, len(item), n_items)
    model = SimpleNamespace(
        user=user[who], item=item[what] * rng.uniform(0.9, 1.1, (n_items, 1)).astype(np.float32)
    )
    again = seen[who]
    again = type(seen)((again.data, again.indices, again.indptr), shape=(n_users, n_items))
    for k in (10, 100):
        result = 8 * n_users * k / 2**20
        with PeakMemory() as peak:
            seconds = side_by_side(
                {k: lambda k=k: top_k(model, np.arange(n_users, dtype=np.int32), k, seen=again)}, 1
            )[k]
        yield {
            "what": f"{name}: memory beyond model, interactions, result",
            "k": k,
            "lists s": seconds[0],
            "users/s": round(n_users / seconds[0]),
            "MiB": round(peak.mib - result),
        }


def unit_norms(n_users, n_items, d):
    """Random directions of length one: no norm tells items apart."""
    rng = np.random.default_rng(5)
    item = rng.standard_normal((n_items, d), dtype=np.float32)
    return rng.standard_normal((n_users, d), dtype=np.float32), item / np.linalg.norm(
        item, axis=1, keepdims=True
    )


def all_rows(quick, folder):
    """Every row of the table."""
    repeats = 3
    small = np.ones((1, 1), np.float32)
    top_k(SimpleNamespace(user=small, item=small), np.zeros(1, np.int32), 1)  # compiles, or loads
    seen = generate("ml-20m", 2_048 if quick else None)
    factors = {d: truncated_svd(seen, d) for d in ((64,) if quick else (64, 128))}
    for user, item in factors.values():
        yield from measure_factors("generated", "generated ML-20M", user, item, seen, repeats)
    for name, widths in (("ml-1m", (64,)),) if quick else (("gowalla", (16, 64, 128)), ("ml-1m", (64,))):
        rows = real(name, folder)
        if rows is None:
            print(f"{name}: left out, no {name}.zip in --data or RECGAUGE_MIRROR")
            continue
        for d in widths:
            kind = name if d == 64 else "other"
            yield from measure_factors(kind, f"real {name}", *truncated_svd(rows, d), rows, repeats)
    user, item = unit_norms(2_048 if quick else 32_768, seen.shape[1], 64)
    yield from measure_factors("unit norms", "unit norms", user, item, seen[: len(user)], repeats)
    if quick:
        return
    yield from measure_growth(*factors[64], seen, repeats)
    yield from measure_memory(*factors[64], seen, *seen.shape, "ML-20M's shape")
    yield from measure_memory(*factors[64], seen, 200_948, 87_585, "ML-32M's shape")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a part of the users, under two minutes")
    parser.add_argument(
        "--data", default=os.environ.get("RECGAUGE_MIRROR"), help="folder with the real sets' archives"
    )
    options = parser.parse_args()
    save("topk", all_rows(options.quick, options.data), options.quick)
