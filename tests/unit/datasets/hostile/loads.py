"""Loads tables, each in a process of its own with little memory and few seconds; a hang is an answer, too.

Arguments: a JSON list of keyword arguments of `Table`. Prints a JSON list of what came of each.
"""

import json
import os
import resource
import signal
import sys
import time
import warnings

import pandas  # noqa: F401 - what some loads import, once for all
import pyarrow.compute
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet  # noqa: F401 - what every load imports, once for all

from recgauge.datasets.table import Table
from recgauge.errors import RecgaugeError

SECONDS, MEBIBYTES = 10, 1024  # beyond what the process has already


def _used() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[0]) * resource.getpagesize()


def _load(options: dict[str, object]) -> dict[str, object]:
    try:
        rows = Table(**options).load().interactions  # type: ignore[arg-type]
    except RecgaugeError as error:
        return {"refused": str(error), "kind": type(error).__name__}
    return {
        "users": [str(one) for one in rows.user_ids[rows.user[:9]].tolist()],
        "items": [str(one) for one in rows.item_ids[rows.item[:9]].tolist()],
    }


def in_fork(options: dict[str, object]) -> dict[str, object]:
    """Return what came of one load; "died" if it took too long or too much, or failed in another way."""
    begin, (reader, writer) = time.monotonic(), os.pipe()
    with warnings.catch_warnings():  # pyarrow's threads are idle between loads
        warnings.filterwarnings("ignore", message=".*multi-threaded", category=DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (_used() + MEBIBYTES * 2**20, resource.RLIM_INFINITY))
        signal.alarm(SECONDS)
        try:
            answer = _load(options)
        except BaseException as error:
            answer = {"died": f"{type(error).__name__}: {error}"[:500]}
        with os.fdopen(writer, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    answer = json.loads(text) if text else {"died": f"exit code {code}"}
    return answer | {"seconds": time.monotonic() - begin}


if __name__ == "__main__":
    sys.stdout.write(json.dumps([in_fork(options) for options in json.load(sys.stdin)]))
