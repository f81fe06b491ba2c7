"""Timing side by side, the machine's description, tables and files of results."""

import json
import os
import platform
import statistics
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import scipy

HERE = Path(__file__).parent


def side_by_side(contestants, repeats):
    """Median wall and CPU seconds of each contestant, run in turn so that all see the same machine."""
    seconds = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            seconds[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: tuple(map(statistics.median, zip(*times, strict=True))) for name, times in seconds.items()}


class PeakMemory:
    """Highest resident memory inside a ``with`` block above that before, in MiB, looked at every 5 ms."""

    def __enter__(self):
        self._start, self.mib, self._stop = _resident(), 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        while not self._stop.wait(0.005):
            self.mib = max(self.mib, _resident() - self._start)

    def __exit__(self, *_error):
        self.mib = max(self.mib, _resident() - self._start)
        self._stop.set()
        self._thread.join()


def _resident():
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


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
