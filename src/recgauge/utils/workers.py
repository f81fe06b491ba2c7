"""Processes of this machine that work for this one, and end with it."""

import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import chdir, suppress
from multiprocessing import current_process, resource_tracker
from threading import Thread
from typing import cast

import psutil


def worker_process(variables: Mapping[str, str]) -> Executor:
    """Return an executor with one process, which starts with its first task; it gets these variables.

    Where processes may have none of their own, as in a ``multiprocessing.Pool``, it has a thread.
    """
    if current_process().daemon:
        return ThreadPoolExecutor(1)
    from loky.process_executor import ProcessPoolExecutor  # which needs no guard around a program's main part

    # modules in the current folder do not replace the real ones
    environment = {"PYTHONSAFEPATH": "1", **variables}
    with chdir(sys.prefix):  # processes that clean up import modules from the folder they start in
        if os.name == "posix":
            resource_tracker.ensure_running()
        pool = ProcessPoolExecutor(1, initializer=_begin, initargs=(os.getpid(),), env=environment)
    return cast("Executor", pool)


def end_worker(executor: Executor) -> None:
    """End a worker at once, also one at work."""
    ending = "cancel_futures" if isinstance(executor, ThreadPoolExecutor) else "kill_workers"
    executor.shutdown(**{ending: True})


def _begin(parent: int) -> None:
    """Prepare a worker's process: Ctrl-C is its parent's, with which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    with suppress(psutil.NoSuchProcess):
        psutil.Process(parent).wait()
    os._exit(1)
