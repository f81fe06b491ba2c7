"""The process that talks to MLflow for a program: it imports MLflow and answers requests; see `process`.

Each request is a line of JSON on its standard input, each answer one on its standard output. On Linux it can
be copied, for the workers of a sweep: each has a process of its own, and MLflow is imported once.
"""

import gc
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from queue import SimpleQueue
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, NoReturn

from recgauge.app.places import forget_empty_variables, give_libraries_a_home
from recgauge.app.terminal.secrets import learn_settings, private_output
from recgauge.app.tracking.alive import ended_without_a_word
from recgauge.errors import RecgaugeError

if TYPE_CHECKING:
    from recgauge.app.tracking.mlflow_store import MlflowStore

NOT_NEEDED = ("matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn")
"""What MLflow imports if it is there, and can do without: its package mlflow-skinny requires none of them."""
_OWN_GROUPS = ("mlflow.app", "mlflow.app.client", "mlflow.deployments")
"""Entry points of MLflow itself; others belong to plugins, which may need anything."""
_PATIENCE = 20.0
"""Seconds until the process ends although MLflow has not answered, once the program has ended."""


@cache
def opened(uri: str, experiment: str) -> "MlflowStore":
    """Return this process's store with an address, which all jobs of a sweep share."""
    from recgauge.app.tracking.mlflow_store import MlflowStore

    learn_settings({"uri": uri})
    return MlflowStore(uri, experiment)


def main(words: list[str]) -> NoReturn:
    """Answer the program that has started this process.

    Parameters
    ----------
    words : list of str
        The number of a socket, if this process is to be copied: each message has the two ends of pipes on
        which a copy reads and answers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    program, pipes = os.getppid(), (os.dup(0), os.dup(1))
    os.dup2(2, 1)  # what libraries print is no answer
    forget_empty_variables()
    give_libraries_a_home()
    if words:
        asked_for_copies = socket.socket(fileno=int(words[0]))
        import_mlflow()  # before there are threads, which a copy would not have
        if os.fork() == 0:
            for end in (0, *pipes):
                os.close(end)
            _copy_itself(asked_for_copies)
        asked_for_copies.close()
    _serve(*pipes, program)


def _copy_itself(asked: socket.socket) -> NoReturn:
    """Make a copy for each message, until the program has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for copies
    while True:
        _, pipes, *_ = socket.recv_fds(asked, 1, 2)
        if len(pipes) < 2:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.close()
            _serve(pipes[0], pipes[1], program=None)
        for end in pipes:
            os.close(end)


def _serve(asked: int, answered: int, program: int | None) -> NoReturn:
    """Answer the requests from a pipe until it ends; close the runs that are open then.

    Parameters
    ----------
    asked, answered : int
        File descriptors.
    program : int or None
        The process whose runs these are; None if it says so in its first line.
    """
    from recgauge.app.tracking.mlflow_store import abandon

    lines, answers = os.fdopen(asked, encoding="utf-8"), os.fdopen(answered, "w", encoding="utf-8")
    if program is None:
        program = int(lines.readline() or 0)
    requests = SimpleQueue[str | None]()
    Thread(target=_read, args=[lines, requests], daemon=True).start()
    with private_output(()), suppress(BrokenPipeError):
        import_mlflow(requests)
        while (request := requests.get()) is not None:
            answers.write(f"{json.dumps(_answer(json.loads(request)))}\n")
            answers.flush()
    abandon(ended_without_a_word(program, socket.gethostname()))
    os._exit(0)  # not held up by threads of MLflow


def _read(lines: Iterable[str], requests: SimpleQueue[str | None]) -> None:
    for line in lines:
        requests.put(line)
    requests.put(None)
    Timer(_PATIENCE, os._exit, [1]).start()


def import_mlflow(requests: SimpleQueue[str | None] | None = None) -> None:
    """Import MLflow and, while nothing is asked yet, what it needs for databases."""
    from recgauge.app.tracking.servers import give_defaults

    give_defaults()
    plugins = any(group.startswith("mlflow.") and group not in _OWN_GROUPS for group in entry_points().groups)
    absent = () if plugins else [name for name in NOT_NEEDED if name not in sys.modules]
    gc.disable()  # a tenth of the time
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type] # None: cannot be imported
    try:
        import_module("mlflow")
        if requests is None or requests.empty():
            import_module("mlflow.store.tracking.sqlalchemy_store")
    finally:
        for name in absent:
            del sys.modules[name]
        gc.freeze()
        gc.enable()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    number = request["number"]
    try:
        if request["folder"] is not None:
            os.chdir(request["folder"])
        value = getattr(opened(*request["store"]), request["do"])(*request["with"])
    except RecgaugeError as error:
        return {"number": number, "error": [type(error).__name__, str(error)]}
    except Exception:
        return {"number": number, "error": ["", traceback.format_exc()]}
    return {"number": number, "value": value}


if __name__ == "__main__":
    main(sys.argv[1:])
