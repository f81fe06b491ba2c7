"""Contestants: processes, each with the interpreter that has its package, that run on request."""

import json
import statistics
import subprocess

from _measure import HERE


class Contestant:
    """One process; `reason` says why it cannot take part."""

    def __init__(self, python, script, name, folder):
        self.name, self.seconds, self.mib = name, [], 0.0
        self._process = subprocess.Popen(
            [python, str(HERE / script), name, str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        ready = self._answer()
        self.reason, self.prepare_seconds = ready.get("reason"), ready.get("prepare_seconds", 0.0)

    def _answer(self):
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"reason": "the process ended"}

    def run(self):
        """Run once; return the values."""
        self._process.stdin.write("run\n")
        self._process.stdin.flush()
        answer = self._answer()
        self.reason = answer.get("reason")
        self.seconds.append(answer.get("seconds"))
        self.mib = max(self.mib, answer.get("mib", 0.0))
        return answer.get("values")

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait()

    def medians(self):
        """Median wall and CPU seconds of a run."""
        return tuple(statistics.median(column) for column in zip(*self.seconds, strict=True))


def compete(script, names, folder, repeats):
    """Run every contestant of ``{name: interpreter}`` in turn; return those that can, and their values.

    The first runs, which also compile and warm, are not timed.
    """
    contestants = [Contestant(python, script, name, folder) for name, python in names.items()]
    values = {c.name: c.run() for c in contestants if not c.reason}
    for c in contestants:
        c.seconds.clear()
    for _ in range(repeats):
        for c in contestants:
            if not c.reason:
                c.run()
    for c in contestants:
        c.close()
        if c.reason:
            print(f"{c.name} left out: {c.reason}")
    return [c for c in contestants if not c.reason], values


def agreement(values, ours):
    """How many values both compute, and how far they differ at most."""
    shared = sorted(values.keys() & ours.keys())
    return len(shared), max(abs(values[key] - ours[key]) for key in shared)
