"""Run a sweep in this process and say when each job ended, and what the process held meanwhile.

The first argument is the file that gets a JSON object, the others are the words of the sweep; see `sweep.py`.
"""

import json
import os
import sys
import time
from pathlib import Path

from recgauge.cli.main import command_line
from recgauge.sweeps import ending
from recgauge.sweeps import sweep as sweeping

STATUS = Path("/proc/self/status")


def peak_mib():
    """Return the most that this process has held since a job last began, MiB; 0 where nobody knows."""
    if not STATUS.exists():
        return 0.0
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def beside_mib():
    """Return what the processes that this one has begun hold now, MiB."""
    held = 0.0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:  # it has ended
            continue
        if int(facts.get("PPid", 0)) == os.getpid() and "VmRSS" in facts:
            held += int(facts["VmRSS"].split()[0]) / 1024
    return held


def seconds():
    """Return wall and CPU seconds."""
    return time.perf_counter(), time.process_time()


def sweep(words, file):
    """Run the sweep and write what was seen; return its exit code."""
    jobs, table = [], []
    run, conclude = sweeping.run_job, ending.end_sweep

    def timed_job(job):
        outcome = run(job)
        jobs.append((*seconds(), peak_mib(), beside_mib() if len(jobs) % 50 == 49 else 0.0))
        return outcome

    def timed_end(*arguments, **named):
        begin = seconds()
        answer = conclude(*arguments, **named)
        table.append([after - before for before, after in zip(begin, seconds(), strict=True)])
        return answer

    sweeping.run_job, ending.end_sweep = timed_job, timed_end
    begin = seconds()
    code = command_line(words=words)
    seen = {"begin": begin, "end": seconds(), "jobs": jobs, "table": table, "peak": peak_mib()}
    Path(file).write_text(json.dumps(seen))
    return code


if __name__ == "__main__":
    sys.exit(sweep(sys.argv[2:], sys.argv[1]))
