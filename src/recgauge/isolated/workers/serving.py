"""What the workers share: obey commands on standard input, keep time, take out what is no candidate.

A command is one line of JSON, and so is each answer. Arrays go through files of the working folder. The
library's own output goes to standard error, which the other side keeps as a log.
"""

import json
import os
import platform
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = Any
Score = Callable[[Array, int], Array]
"""From users (b,) and a number n to scores (b, n_items) of at least the n best items, NaN for others.

A transformer also has `take`, for histories and which weights score, and `keep`, for the newest weights.
"""
FOLDER = "recgauge-worker-"
"""How the name of the working folder begins."""
BLOCK = 1 << 22
"""Scores that are held at a time."""


class SettingsError(Exception):
    """The library has no such model or setting."""


def serve(fit: Callable[[Any], Score], *packages: str) -> None:
    """Say the versions, train, and make lists until the other side ends.

    What is trained has the parameters of its model, such as `name`, `settings` and `n_threads`, the `seed`,
    `n_users`, `n_items`, and `user`, `item`, `value` and `timestamp` of the rows. A training that stops after
    each epoch calls its `pause` there, with what scores by then and the loss.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the library prints goes to the log

    def say(**fields: Any) -> None:
        sys.stdout.flush()
        print(json.dumps(fields), file=answers, flush=True)

    say(python=platform.python_version(), **{name: version(name) for name in (*packages, "numpy")})
    commands = _commands()
    job, start = next(commands), perf_counter()

    def pause(score: Any, loss: float = 0.0) -> None:
        """Answer until the next epoch is asked for."""
        nonlocal start
        say(seconds=perf_counter() - start, value=loss)
        for command in commands:
            start = perf_counter()
            if command["do"] == "train":
                return
            keeps = command["do"] == "keep"
            value = score.keep() if keeps else _write_lists(score, command["k"], job["n_items"])
            say(seconds=perf_counter() - start, value=value)

    try:
        pause(fit(SimpleNamespace(**job, **np.load("rows.npz", allow_pickle=False), pause=pause)))
    except SettingsError as error:
        say(invalid=" ".join(str(error).split()))


def _commands() -> Iterator[Any]:
    """Yield commands; end at once, even while the library trains, if the other side has gone."""
    waiting: queue.Queue[Any] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            waiting.put(json.loads(line))
        if Path.cwd().name.startswith(FOLDER):  # nobody else is left to remove it
            rmtree(Path.cwd(), ignore_errors=True)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield waiting.get()


def _write_lists(score: Any, k: int, n_items: int) -> int:
    """Make the lists of users.npz, candidates only, write them to lists.npz, and return their number."""
    with np.load("users.npz", allow_pickle=False) as file:
        request = dict(file)
    users, start, codes = request["users"], request["start"], request["codes"]
    only = bool(request["only"])  # the codes are the user's only candidates, not what is left out
    allowed = request.get("allowed", np.arange(n_items))
    if "history" in request:
        score.take(request["history"], int(request["kept"]))
    items, scores = np.full((len(users), k), -1, np.int32), np.full((len(users), k), -np.inf)
    counts = np.diff(start)
    order = np.argsort(counts, kind="stable")  # users who leave out alike are answered together
    limited = only or len(allowed) < n_items
    size = max(1, BLOCK // n_items)
    for rows in (order[at : at + size] for at in range(0, len(order), size)):
        n = n_items if limited else min(n_items, k + int(counts[rows].max(initial=0)))
        for row, scored in zip(rows, score(users[rows], n), strict=True):
            held = np.zeros(n_items, bool)
            held[allowed] = not only
            held[codes[start[row] : start[row + 1]]] = only
            candidates = np.flatnonzero(held & ~np.isnan(scored))
            if np.isinf(scored[candidates]).any():
                raise ValueError("the model gives infinite scores")
            best = candidates[np.argsort(-scored[candidates], kind="stable")[:k]]
            items[row, : len(best)], scores[row, : len(best)] = best, scored[best]
    np.savez("lists.npz", items=items, scores=scores)
    return len(users)
