"""MLflow in a process of its own, which imports it while this one works.

Started with the program by `start`, else when a store is first asked. A request is a line of JSON on its
standard input, an answer one on its standard output. The process ends with its standard input, however the
program ends, and marks the runs that it has open as killed.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recgauge import errors
from recgauge.app.places import forget_empty_variables, give_libraries_a_home
from recgauge.app.terminal.secrets import learn_settings, private_output
from recgauge.app.tracking.alive import ended_without_a_word
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
_NOT_NEEDED = ("matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn")
"""What MLflow imports if it is there, and can do without: its package mlflow-skinny requires none of them."""
_OWN_GROUPS = ("mlflow.app", "mlflow.app.client", "mlflow.deployments")
"""Entry points of MLflow itself; others belong to plugins, which may need anything."""
_GOODBYE = 2.0
"""Seconds that the program waits for the process to end, which has usually nothing left to do."""
_PATIENCE = 20.0
"""Seconds until the process ends although MLflow has not answered, once the program has ended."""


def start(words: Sequence[str]) -> None:
    """Begin to import MLflow, unless it is there or the command line says that nothing is tracked."""
    if _process() is None and "mlflow" not in sys.modules and not set(words) & set(_UNTRACKED):
        _running[:] = [_Process()]


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
        return _opened(uri, experiment)
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
            process = _Process()
            _running[:] = [process]
        return process.send(self.store.uri, self.store.experiment, self.name, arguments)

    def __call__(self, *arguments: Any) -> Any:
        return self.send(*arguments).result()


class _Process:
    """The other process, as this one sees it; a thread takes its answers."""

    def __init__(self) -> None:
        # in a session of its own Ctrl-C does not reach it; -P: modules in the user's folder are not ours
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "recgauge.app.tracking.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if sys.stderr is None else None,
            text=True,
            start_new_session=True,
        )
        self._owner, self._lock, self._ended = os.getpid(), Lock(), ""
        self._asked: dict[int, tuple[str, Future[Any]]] = {}
        self._n_asked = 0
        atexit.register(self._leave)
        Thread(target=self._listen, daemon=True, name="answers of MLflow").start()

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
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            for answer in map(json.loads, answers):
                _, asked = self._asked.pop(answer["number"])
                if "error" in answer:
                    asked.set_exception(_error(*answer["error"]))
                else:
                    asked.set_result(answer["value"])
        code = self._process.wait()
        with self._lock:
            self._ended = f"signal {-code}" if code < 0 else f"exit code {code}"
            self._fail()
            self._close()

    def _fail(self) -> None:
        """Let everything that is asked fail: nobody will answer."""
        while self._asked:
            uri, asked = self._asked.pop(next(iter(self._asked)))
            told = f"the process that talks to MLflow has ended ({self._ended}), perhaps killed."
            asked.set_exception(TrackingError(f"tracking.uri={uri}: {told}"))

    def _leave(self) -> None:
        """Let it end: at once if it was not needed."""
        if not self.is_usable:
            return
        if not self._n_asked:
            self._process.kill()
        self._close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GOODBYE)

    def _close(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()


_running: list[_Process] = []


def _process() -> _Process | None:
    return _running[0] if _running and _running[0].is_usable else None


def _error(kind: str, text: str) -> Exception:
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, RecgaugeError):
        return found(text)
    return RuntimeError(f"in the process that talks to MLflow:\n{text}")


@cache
def _opened(uri: str, experiment: str) -> "MlflowStore":
    """Return this process's store with an address, which all jobs of a sweep share."""
    from recgauge.app.tracking.mlflow_store import MlflowStore

    learn_settings({"uri": uri})
    return MlflowStore(uri, experiment)


def serve() -> None:
    """Answer the requests on standard input until it ends; close the runs that are open then."""
    from recgauge.app.tracking.mlflow_store import abandon

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    program, requests = os.getppid(), SimpleQueue[str | None]()
    Thread(target=_read, args=[requests], daemon=True).start()
    forget_empty_variables()
    give_libraries_a_home()
    with private_output(()), suppress(BrokenPipeError):
        _import_mlflow(requests)
        while (request := requests.get()) is not None:
            answers.write(f"{json.dumps(_answer(json.loads(request)))}\n")
            answers.flush()
    abandon(ended_without_a_word(program, socket.gethostname()))
    os._exit(0)  # not held up by threads of MLflow


def _read(requests: SimpleQueue[str | None]) -> None:
    for line in sys.stdin:
        requests.put(line)
    requests.put(None)
    Timer(_PATIENCE, os._exit, [1]).start()


def _import_mlflow(requests: SimpleQueue[str | None]) -> None:
    """Import MLflow and, while nothing is asked yet, what it needs for databases."""
    from recgauge.app.tracking.servers import give_defaults

    give_defaults()
    plugins = any(group.startswith("mlflow.") and group not in _OWN_GROUPS for group in entry_points().groups)
    absent = () if plugins else [name for name in _NOT_NEEDED if name not in sys.modules]
    gc.disable()  # a tenth of the time
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type] # None: cannot be imported
    try:
        import_module("mlflow")
        if requests.empty():
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
        value = getattr(_opened(*request["store"]), request["do"])(*request["with"])
    except RecgaugeError as error:
        return {"number": number, "error": [type(error).__name__, str(error)]}
    except Exception:
        return {"number": number, "error": ["", traceback.format_exc()]}
    return {"number": number, "value": value}


if __name__ == "__main__":
    serve()
