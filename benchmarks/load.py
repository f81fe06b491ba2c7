"""Loading 20 million rows of CSV: first, then from the prepared copy, against CSV readers alone.

    python benchmarks/load.py [--quick] [--repeats 3] [--peers PYTHON]

The file is drawn here, from a seed, in MovieLens 20M's shape. Every contestant is a process of its own, and
contestants run in turn; the file is in the system's memory for all of them. Readers give the columns and
stop there; a first load also takes digests, checks every cell, codes ids, checks the codes and keeps the
result on disk. PYTHON is the interpreter of an environment with polars.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _factors import SEED, SHAPES, activity, popularity
from _measure import HERE, save

READERS = ("pyarrow", "pandas, C engine", "pandas, pyarrow engine", "polars")
GOALS = {"recgauge, first load": 3.0, "recgauge, later load": 0.2}  # times: fastest reader, first load


def draw(path, quick):
    """Write userId, movieId, rating, timestamp; users in blocks of their own, as MovieLens orders them."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(SEED)
    n_users, n_items, total, largest, median = SHAPES["ml-20m"]
    n_u = activity(rng, n_users, total)[: n_users // 50 if quick else n_users]
    counts = rng.permutation(popularity(n_items, total, largest, median))
    ids = np.sort(rng.choice(131_262, n_items, replace=False)) + 1
    n_rows = int(n_u.sum())
    item = ids[np.searchsorted(np.cumsum(counts / counts.sum())[:-1], rng.random(n_rows))]
    stars = pa.array([f"{half / 2:.1f}" for half in range(1, 11)])
    half_stars = rng.choice(
        10, n_rows, p=[0.012, 0.034, 0.014, 0.072, 0.044, 0.214, 0.11, 0.278, 0.077, 0.145]
    )
    start = np.repeat(rng.integers(789_652_009, 1_400_000_000, len(n_u)), n_u)
    columns = {
        "userId": np.repeat(np.arange(1, len(n_u) + 1), n_u),
        "movieId": item,
        "rating": stars.take(pa.array(half_stars)),
        "timestamp": start + rng.integers(0, 86_400 * 30, n_rows),
    }
    with path.open("wb") as file:
        file.write(b"userId,movieId,rating,timestamp\n")  # the writer would quote the names
        csv.write_csv(pa.table(columns), file, csv.WriteOptions(include_header=False, quoting_style="none"))
    return n_rows


def run_once(name, path, cache, peers):
    """Run a contestant in a process of its own; ours and pyarrow in this environment."""
    python = (peers or sys.executable) if name == "polars" else sys.executable
    command = [python, str(HERE / "_loader.py"), name, str(path), str(cache or "")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure(path, folder, repeats, peers):
    """Return the runs of each contestant, in turn."""
    cache = folder / "cache"
    runs = {}
    time.sleep(4)  # a file that has just been written is not settled: its digest would not be remembered

    def add(what, name, cache):
        found = run_once(name, path, cache, peers)
        if "reason" in found:
            print(f"{what}: {found['reason']}")
        else:
            runs.setdefault(what, []).append(found)

    for _ in range(repeats):
        for reader in READERS:
            add(reader, reader, None)
        shutil.rmtree(cache, ignore_errors=True)
        add("recgauge, first load", "recgauge", cache)
        add("recgauge, later load", "recgauge", cache)
        add("recgauge, nothing kept", "recgauge", None)
    loads = [run["sha256"] for what, found in runs.items() if "recgauge" in what for run in found]
    assert len(set(loads)) == 1, "loads differ"
    return runs


def all_rows(quick, repeats, peers):
    """Give a row a contestant."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "ratings.csv"
        n_rows = draw(path, quick)
        print(f"{n_rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB", flush=True)
        runs = measure(path, folder, repeats, peers)
    seconds = {what: statistics.median(run["seconds"][0] for run in found) for what, found in runs.items()}
    cpu = {what: statistics.median(run["seconds"][1] for run in found) for what, found in runs.items()}
    fastest, least = (min(times[what] for what in times if what in READERS) for times in (seconds, cpu))
    for what, found in runs.items():
        peak = max(run["peak_mib"] for run in found)
        yield {
            "what": what,
            "rows": n_rows,
            "s": seconds[what],
            "cpu s": cpu[what],
            "peak MiB": round(peak),
            "times fastest reader": seconds[what] / fastest,
            "cpu ratio": cpu[what] / least,
            "times first load": seconds[what] / seconds["recgauge, first load"],
            "goal": GOALS.get(what, ""),
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the users")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", default=os.environ.get("RECGAUGE_PEERS"), help="python of the peers")
    options = parser.parse_args()
    save("load", all_rows(options.quick, options.repeats, options.peers), options.quick)
