"""`recgauge evaluate` on 138,493 users x 100 items in parquet, against reading the file, and against peers.

    python benchmarks/recorded_lists.py [--quick] [--repeats 5] [--peers PYTHON]

Every job is a process of its own, and jobs run in turn, ranx twice. recgauge's work is starting, importing,
reading lists and relevance, all checks of docs/lists.md, nDCG@10 and recall@20. Times are given of whole
processes, and of the others' jobs alone, without start and imports; "times recgauge's" compares processes,
"job alone" their job with recgauge's whole process. PYTHON is the interpreter of an environment with polars,
RecTools and ranx.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from _measure import HERE, save
from metrics import draw
from pyarrow import parquet

OURS = "recgauge evaluate"
READERS = ("pyarrow read_table", "polars read_parquet")
WHOLE = ("RecTools", "ranx")
SLOWEST = "ranx"
GOALS = {True: 1 / 3, False: 10.0}  # at least so many times recgauge's process: of readers, of the others


def write(folder, n_users):
    """Write lists with ids of MovieLens 20M's range and scores, and relevance; return how many rows."""
    drawn, rng = draw(n_users), np.random.default_rng(0)
    k = drawn["items"].shape[1]
    users = np.sort(rng.choice(200_000, n_users, replace=False)) + 1
    items = np.sort(rng.choice(131_262, 26_744, replace=False)) + 1
    scores = -np.sort(-rng.random((n_users, k)), axis=1).ravel()
    lists = {"user": np.repeat(users, k), "item": items[drawn["items"].ravel()], "score": scores}
    owner = np.repeat(users, np.diff(drawn["start"]))
    parquet.write_table(pa.table(lists), folder / "lists.parquet")
    parquet.write_table(pa.table({"user": owner, "item": items[drawn["relevant"]]}), folder / "truth.parquet")
    return len(owner)


def ours(folder):
    """Return wall and CPU seconds of the whole command, and its values."""
    words = ["--metrics", "ndcg@10,recall@20", "--out", str(folder / "out.json")]
    files = ["--run", str(folder / "lists.parquet"), "--truth", str(folder / "truth.parquet")]
    wall, cpu = time.perf_counter(), _cpu_of_children()
    subprocess.run(
        [sys.executable, "-m", "recgauge", "evaluate", *files, *words], check=True, stdout=subprocess.DEVNULL
    )
    wall, cpu = time.perf_counter() - wall, _cpu_of_children() - cpu
    stored = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return {"process s": wall, "cpu s": cpu, "job s": wall, "values": stored["runs"]["lists"]["values"]}


def _cpu_of_children():
    times = os.times()
    return times.children_user + times.children_system


def theirs(python, name, folder):
    """Return seconds of another's process and of its job, and its values; None if it cannot run."""
    command = [python, str(HERE / "_recorded_peer.py"), name, str(folder)]
    wall, cpu = time.perf_counter(), _cpu_of_children()
    done = subprocess.run(command, capture_output=True, text=True)
    wall, cpu = time.perf_counter() - wall, _cpu_of_children() - cpu
    if done.returncode != 0:
        return None
    job = json.loads(done.stdout.splitlines()[-1])
    return {"process s": wall, "cpu s": cpu, "job s": job["s"], "values": job["values"]}


def measure(n_users, python, repeats):
    """Yield a row for each job that can run."""
    pythons = {READERS[0]: sys.executable}
    if python:
        pythons |= dict.fromkeys((READERS[1], *WHOLE), python)
    found = {OURS: []} | {name: [] for name in pythons}
    with tempfile.TemporaryDirectory() as folder:
        n_relevant = write(Path(folder), n_users)
        for turn in range(repeats + 1):  # the first also compiles, and brings files into memory
            for name, results in found.items():
                if name == SLOWEST and turn > 2:
                    continue  # a minute each: twice is enough for a factor of ten
                result = ours(Path(folder)) if name == OURS else theirs(pythons[name], name, folder)
                if result is None:
                    print(f"{name} left out: it cannot run" if turn < 2 else f"{name} failed")
                elif turn:
                    results.append(result)
    what = f"{n_users:,} lists of 100, {n_relevant:,} relevant"
    yield from _rows(what, {name: results for name, results in found.items() if results})


def _rows(what, found):
    columns = ("process s", "cpu s", "job s")
    median = {
        name: {column: statistics.median(one[column] for one in results) for column in columns}
        for name, results in found.items()
    }
    values = found[OURS][0]["values"]
    for name, results in found.items():
        row = {"what": what, "who": name, **median[name]}
        row["times recgauge's"] = median[name]["process s"] / median[OURS]["process s"]
        row["times recgauge's CPU"] = median[name]["cpu s"] / median[OURS]["cpu s"]
        row["job alone, times recgauge's"] = median[name]["job s"] / median[OURS]["process s"]
        row["goal"] = "" if name == OURS else GOALS[name in READERS]
        theirs = results[0]["values"]
        row["largest difference"] = max((abs(theirs[key] - values[key]) for key in theirs), default="")
        yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 users instead of 138,493")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peers", default=os.environ.get("RECGAUGE_PEERS"), help="python of the peers")
    options = parser.parse_args()
    if not options.peers:
        print("peers left out: no --peers or RECGAUGE_PEERS")
    n_users, repeats = (10_000, 2) if options.quick else (138_493, options.repeats)
    save("recorded_lists", measure(n_users, options.peers, repeats), options.quick)
