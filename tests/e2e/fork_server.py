"""Runs the program many times from one process that has imported it: a fork each, so that none sees another.

Reads a JSON object a line: folder, arguments, environment (what to add), out and err (files). Answers
each with the exit code. Most of the time of a short run goes to imports; here they are paid for once.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import recgauge.app.compose
import recgauge.app.files.artifacts
import recgauge.app.perform
import recgauge.app.terminal.printing
import recgauge.app.tracking.store
import recgauge.conventions.articles  # noqa: F401 - what every run imports, once for all
from recgauge.app.main import run_command


def run_in_fork(asked: dict[str, Any], prepare: Callable[[], None] = lambda: None) -> int:
    """Run one command in a process of its own, prepared, and return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70  # of an error that run_command lets through
    try:
        os.chdir(asked["folder"])
        os.environ.update(asked["environment"])
        for name, number in ((os.devnull, 0), (asked["out"], 1), (asked["err"], 2)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        prepare()
        code = run_command(asked["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    answers = os.dup(1)
    for line in sys.stdin:
        os.write(answers, f"{run_in_fork(json.loads(line))}\n".encode())
