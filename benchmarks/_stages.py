"""One contestant of largest_stages.py, as a process of its own; its seconds are JSON in a file.

python benchmarks/_stages.py run FILE FOLDER        a run on the table FOLDER/ratings.csv
python benchmarks/_stages.py numpy FILE FOLDER      plain passes of numpy over the rows of FOLDER/rows.npz
"""

import json
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

SETTINGS = (
    "dataset=table",
    "dataset.path=ratings.csv",
    "data.cache=cache",
    "model=svd",
    "model.n_factors=16",
)


def run(folder):
    """Make a run as `python run.py` does; give wall and CPU seconds of its stages, and its digests."""
    from recgauge.cli.main import command_line
    from recgauge.utils.progress import Timings

    cpu, plain = {}, Timings.stage

    @contextmanager
    def stage(self, name):
        begun = time.process_time()
        try:
            with plain(self, name) as reporter:
                yield reporter
        finally:
            cpu[name] = cpu.get(name, 0.0) + time.process_time() - begun

    Timings.stage = stage
    code = command_line(words=[*SETTINGS, "sanity=true", f"hydra.run.dir={folder}/run"])
    assert code in (0, None), "the run failed"
    record = json.loads((folder / "run" / "record.json").read_text())
    seconds = {name: (wall, cpu.get(name)) for name, wall in record["seconds"].items()}
    digests = [record["split"][part]["sha256"] for part in ("train", "test")]
    return {"seconds": seconds, "digests": digests}


def passes(folder):
    """Time what everybody would write: an order, counts, and the four columns in that order."""
    with np.load(folder / "rows.npz") as rows:
        user, item, value, when = (rows[name] for name in ("user", "item", "value", "timestamp"))
    found = {}

    def timed(name, work):
        wall, cpu = time.perf_counter(), time.process_time()
        made = work()
        found[name] = time.perf_counter() - wall, time.process_time() - cpu
        return made

    order = timed("numpy: argsort of items", lambda: np.argsort(item, kind="stable"))
    timed("numpy: bincount of items", lambda: np.bincount(item))
    timed(
        "numpy: four columns in that order", lambda: [column[order] for column in (user, item, value, when)]
    )
    return {"seconds": found}


def main(what, file, folder):
    """Time everything, then write it."""
    wall = time.perf_counter()
    found = {"run": run, "numpy": passes}[what](Path(folder))
    wall, used = time.perf_counter() - wall, os.times()
    cpu = used.user + used.system + used.children_user + used.children_system
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    Path(file).write_text(json.dumps({**found, "whole": (wall, cpu), "peak_mib": peak / 1024}))


if __name__ == "__main__":
    main(*sys.argv[1:])
