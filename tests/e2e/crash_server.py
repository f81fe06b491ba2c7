"""Runs the program on demand in forks of one process that has imported it, and kills it where it is told.

As a script it reads lines of JSON ``[folder, [argument, ...], event, point]`` and answers each with ``[exit
code, {event: how many there were}]``. Just before the event with number `point` the run kills itself, as a
power cut would: nothing is cleaned up.
"""

import json
import mmap
import os
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

EVENTS = ("rename", "sync")


@dataclass
class Run:
    """How a run in a fork ended."""

    code: int
    events: dict[str, int]
    out: str
    err: str


class CrashServer:
    """The process that forks, seen from a test; runs work in `folder`, with the store ``mlflow.db`` there."""

    def __init__(self, folder: Path):
        self.folder = folder
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RECGAUGE_", "MLFLOW_"))}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=kept | {"MLFLOW_DISABLE_TELEMETRY": "true"},  # its thread would not survive a fork
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, kill_at: tuple[str, int] = ("", 0)) -> Run:
        self._process.stdin.write(json.dumps([str(self.folder), arguments, *kill_at]) + "\n")
        self._process.stdin.flush()
        code, events = json.loads(self._process.stdout.readline())
        out, err = ((self.folder / name).read_text() for name in ("out.txt", "err.txt"))
        return Run(code, events, out, err)

    def stop(self) -> None:
        self._process.communicate(timeout=60)


class Counter:
    """Counts events in memory that is shared with a fork, which dies at one of them."""

    def __init__(self, event: str, point: int):
        self._shared = mmap.mmap(-1, 8 * len(EVENTS))
        self._fatal = event, point

    def count(self, event: str) -> None:
        place = 8 * EVENTS.index(event)
        (before,) = struct.unpack_from("q", self._shared, place)
        struct.pack_into("q", self._shared, place, before + 1)
        if (event, before + 1) == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def counts(self) -> dict[str, int]:
        return dict(zip(EVENTS, struct.unpack_from(f"{len(EVENTS)}q", self._shared), strict=True))

    def watch(self) -> None:
        for name, kind in (
            ("replace", "rename"),
            ("rename", "rename"),
            ("link", "rename"),
            ("fsync", "sync"),
        ):
            setattr(os, name, self._watched(getattr(os, name), kind))

    def _watched(self, function, kind):
        def counted(*arguments, **options):
            self.count(kind)
            return function(*arguments, **options)

        return counted


def serve() -> None:
    from fork_server import run_in_fork, warm_up

    warm_up()
    for line in sys.stdin:
        folder, arguments, kind, point = json.loads(line)
        counter = Counter(kind, point)
        asked = {"folder": folder, "arguments": arguments, "environment": {}}
        code = run_in_fork(asked | {"out": "out.txt", "err": "err.txt"}, counter.watch)
        sys.stdout.write(json.dumps([code, counter.counts()]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
