"""What a sweep costs besides the work of its jobs, and what two jobs at a time gain.

    RECGAUGE_MIRROR=FOLDER python benchmarks/sweep.py [--small | --medium] [--quick]

Small jobs: 50 and 500 of them on the demo set, tracked in SQLite, in one process. A further job is the
difference of the two whole sweeps over 450, with its composing, checking and tracking and its part of the
table at the end; CPU seconds count every process. Its own work are the stages of its record, from the load
to the metrics. Memory is the most that the process has held up to the ends of jobs 50 and 500.

Medium jobs: six models and three seeds on MovieLens 1M, tracked in SQLite, jobs=1 and jobs=2 in turn.
Rows, results and lists must be equal.
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

import pyarrow.parquet as pq
from _measure import HERE, save

RUN = HERE.parent / "run.py"
MODELS = ("bpr", "ials", "biased_mf", "item_knn", "ease", "svd")
GOAL, GROWTH, RATIO = 0.15, 1.2, 0.6
WORK = ("load", "split", "candidates", "fit", "compile", "recommend", "metrics")


def timed(command, folder):
    """Run a command and return wall and CPU seconds, those of its own processes among them."""
    begin, before = time.perf_counter(), os.times()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, cpu


def small(n_jobs, folder):
    """Run a sweep of small jobs in a process of its own; return its seconds, and what it says of itself."""
    told = Path(folder) / "told.json"
    words = ["-m", "model=popularity,random", f"seed=range({n_jobs // 2})", "hydra.sweep.dir=sweep"]
    command = [sys.executable, str(HERE / "_swept.py"), str(told), *words]
    return *timed(command, folder), json.loads(told.read_text())


def own_work(folder, jobs):
    """Return the mean seconds of the stages of some jobs."""
    spent = [json.loads((Path(folder) / "sweep" / str(job) / "record.json").read_text()) for job in jobs]
    return statistics.fmean(sum(one["seconds"].get(name, 0) for name in WORK) for one in spent)


def small_rows(few, many):
    """Yield every row about small jobs."""
    whole = {}
    for n_jobs in (few, many):
        with tempfile.TemporaryDirectory() as folder:
            small(2, folder)  # compiles, makes the store
            wall, cpu, told = small(n_jobs, folder)
            work = own_work(folder, range(n_jobs))
        peaks = [one[2] for one in told["jobs"]]
        whole[n_jobs] = wall, cpu, work
        yield {
            "what": f"{n_jobs} small jobs",
            "s": wall,
            "cpu s": cpu,
            "own work s": work * n_jobs,
            f"MiB after {few}": max(peaks[:few]),
            "MiB at the end": max(*peaks, told["peak"]),
            f"MLflow's MiB after {few}": told["jobs"][few // 50 * 50 - 1][3],
            "MLflow's at the end": told["jobs"][n_jobs // 50 * 50 - 1][3],
            "table s": told["table"][0][0],
            "table cpu s": told["table"][0][1],
        }
    (one, one_cpu, _), (other, other_cpu, work) = whole[few], whole[many]
    wall, cpu = ((b - a) / (many - few) for a, b in ((one, other), (one_cpu, other_cpu)))
    besides = {"besides s": wall - work, "goal": GOAL}
    yield {"what": "a further job", "s": wall, "cpu s": cpu, "own work s": work, **besides}
    yield {"what": "growth of memory", "times": max(peaks) / max(peaks[:few]), "goal": GROWTH}
    beside = [told["jobs"][place // 50 * 50 - 1][3] for place in (few, many)]
    yield {"what": "growth of memory, MLflow's process", "times": beside[1] / beside[0], "goal": GROWTH}


def medium(n_jobs, folder, models, seeds):
    """Return the seconds of a sweep of medium jobs with so many at a time."""
    words = ["-m", f"model={','.join(models)}", "dataset=ml_1m", f"seed={seeds}", f"jobs={n_jobs}"]
    sweep = f"hydra.sweep.dir=jobs{n_jobs}"
    return timed([sys.executable, str(RUN), *words, sweep], folder)


def same(one, two, job):
    """Return whether a job has the same rows and numbers in two sweeps, and the share of equal list rows."""
    records = [json.loads((folder / str(job) / "record.json").read_text()) for folder in (one, two)]
    tables = [pq.read_table(folder / str(job) / "recommendations.parquet") for folder in (one, two)]
    items = [table["item_id"].to_numpy() for table in tables]
    equal = all(records[0][part] == records[1][part] for part in ("results", "split", "dataset"))
    return records[0]["names"]["model"], equal, float((items[0] == items[1]).mean())


def medium_rows(repeats, models, seeds):
    """Yield every row about medium jobs; without the archive in the mirror none."""
    n_jobs = len(models) * len(seeds.split(","))
    taken = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        medium(1, folder, models, "99")  # compiles, prepares the data, makes the store
        for _ in range(repeats):
            for at_a_time in taken:
                taken[at_a_time].append(medium(at_a_time, folder, models, seeds))
        folders = [Path(folder) / f"jobs{at_a_time}" for at_a_time in taken]
        found = [same(*folders, job) for job in range(n_jobs)]
    ratios = [two[0] / one[0] for one, two in zip(taken[1], taken[2], strict=True)]
    for at_a_time, pairs in taken.items():
        wall, cpu = map(statistics.median, zip(*pairs, strict=True))
        row = {"what": f"{n_jobs} medium jobs, jobs={at_a_time}", "s": wall, "cpu s": cpu}
        if at_a_time == 2:
            row |= {
                "times jobs=1": statistics.median(ratios),
                "smallest": min(ratios),
                "largest": max(ratios),
                "goal": RATIO,
                "equal": statistics.fmean(equal for _, equal, _ in found),
                "equal list rows": statistics.fmean(share for _, _, share in found),
            }
        yield row
    if not all(equal and share == 1 for _, equal, share in found):
        sys.exit("jobs side by side have other results than one after the other")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--medium", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    both = asked.small == asked.medium
    if both or asked.small:
        save("sweep_small", small_rows(50, 100) if asked.quick else small_rows(50, 500), asked.quick)
    if (both or asked.medium) and os.environ.get("RECGAUGE_MIRROR"):
        chosen = (MODELS[:2], "0,1") if asked.quick else (MODELS, "0,1,2")
        save("sweep_medium", medium_rows(1 if asked.quick else asked.repeats, *chosen), asked.quick)
    elif asked.medium:
        sys.exit("RECGAUGE_MIRROR must name a folder with ml-1m.zip")
