"""The cost of a run besides its work: warm runs on the demo data, tracked in SQLite; jobs of a sweep.

    python benchmarks/startup.py

Every command is a process of its own; those that run are in one folder, in turn, and the first of each, which
makes the database, compiles and writes bytecode, is not timed. CPU seconds are those of the process and of
the one that it starts for MLflow. A further job's time is that of a sweep of 13 jobs less that of one of 3,
over 10; less what its record says that loading, splitting, fitting, lists and metrics took, it is the rest.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import HERE, save

RUN = str(HERE.parent / "run.py")
SEEDS = {jobs: f"seed={','.join(map(str, range(jobs)))}" for jobs in (3, 13)}
MLFLOW, COMPOSED, UNTRACKED, WHOLE = "import mlflow", "settings composed", "tracking=off", "python run.py"
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    MLFLOW: ("-c", "import mlflow"),
    COMPOSED: (RUN, "--cfg", "job"),
    UNTRACKED: (RUN, "tracking=off"),
    WHOLE: (RUN,),
    "3 jobs": (RUN, "-m", "model=popularity", SEEDS[3]),
    "13 jobs": (RUN, "-m", "model=popularity", SEEDS[13], "hydra.sweep.dir=kept"),
    "3 jobs, reused": (RUN, "-m", "model=popularity", SEEDS[3], "reuse=true"),
    "13 jobs, reused": (RUN, "-m", "model=popularity", SEEDS[13], "reuse=true"),
}
FURTHER = {"a further job": ("13 jobs", "3 jobs"), "one reused": ("13 jobs, reused", "3 jobs, reused")}
GOALS = {WHOLE: 3, "a further job besides its work": 0.15}
WORK = ("load", "filter", "split", "candidates", "fit", "recommend", "metrics")


def timed(arguments, folder):
    """Wall and CPU seconds of one command."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    wall, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - wall, cpu


def work(folder):
    """Seconds of a later job's own work, by the records of the last sweep of 13."""
    jobs = [json.loads((Path(folder) / "kept" / str(n) / "record.json").read_text()) for n in range(3, 13)]
    return statistics.mean(sum(job["seconds"].get(stage, 0.0) for stage in WORK) for job in jobs)


def all_rows(repeats=5):
    """Every row of the table."""
    found, worked = {name: [] for name in COMMANDS}, []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats + 1):
            for name, arguments in COMMANDS.items():
                seconds = timed(arguments, folder)
                if repeat:
                    found[name].append(seconds)
            worked.append(work(folder))
    seconds = {name: tuple(map(statistics.median, zip(*pairs, strict=True))) for name, pairs in found.items()}
    rows = {name: pair for name, pair in seconds.items() if "jobs" not in name}
    for what, (many, few) in FURTHER.items():
        rows[what] = tuple((a - b) / 10 for a, b in zip(seconds[many], seconds[few], strict=True))
    own = statistics.median(worked[1:])
    rows["a further job besides its work"] = tuple(max(0.0, part - own) for part in rows["a further job"])
    for what, (wall, cpu) in rows.items():
        times = cpu / seconds[MLFLOW][1]
        yield {
            "what": what,
            "s": wall,
            "cpu s": cpu,
            "times import mlflow": times,
            "goal": GOALS.get(what, ""),
        }


if __name__ == "__main__":
    save("startup", all_rows(), quick=False)
