"""Runs the program many times from one process that has imported it: a fork each, so that none sees another.

Reads a JSON object a line: folder, arguments, environment (what to add), out and err (files). Answers
each with the exit code. Most of the time of a short run goes to imports, to numba's tables of types and to
the tables of a new MLflow store; here they are paid for once.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib.figure  # noqa: F401
import mlflow.store.tracking.sqlalchemy_store  # noqa: F401 - what tracked runs import
import pandas as pd  # noqa: F401
from numba.core.registry import cpu_target

import recgauge.app.compose
import recgauge.app.files.artifacts
import recgauge.app.perform
import recgauge.app.terminal.printing
import recgauge.app.tracking.mlflow_store
import recgauge.app.tracking.store
import recgauge.conventions.articles  # noqa: F401 - what every run imports, once for all
from recgauge.app.main import run_command
from recgauge.app.tracking import opening

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()


def run_in_fork(asked: dict[str, Any], prepare: Callable[[], None] = lambda: None) -> int:
    """Run one command in a process of its own, prepared, and return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70  # of an error that run_command lets through
    try:
        os.chdir(asked["folder"])
        os.environ.update(asked["environment"])
        sys.path[:0] = filter(None, asked["environment"].get("PYTHONPATH", "").split(os.pathsep))
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


def make_tables_once(kept: Path) -> None:
    """Let the first new SQLite store be made by MLflow, and later ones begin with a copy of its tables."""
    create_database = opening.create_database

    def create_with_kept_tables(uri: str, create: Callable[[str], object]) -> None:
        def create_or_copy(address: str) -> None:
            path = Path(address.removeprefix("sqlite:///"))
            if kept.exists():
                shutil.copyfile(kept, path)
                return
            create(address)
            unfinished = kept.with_suffix(f".{os.getpid()}")
            shutil.copyfile(path, unfinished)
            unfinished.replace(kept)

        create_database(uri, create_or_copy)

    opening.create_database = create_with_kept_tables


if __name__ == "__main__":
    answers = os.dup(1)
    with TemporaryDirectory() as folder:
        make_tables_once(Path(folder) / "mlflow.db")
        for line in sys.stdin:
            os.write(answers, f"{run_in_fork(json.loads(line))}\n".encode())
