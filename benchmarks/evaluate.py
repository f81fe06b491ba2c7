"""Whole evaluations beside peers: lists of 100, 18 metrics, coverage; k = 10, 20, 100; all users.

    python benchmarks/evaluate.py [--quick] [--data FOLDER] [--peers PYTHON]

Every contestant is a process of its own that reads the same factors, training and test rows from a folder;
runs are taken in turn. PYTHON is the interpreter of an environment with the peers (see README.md); those that
it lacks are left out, with the reason. Peers compute less: implicit has 4 metrics, irspack 6, and none
gives values per user in the same call.
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
    place = np.arange(len(owner)) - np.repeat(rows.indptr[:-1], np.diff(rows.indptr))
    in_test = np.empty(len(owner), bool)
    in_test[order] = place < np.maximum(1, np.diff(rows.indptr) // 5)[owner]
    for kept in (~in_test, in_test):
        part = (np.ones(kept.sum(), np.float32), (owner[kept], rows.indices[kept]))
        yield sparse.csr_array(part, shape=rows.shape)


def write(folder, rows, d=64):
    """Write factors of the training part, and both parts, for the contestants to read."""
    train, test = split(rows)
    user, item = truncated_svd(train, d)
    arrays = {"user": user, "item": item}
    for name, part in (("train", train), ("test", test)):
        arrays |= {f"{name}_start": part.indptr.astype(np.int32), f"{name}_items": part.indices}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def measure(name, rows, python, repeats):
    """Yield a row for each contestant that can run."""
    names = {"recgauge": sys.executable} | (dict.fromkeys(PEERS, python) if python else {})
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        contestants, values = compete("_peer.py", names, folder, repeats)
    ours = contestants[0].medians()[0]
    for c in contestants:
        wall, cpu = c.medians()
        shared, apart = agreement(values[c.name], values["recgauge"])
        yield {
            "what": f"{name}, d=64, {rows.shape[0]:,} x {rows.shape[1]:,}",
            "who": c.name,
            "s": wall,
            "cpu s": cpu,
            "users/s": round(rows.shape[0] / wall),
            "times ours": wall / ours,
            "goal": GOALS[name] if c.name != "recgauge" else "",
            "values compared": shared,
            "largest difference": apart,
        }


def all_rows(quick, folder, python):
    """Every row of the table."""
    repeats = 2 if quick else 5
    yield from measure("generated ML-20M", generate("ml-20m", 2_048 if quick else 16_384), python, repeats)
    for name in ("ml-1m",) if quick else ("gowalla", "ml-1m"):
        rows = real(name, folder)
        if rows is None:
            print(f"{name}: left out, no {name}.zip in --data or RECGAUGE_MIRROR")
            continue
        yield from measure(f"real {name}", rows, python, repeats)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a part of the users, under a minute")
    parser.add_argument("--data", default=os.environ.get("RECGAUGE_MIRROR"), help="folder of real archives")
    parser.add_argument("--peers", default=os.environ.get("RECGAUGE_PEERS"), help="python of the peers")
    options = parser.parse_args()
    if not options.peers:
        print("peers left out: no --peers or RECGAUGE_PEERS")
    save("evaluate", all_rows(options.quick, options.data, options.peers), options.quick)
