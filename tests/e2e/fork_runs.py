"""Runs the program many times from one process that has imported it: a fork each, so that none sees another.

Arguments: a JSON list of ``[folder, [argument, ...]]``. Each run works in its folder and leaves its output in
``out.txt`` and ``err.txt`` there; the exit codes are printed as a JSON list.
"""

import json
import os
import sys
from collections.abc import Callable

import recgauge.app.artifacts
import recgauge.app.compose
import recgauge.app.console
import recgauge.app.run_card
import recgauge.conventions.articles  # noqa: F401 - what every run imports, once for all
from recgauge.app.main import run_command


def run_in_fork(folder: str, arguments: list[str], prepare: Callable[[], None] = lambda: None) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70  # of an error that run_command lets through
    try:
        os.chdir(folder)
        for name, number in (("out.txt", 1), ("err.txt", 2)):
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
        sys.argv = ["run.py", *arguments]
        prepare()
        code = run_command()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([run_in_fork(folder, words) for folder, words in json.loads(sys.argv[1])]))
