"""The cost of a run besides its work: warm runs on the demo data, tracked in SQLite; jobs of a sweep.

    python benchmarks/startup.py

Every command is a process of its own in a folder of its own; the first run, which makes the database and
compiles, is not timed. A further job's time is that of a sweep of 13 jobs less that of one of 3, over 10; its
own load, split, fit, lists and metrics are in it.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from _measure import HERE, save

SEEDS = {jobs: f"seed={','.join(map(str, range(jobs)))}" for jobs in (3, 13)}
COMMANDS = {
    "run.py": (),
    "3 jobs": ("-m", "model=popularity", SEEDS[3]),
    "13 jobs": ("-m", "model=popularity", SEEDS[13]),
    "3 jobs, reused": ("-m", "model=popularity", SEEDS[3], "reuse=true"),
    "13 jobs, reused": ("-m", "model=popularity", SEEDS[13], "reuse=true"),
}
GOALS = {"python run.py": 5, "a further job": 0.3}


def timed(arguments, folder):
    """Wall and CPU seconds of one command."""
    wall, before = time.perf_counter(), os.times()
    command = [sys.executable, str(HERE.parent / "run.py"), *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - wall, cpu


def all_rows(repeats=3):
    """Every row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        timed((), folder)
        timed(COMMANDS["13 jobs"], folder)
        found = {name: [] for name in COMMANDS}
        for _ in range(repeats):
            for name, arguments in COMMANDS.items():
                found[name].append(timed(arguments, folder))
    seconds = {name: tuple(map(statistics.median, zip(*pairs, strict=True))) for name, pairs in found.items()}
    further = {"a further job": ("13 jobs", "3 jobs"), "one reused": ("13 jobs, reused", "3 jobs, reused")}
    rows = {"python run.py": seconds["run.py"]} | {
        what: tuple((many - few) / 10 for many, few in zip(seconds[a], seconds[b], strict=True))
        for what, (a, b) in further.items()
    }
    for what, (wall, cpu) in rows.items():
        yield {"what": what, "s": wall, "cpu s": cpu, "goal": GOALS.get(what, "")}


if __name__ == "__main__":
    save("startup", all_rows(), quick=False)
