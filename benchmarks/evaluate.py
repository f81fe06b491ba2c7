"""Whole evaluations against peers: lists of 100, 18 metrics, coverage; k = 10, 20, 100; all users.

    python benchmarks/evaluate.py [--quick] [--data FOLDER] [--peers PYTHON]

Every contestant is a process of its own that reads the same factors, training and test rows from a folder;
runs are taken in turn. PYTHON is the interpreter of an environment with the peers (see README.md); those that
it lacks are left out, with the reason. Peers compute less: implicit has 4 metrics, irspack 6, and none
gives values per user in the same call. MiB: highest memory during a run, results included, above that before.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from _contestant import agreement, compete
from _factors import generate, real, truncated_svd
from _measure import save
from scipy import sparse

PEERS = ("rectools", "implicit", "irspack")
GOALS = {"generated ML-20M": 9, "real gowalla": 5, "real ml-1m": 4}


def split(rows, seed=11):
    """Give a fifth of every user's rows to the test part, at least one."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rng.random(len(owner)), owner))
    rank = np.arange(len(owner)) - np.repeat(rows.indptr[:-1], np.diff(rows.indptr))
    in_test = np.empty(len(owner), bool)
    in_test[order] = rank < np.maximum(1, np.diff(rows.indptr) // 5)[owner]
    for kept in (~in_test, in_test):
        part = (np.ones(kept.sum(), np.float32), (owner[kept], rows.indices[kept]))
        yield sparse.csr_array(part, shape=rows.shape)


def problem(rows, d=64):
    """Return factors of the training part, and both parts."""
    train, test = split(rows)
    return *truncated_svd(train, d), train, test


def drawn_again(user, item, train, test, n_users, n_items):
    """Return a larger problem: users drawn again, and further items, shorter than those drawn from."""
    rng = np.random.default_rng(0)
    who, what = rng.integers(0, len(user), n_users), rng.integers(0, len(item), n_items - len(item))
    further = item[what] * rng.uniform(0.1, 0.9, (len(what), 1)).astype(np.float32)
    parts = (part[who] for part in (train, test))
    wide = (
        sparse.csr_array((part.data, part.indices, part.indptr), shape=(n_users, n_items)) for part in parts
    )
    return user[who], np.concatenate([item, further]), *wide


def write(folder, user, item, train, test):
    """Write a problem for the contestants to read."""
    arrays = {"user": user, "item": item}
    for name, part in (("train", train), ("test", test)):
        arrays |= {f"{name}_start": part.indptr.astype(np.int32), f"{name}_items": part.indices}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def measure(name, given, python, repeats):
    """Yield a row for each contestant that can run."""
    n_users, n_items = len(given[0]), len(given[1])
    names = {"recgauge": sys.executable} | (dict.fromkeys(PEERS, python) if python else {})
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), *given)
        contestants, values = compete("_peer.py", names, folder, repeats)
    ours = contestants[0].medians()[0]
    for c in contestants:
        wall, cpu = c.medians()
        shared, apart = agreement(values[c.name], values["recgauge"])
        yield {
            "what": f"{name}, d=64, {n_users:,} x {n_items:,}",
            "who": c.name,
            "s": wall,
            "cpu s": cpu,
            "users/s": round(n_users / wall),
            "times ours": wall / ours,
            "goal": GOALS.get(name, "") if c.name != "recgauge" else "",
            "MiB": round(c.mib),
            "values compared": shared,
            "largest difference": apart,
        }


def all_rows(quick, folder, python):
    """Every row of the table."""
    repeats = 2 if quick else 5
    generated = problem(generate("ml-20m", 2_048 if quick else 16_384))
    yield from measure("generated ML-20M", generated, python, repeats)
    for name in ("ml-1m",) if quick else ("gowalla", "ml-1m"):
        rows = real(name, folder)
        if rows is None:
            print(f"{name}: left out, no {name}.zip in --data or RECGAUGE_MIRROR")
            continue
        yield from measure(f"real {name}", problem(rows), python, repeats)
    if not quick:
        large = drawn_again(*generated, 200_948, 87_585)
        yield from measure("ML-32M's shape", large, None, 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a part of the users, under a minute")
    parser.add_argument("--data", default=os.environ.get("RECGAUGE_MIRROR"), help="folder of real archives")
    parser.add_argument("--peers", default=os.environ.get("RECGAUGE_PEERS"), help="python of the peers")
    options = parser.parse_args()
    if not options.peers:
        print("peers left out: no --peers or RECGAUGE_PEERS")
    save("evaluate", all_rows(options.quick, options.data, options.peers), options.quick)
