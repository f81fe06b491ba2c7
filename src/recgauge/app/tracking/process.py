"""MLflow in a process of its own, which imports it while this one works; `answering` is what it does.

Started with the program by `start`, else when a store is first asked. The process ends with the pipe of its
requests, however the program ends, and marks the runs that it has open as killed. Workers of a sweep get
copies of it, which have imported MLflow already.
"""

import atexit
import json
import os
import re
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from recgauge import errors
from recgauge.app.tracking.answering import opened
from recgauge.errors import RecgaugeError, TrackingError

if TYPE_CHECKING:
    from recgauge.app.tracking.mlflow_store import MlflowStore

Given = TypeVar("Given")

_UNTRACKED = (
    "tracking=off",
    "--plan",
    "--help",
    "-h",
    "--hydra-help",
    "--version",
    "--info",
    "-i",
    "--cfg",
    "-c",
)
"""Words of a command line that tracks nothing."""
_SEVERAL = re.compile(r"jobs=(?!1$)")
"""Word of a command line that has workers."""
_GOODBYE = 2.0
"""Seconds that the program waits for the process to end, which has usually nothing left to do."""


def start(words: Sequence[str], pipes: tuple[int, int] | None = None) -> None:
    """Begin to import MLflow, unless it is there or the command line says that nothing is tracked.

    Parameters
    ----------
    words : sequence of str
        The command line.
    pipes : tuple of int and int, optional
        From `copied`, in the program that has started this one.
    """
    if pipes is not None:
        _running[:] = [_Copy(*pipes)]
    elif _process() is None and "mlflow" not in sys.modules and not set(words) & set(_UNTRACKED):
        _running[:] = [_Started(copies=any(map(_SEVERAL.match, words)))]


def copied() -> tuple[int, int] | None:
    """Copy the process that imports MLflow for a worker; return the pipes to it, which the worker inherits.

    Returns
    -------
    tuple of int and int, or None
        File descriptors for requests and answers, for the caller to close; None where it cannot be copied.
    """
    process = _process()
    return process.copied() if isinstance(process, _Started) else None


def store_of(uri: str, experiment: str, *, here: bool = False) -> "MlflowStore":
    """Return a store that answers from the other process, or from this one if it has imported MLflow anyway.

    Parameters
    ----------
    uri, experiment : str
        See `MlflowTracker`.
    here : bool
        Whether this process must do.
    """
    if here or (_process() is None and "mlflow" in sys.modules):
        return opened(uri, experiment)
    return cast("MlflowStore", _Beside(uri, experiment))


def later(ask: Callable[..., Given], *arguments: Any) -> Future[Given]:
    """Ask a store for something that is not needed yet: the answer of the other process is not waited for.

    Parameters
    ----------
    ask : callable
        A method of what `store_of` has returned.
    *arguments : Any
    """
    if isinstance(ask, _Question):
        return ask.send(*arguments)
    done: Future[Given] = Future()
    done.set_result(ask(*arguments))
    return done


@dataclass(frozen=True)
class _Beside:
    """Stands for a store in the other process, and has its methods."""

    uri: str
    experiment: str

    def __getattr__(self, name: str) -> "_Question":
        return _Question(self, name)


@dataclass(frozen=True)
class _Question:
    """Stands for a method of a store in the other process."""

    store: _Beside
    name: str

    def send(self, *arguments: Any) -> Future[Any]:
        """Ask; the process is started unless it runs."""
        if (process := _process()) is None:
            process = _Started()
            _running[:] = [process]
        return process.send(self.store.uri, self.store.experiment, self.name, arguments)

    def __call__(self, *arguments: Any) -> Any:
        return self.send(*arguments).result()


class _Process(ABC):
    """The other process, as this one sees it; a thread takes its answers."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self._requests = requests
        self._owner, self._lock, self._ended = os.getpid(), Lock(), ""
        self._asked: dict[int, tuple[str, Future[Any]]] = {}
        self._n_asked = 0
        atexit.register(self._leave)
        self._listener = Thread(target=self._listen, args=[answers], daemon=True, name="answers of MLflow")
        self._listener.start()

    @abstractmethod
    def _await_end(self) -> str:
        """Wait until it has ended; return how."""

    @property
    def is_usable(self) -> bool:
        """Whether it runs, and not for the parent of a fork."""
        return not self._ended and self._owner == os.getpid()

    def send(self, uri: str, experiment: str, name: str, arguments: Sequence[Any]) -> Future[Any]:
        """Ask for a method of a store; the answer comes later."""
        answer: Future[Any] = Future()
        folder = None
        with suppress(OSError):  # the current folder is gone
            folder = os.getcwd()  # noqa: PTH109
        with self._lock:
            number = self._n_asked = self._n_asked + 1
            asked = {"number": number, "folder": folder, "store": [uri, experiment], "do": name}
            self._asked[number] = uri, answer
            with suppress(OSError):  # the listener says so
                self._write(json.dumps(asked | {"with": arguments}))
            if self._ended:
                self._fail()
        return answer

    def _write(self, line: str) -> None:
        self._requests.write(f"{line}\n")
        self._requests.flush()

    def _listen(self, answers: IO[str]) -> None:
        with answers:
            for answer in map(json.loads, answers):
                _, asked = self._asked.pop(answer["number"])
                if "error" in answer:
                    asked.set_exception(_error(*answer["error"]))
                else:
                    asked.set_result(answer["value"])
        how = self._await_end()
        with self._lock:
            self._ended = how
            self._fail()
            self._close()

    def _fail(self) -> None:
        """Let everything that is asked fail: nobody will answer."""
        while self._asked:
            uri, asked = self._asked.pop(next(iter(self._asked)))
            told = f"the process that talks to MLflow has ended ({self._ended}), perhaps killed."
            asked.set_exception(TrackingError(f"tracking.uri={uri}: {told}"))

    def _leave(self) -> None:
        """Let it end."""
        if self.is_usable:
            self._close()
            self._listener.join(_GOODBYE)

    def _close(self) -> None:
        with suppress(OSError):
            self._requests.close()


class _Started(_Process):
    """A process that this one has started.

    Parameters
    ----------
    copies : bool
        Whether it may be copied.
    """

    def __init__(self, *, copies: bool = False) -> None:
        self._copies = theirs = None
        if copies and sys.platform == "linux":  # elsewhere libraries may not survive a fork
            self._copies, theirs = socket.socketpair()
        passed = [] if theirs is None else [theirs.fileno()]
        # in a session of its own Ctrl-C does not reach it; -P: modules in the user's folder are not ours
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "recgauge.app.tracking.answering", *map(str, passed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if sys.stderr is None else None,
            text=True,
            start_new_session=True,
            pass_fds=passed,
        )
        if theirs is not None:
            theirs.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        super().__init__(self._process.stdin, self._process.stdout)

    def copied(self) -> tuple[int, int] | None:
        """See the function of this name."""
        if self._copies is None:
            return None
        (asked, requests), (answers, answered) = os.pipe(), os.pipe()
        try:
            socket.send_fds(self._copies, [b"1"], [asked, answered])
        except OSError:  # it has ended
            os.close(requests)
            os.close(answers)
            return None
        finally:
            os.close(asked)
            os.close(answered)
        return requests, answers

    def _await_end(self) -> str:
        code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _leave(self) -> None:
        """Let it end: at once if it was not needed."""
        if self.is_usable and not self._n_asked:
            self._process.kill()
        super()._leave()

    def _close(self) -> None:
        super()._close()
        if self._copies is not None:
            self._copies.close()


class _Copy(_Process):
    """A copy of the process of another program, which has given this one the pipes to it."""

    def __init__(self, requests: int, answers: int) -> None:
        super().__init__(os.fdopen(requests, "w", encoding="utf-8"), os.fdopen(answers, encoding="utf-8"))
        with suppress(OSError):
            self._write(str(os.getpid()))

    def _await_end(self) -> str:
        return "it is a copy"


_running: list[_Process] = []


def _process() -> _Process | None:
    return _running[0] if _running and _running[0].is_usable else None


def _error(kind: str, text: str) -> Exception:
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, RecgaugeError):
        return found(text)
    return RuntimeError(f"in the process that talks to MLflow:\n{text}")
