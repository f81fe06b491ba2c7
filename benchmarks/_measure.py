"""Timing side by side, the machine's description, tables and files of results."""

import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

import numba
import numpy as np
import scipy

HERE = Path(__file__).parent
_REST = 0.25


def side_by_side(contestants, repeats):
    """Median wall and CPU seconds of each contestant, run in turn so that all see the same machine.

    Before each run the threads of OpenBLAS go idle: after a product they wait for the next in a loop for
    about a tenth of a second, which would take a core from the next process.
    """
    seconds = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            time.sleep(_REST)
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            seconds[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: tuple(map(statistics.median, zip(*times, strict=True))) for name, times in seconds.items()}


def machine():
    """Describe what the figures were measured on."""
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(
            (line.split(":")[1].strip() for line in lines if line.startswith("model name")), processor
        )
    return {
        "processor": processor,
        "cpus": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }


def save(name, rows, quick):
    """Write results/<name>.json (results/<name>-quick.json for the short form) row by row, then print it."""
    path = HERE / "results" / f"{name}{'-quick' if quick else ''}.json"
    path.parent.mkdir(exist_ok=True)
    done = []
    for row in rows:  # a long session that is interrupted keeps what it has measured
        done.append(row)
        result = {"command": _command(), "machine": machine(), "rows": done}
        path.write_text(json.dumps(result, indent=1) + "\n")
    columns = list(dict.fromkeys(key for row in done for key in row))
    table = [columns, *([_text(row.get(column, "")) for column in columns] for row in done)]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _command():
    """Give the command without folders, which are this machine's."""
    words = (Path(word).name if "/" in word and i else word for i, word in enumerate(sys.argv))
    return " ".join(["python", *words])


def _text(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)
