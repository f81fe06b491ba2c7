"""The other side of a contestant: get ready, then run once for every line on standard input.

Imports nothing of recgauge, since peers live in environments of their own.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path


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


def serve(prepare, read):
    """Report that ``prepare(read())`` is ready, or why it is not; then run once for each line."""
    given = read()
    start = time.perf_counter()
    try:
        run = prepare(given)
    except ImportError as error:
        print(json.dumps({"reason": f"not installed: {error.name}"}), flush=True)
        return
    print(json.dumps({"prepare_seconds": time.perf_counter() - start}), flush=True)
    for _ in sys.stdin:
        with PeakMemory() as memory:
            wall, cpu = time.perf_counter(), time.process_time()
            values = run()
            seconds = time.perf_counter() - wall, time.process_time() - cpu
        values = {key: float(value) for key, value in values.items()}
        print(json.dumps({"seconds": seconds, "values": values, "mib": memory.mib}), flush=True)
