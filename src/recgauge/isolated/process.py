"""The process of another environment's Python that trains and recommends: its start, its answers, its end.

Commands and answers are lines of JSON; arrays go through files of a working folder.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any
from uuid import uuid4
from weakref import finalize

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.errors import ConfigError, FitError, MissingLibraryError, printable, shortened
from recgauge.isolated import worker_environment
from recgauge.isolated.workers.serving import FOLDER
from recgauge.utils.checks import IntArray
from recgauge.utils.messages import print_note

_KILLED = (-9, 137)  # uv hands on the signal that ended a worker as 128 and its number
_PATIENCE = 10.0  # seconds; a worker whose packages are there has begun by then
_LAST = 8  # lines of the log that a message has


class Weights:
    """A file of weights, removed with this object."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        finalize(self, path.unlink, missing_ok=True)


class Worker:
    """A process that trains a model and then makes lists; it ends with this object, an error or Ctrl-C.

    `timeout` are the seconds that it may take for an answer, `seconds` and `peak_bytes` what it measures
    itself, `versions` those that its numbers hang on. A MissingLibraryError says that its packages cannot be
    installed.
    """

    def __init__(
        self, command: Sequence[str], title: str, n_threads: int, timeout: float, log: Path | None
    ) -> None:
        self._title, self._timeout = title, timeout
        self.seconds = {"fit": 0.0, "recommend": 0.0}
        self.stage = "fit"  # whose seconds they are; lists that are looked at between epochs belong to it
        self.peak_bytes: int | None = None
        self._is_late = False
        self._history: Interactions | None = None
        folder = TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True)
        self.folder = Path(folder.name)
        self._log = log or self.folder / "library.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as errors:
            self._process: Any = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self.folder,
                env=worker_environment(n_threads),
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C comes to us, and we end it with all its children
            )
        self._end = finalize(self, _end, self._process, folder)
        note = f"{title} is installed in an environment of its own, once; this takes some minutes"
        patience = Timer(_PATIENCE, print_note, [note])
        line = self._read(patience)
        if not line:
            raise MissingLibraryError(
                f"{self._failed('it could not be installed')}\nInstall it once, where there is a network; "
                f"then none is needed: uv sync --script {command[-1]}"
            )
        self.versions: dict[str, str] = json.loads(line)

    def fit(self, train: Interactions, job: Mapping[str, Any]) -> None:
        """Let it train on the rows; times are zero where nobody knows."""
        times = np.zeros(len(train), np.int64) if train.timestamp is None else train.timestamp
        rows = self.folder / "rows.npz"
        np.savez(rows, user=train.user, item=train.item, value=train.value, timestamp=times)
        sizes = {"n_users": train.n_users, "n_items": train.n_items}
        self.ask("fit", rows="rows.npz", job={**job, **sizes})
        self._history = train

    def use_history(self, rows: Interactions) -> None:
        """Let it answer for users with these rows, oldest first within a user, until it gets others."""
        if rows is not self._history:
            np.savez(self.folder / "history.npz", user=rows.user, item=rows.item)
            self.ask("history", rows="history.npz", n_users=rows.n_users)
            self._history = rows

    def keep_weights(self) -> Weights:
        """Have the weights kept that lists are made with now."""
        path = self.folder / f"{uuid4().hex}.weights"
        self.ask("keep", weights=path.name)
        return Weights(path)

    def lists(self, users: IntArray, k: int, candidates: CandidateItems) -> TopK:
        """Return the users' lists; it gets what each leaves out (``only`` is false) or may have alone."""
        matrix = candidates.excluded if candidates.per_user is None else candidates.per_user
        start, codes = np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32)
        if matrix is not None:
            rows = matrix[users]
            start, codes = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        arrays: dict[str, Any] = {"users": users, "start": start, "codes": codes}
        if candidates.items is not None:
            arrays["allowed"] = candidates.items
        np.savez(self.folder / "users.npz", only=np.bool_(candidates.per_user is not None), **arrays)
        self.ask("recommend", users="users.npz", lists="lists.npz", k=k)
        with np.load(self.folder / "lists.npz", allow_pickle=False) as lists:
            return TopK(users, lists["items"], lists["scores"])

    def _read(self, timer: Timer) -> str:
        """Return the next answer, empty when the process has ended; the timer runs until then."""
        timer.start()
        try:
            return str(self._process.stdout.readline())
        except BaseException:  # Ctrl-C among them
            self.close()
            raise
        finally:
            timer.cancel()

    def ask(self, action: str, **command: Any) -> dict[str, Any]:
        """Have something done, take what was measured, and return the answer; an error ends the process."""
        with suppress(OSError):  # it has died, and the answers end, too
            print(json.dumps({"do": action, **command}), file=self._process.stdin, flush=True)
        if not (line := self._read(Timer(self._timeout, self._expire))):
            raise self._failed(self._ending())
        answer: dict[str, Any] = json.loads(line)
        if answer.get("settings"):
            self.close()
            raise ConfigError(f"model: {self._title}: {shortened(printable(answer['error']), 1000)}")
        if "error" in answer:
            raise self._failed(answer["error"])
        self.seconds[self.stage] += answer["seconds"]
        self.peak_bytes = answer["peak"]
        if note := answer.get("note"):
            print_note(f"{self._title}: {note}")
        return answer

    def _expire(self) -> None:
        """End the process, which took too long."""
        self._is_late = True
        _kill(self._process)

    def _ending(self) -> str:
        code = self._process.wait()
        if self._is_late:
            return (
                f"nothing came back within timeout={self._timeout:g} seconds, so it was ended; for more time "
                "set model.timeout"
            )
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        killed = ", perhaps because memory ran out" if code in _KILLED else ""
        return f"its process ended with {how}{killed}"

    def _failed(self, reason: str) -> FitError:
        """End the process and return an error that says what happened, with the last lines of the log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = "".join(f"\n    {printable(shortened(line, 300))}" for line in lines[-_LAST:])
        self.close()
        place = f" (all: {self._log})" if self._log.exists() else ""
        tail = f" Its last lines{place}:{last}" if last else " It printed nothing."
        return FitError(f"{self._title}: {shortened(printable(reason), 1000).rstrip('.')}.{tail}")

    def close(self) -> None:
        """End the process and remove its working folder."""
        self._end()


def _kill(process: Any) -> None:
    """Kill a process with its children."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: Any, folder: Any) -> None:
    """End a process and remove its folder; this also runs when Python itself ends."""
    if process.poll() is None:
        _kill(process)
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            stream.close()
    folder.cleanup()
