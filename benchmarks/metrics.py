"""Metrics of given lists: 18 metrics for 138,493 users at k = 100, against peers.

    python benchmarks/metrics.py [--quick] [--peers PYTHON]

The lists are drawn here, from a seed: items by falling popularity, a tenth of them relevant, as in a good
model's lists. Every library gets the same lists in a process of its own; what it needs to take them in is
timed apart. PYTHON is the interpreter of an environment with the peers (see README.md). How far values lie
is shown next to the times.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from _contestant import agreement, compete
from _measure import save

N_ITEMS = 26_744
OURS = ("recgauge, codes", "recgauge, data frames")
PEERS = ("RecTools calc_metrics", "pytrec_eval evaluate")


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
    start = np.concatenate(([0], np.cumsum(np.bincount(pairs // N_ITEMS, minlength=n_users))))
    return {"items": items, "start": start, "relevant": (pairs % N_ITEMS).astype(np.int32)}


def measure(n_users, python, repeats):
    """Yield a row for each contestant that can run."""
    names = dict.fromkeys(OURS, sys.executable) | (dict.fromkeys(PEERS, python) if python else {})
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "lists.npz", **draw(n_users))
        contestants, values = compete("_lists_peer.py", names, folder, repeats)
    ours = contestants[0].medians()[0]
    for c in contestants:
        wall, cpu = c.medians()
        shared, apart = agreement(values[c.name], values[OURS[0]])
        yield {
            "what": f"{n_users:,} lists of 100",
            "who": c.name,
            "take in s": c.prepare_seconds,
            "s": wall,
            "cpu s": cpu,
            "users/s": round(n_users / wall),
            "times ours": wall / ours,
            "MiB": round(c.mib),
            "values compared": shared,
            "largest difference": apart,
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 users instead of 138,493")
    parser.add_argument("--peers", default=os.environ.get("RECGAUGE_PEERS"), help="python of the peers")
    options = parser.parse_args()
    if not options.peers:
        print("peers left out: no --peers or RECGAUGE_PEERS")
    n_users, repeats = (10_000, 3) if options.quick else (138_493, 5)
    save("metrics", measure(n_users, options.peers, repeats), options.quick)
