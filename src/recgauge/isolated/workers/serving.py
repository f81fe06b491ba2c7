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
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any

import numpy as np

Array = Any
Answer = Callable[[Array, int, Array], tuple[Array, Array]]
"""From users (b,), a number n and the only items allowed (or None) to items (b, w) and scores (b, w).

At least the n best allowed items of each user, or all that the library scores; in any order, -1 or NaN where
there is none. Items that are not allowed may be among them.
"""
FOLDER = "recgauge-worker-"
"""How the name of the working folder begins."""
BLOCK = 1 << 22
"""Scores that are held at a time."""


class SettingsError(Exception):
    """The library has no such model or setting."""


@dataclass
class Training:
    """What to train on and with."""

    name: str
    settings: dict[str, Any]
    seed: int
    n_threads: int
    n_users: int
    n_items: int
    user: Array
    item: Array
    value: Array
    timestamp: Array


Fit = Callable[[Training], tuple[Answer, float]]
"""Trains, and returns what answers and the seconds that the training took."""


def serve(fit: Fit) -> None:
    """Say the versions, then obey commands until the other side ends."""
    sys.argv = sys.argv[:1]  # RecBole reads the command line
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the library prints goes to the log

    def say(**fields: Any) -> None:
        sys.stdout.flush()
        print(json.dumps(fields), file=answers, flush=True)

    say(**_versions())
    answer: Any = None
    for command in _commands():
        action, start = command.pop("do"), perf_counter()
        more: dict[str, Any] = {}
        try:
            if action == "fit":
                job = Training(**command["job"], **np.load(command["rows"], allow_pickle=False))
                answer, seconds = fit(job)
            elif action == "recommend":
                _write_lists(answer, command["users"], command["lists"], command["k"], job.n_items)
            else:  # what some libraries' answers can do besides
                more = getattr(answer, action)(**command) or {}
            say(seconds=seconds if action == "fit" else perf_counter() - start, peak=_peak(), **more)
        except Exception as error:  # whatever the library raises
            traceback.print_exc()
            of_settings, text = isinstance(error, SettingsError), " ".join(str(error).split())
            say(error=text if of_settings else f"{type(error).__name__}: {text}", settings=of_settings)


def _versions() -> dict[str, str]:
    """Return the versions of the library, of what its numbers hang on, and of Python."""
    versions = {}
    for name in (Path(sys.argv[0]).stem.removeprefix("train_").partition("_")[0], "torch", "numpy"):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {**versions, "python": platform.python_version()}


def _commands() -> Any:
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


def from_scores(score: Callable[[Array], Array], job: Training) -> Answer:
    """Return what answers by a function from users to the scores of the items with training rows.

    The function takes users with training rows (b,) and returns scores (b, m), items by rising code, NaN
    where the library gives none.
    """
    items, has_rows = np.unique(job.item).astype(np.int32), np.zeros(job.n_users, bool)
    has_rows[job.user] = True

    def answer(users: Array, _n: int, _allowed: Array) -> tuple[Array, Array]:
        scores, rows = np.full((len(users), len(items)), np.nan), np.flatnonzero(has_rows[users])
        if len(rows):
            scores[rows] = score(users[rows])
        return np.broadcast_to(items, scores.shape), scores

    return answer


def _write_lists(answer: Answer, request: str, lists: str, k: int, n_items: int) -> None:
    """Make the lists of the users in a file, candidates only, and write them to another file."""
    arrays = np.load(request, allow_pickle=False)
    users, start, codes = arrays["users"], arrays["start"], arrays["codes"]
    only = bool(arrays["only"])  # the codes are the user's only candidates, rather than what is left out
    allowed = arrays["allowed"] if "allowed" in arrays.files else None
    items, scores = np.full((len(users), k), -1, np.int32), np.full((len(users), k), -np.inf)
    counts = np.diff(start)
    order = np.argsort(counts, kind="stable")  # users who leave out alike are answered together
    of_user = np.zeros(n_items, bool)
    of_run = np.full(n_items, allowed is None)
    if allowed is not None:
        of_run[allowed] = True
    size = max(1, BLOCK // n_items)
    for rows in (order[at : at + size] for at in range(0, len(order), size)):
        n = n_items if only else min(n_items, k + int(counts[rows].max(initial=0)))
        for row, answered, scored in zip(rows, *answer(users[rows], n, allowed), strict=True):
            own = codes[start[row] : start[row + 1]]
            of_user[own] = True
            held = (answered >= 0) & ~np.isnan(scored)
            held &= of_user[answered] if only else of_run[answered] & ~of_user[answered]
            of_user[own] = False
            best = _best(answered[held], np.asarray(scored[held], np.float64), k)
            items[row, : len(best[0])], scores[row, : len(best[0])] = best
    np.savez(lists, items=items, scores=scores)


def _best(items: Array, scores: Array, k: int) -> tuple[Array, Array]:
    """Return the k best, equal scores by rising code."""
    if np.isinf(scores).any():
        raise ValueError("the model gives infinite scores")
    if len(items) > k:
        near = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        items, scores = items[near], scores[near]
    order = np.lexsort((items, -scores))[:k]
    return items[order], scores[order]


def _peak() -> int | None:
    """Return the most bytes that this process has held; None where nobody knows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
