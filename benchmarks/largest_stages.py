"""Stages of a run at MovieLens 20M's shape, beside plain passes of numpy over the same rows.

    python benchmarks/largest_stages.py [--quick] [--repeats 3]

The table is drawn here, from a seed: 20,000,263 rows, 138,493 users, 26,744 items, no pair twice, users in
blocks as in the real file. Runs (svd with 16 factors, sanity=true, tracked in SQLite) and numpy's passes are
processes of their own, in turn; one run before them, which keeps the rows and compiles, is not timed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _factors import SEED, generate
from _measure import HERE, save

STARS = [0.012, 0.034, 0.014, 0.072, 0.044, 0.214, 0.11, 0.278, 0.077, 0.145]
STAGES = ("load", "split", "candidates", "fit", "recommend", "metrics", "sanity", "card", "tracking")
GOALS = {
    "split": 2.0,
    "candidates": 0.5,
    "sanity": 8.0,
    "tracking": 2.0,
}  # seconds where numpy's passes take 3
PASSES = 3.0


def draw(folder, quick):
    """Write ratings.csv as MovieLens has it, and its columns for numpy."""
    import pyarrow as pa
    from pyarrow import csv

    pairs = generate("ml-20m", 138_493 // 50) if quick else generate("ml-20m", exact=True)
    rng = np.random.default_rng(SEED)
    counts, item = np.diff(pairs.indptr), pairs.indices
    user = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    half_stars = rng.choice(10, len(item), p=STARS)
    begin = np.repeat(rng.integers(789_652_009, 1_400_000_000, len(counts)), counts)
    when = begin + rng.integers(0, 86_400 * 30, len(item))
    value = ((half_stars + 1) / 2).astype(np.float32)
    np.savez(folder / "rows.npz", user=user, item=item, value=value, timestamp=when)
    ids = np.sort(rng.choice(131_262, pairs.shape[1], replace=False)) + 1
    stars = pa.array([f"{half / 2:.1f}" for half in range(1, 11)])
    columns = {"userId": user + 1, "movieId": ids[item], "rating": stars.take(pa.array(half_stars))}
    with (folder / "ratings.csv").open("wb") as file:
        file.write(b"userId,movieId,rating,timestamp\n")  # the writer would quote the names
        options = csv.WriteOptions(include_header=False, quoting_style="none")
        csv.write_csv(pa.table(columns | {"timestamp": when}), file, options)
    return len(item)


def once(what, folder):
    """Run a contestant in a process of its own."""
    file = folder / "seconds.json"
    command = [sys.executable, str(HERE / "_stages.py"), what, str(file), str(folder)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return json.loads(file.read_text())


def medians(found):
    """Give median wall and CPU seconds of what was timed; None where no CPU time is known."""
    names = dict.fromkeys(name for each in found for name in each["seconds"])
    result = {}
    for name in names:
        wall, cpu = zip(*(each["seconds"][name] for each in found if name in each["seconds"]), strict=True)
        result[name] = statistics.median(wall), None if None in cpu else statistics.median(cpu)
    return result


def all_rows(quick, repeats):
    """Every row of the table; ratios are to the sum of numpy's passes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_rows = draw(folder, quick)
        print(f"{n_rows:,} rows", flush=True)
        runs, passes = [once("run", folder)], []
        for _ in range(repeats):
            passes.append(once("numpy", folder))
            runs.append(once("run", folder))
    assert all(run["digests"] == runs[0]["digests"] for run in runs), "runs split differently"
    runs = runs[1:]
    plain, stages = medians(passes), medians(runs)
    wall, cpu = (sum(pair[at] for pair in plain.values()) for at in (0, 1))
    whole = tuple(map(statistics.median, zip(*(run["whole"] for run in runs), strict=True)))
    rows = plain | {"numpy: all three": (wall, cpu)} | {s: stages[s] for s in STAGES} | {"whole run": whole}
    for what, (seconds, used) in rows.items():
        yield {
            "what": what,
            "rows": n_rows,
            "s": seconds,
            "cpu s": "" if used is None else used,
            "ratio": seconds / wall,
            "cpu ratio": "" if used is None else used / cpu,
            "goal": GOALS[what] / PASSES if what in GOALS and not quick else "",
            "peak MiB": round(max(run["peak_mib"] for run in runs)) if what == "whole run" else "",
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the users")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    save("largest_stages", all_rows(options.quick, options.repeats), options.quick)
