"""The process of another environment's Python that trains and recommends: start it, ask it, end it."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from time import monotonic
from typing import IO, Any
from weakref import finalize

from recgauge.errors import ConfigError, FitError, printable, shortened
from recgauge.isolated.workers.serving import FOLDER
from recgauge.utils.progress import Advance

HERE = Path(__file__).resolve().parent
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_START = f"""
import importlib, os, sys
for name in {_THREADS!r}:
    os.putenv(name, sys.argv[1])
sys.path += sys.argv[2:-1]
importlib.import_module(sys.argv[-1]).main()
"""
_LAST = 8  # lines of the log that a message has


@dataclass(frozen=True)
class Program:
    """What is run and by which Python."""

    interpreter: Path
    module: str
    called: str
    folders: Sequence[Path] = (HERE,)


class Worker:
    """A process that is asked one thing at a time; it ends with this object, an error or Ctrl-C."""

    def __init__(self, program: Program, n_threads: int, log: Path | None) -> None:
        self.called = program.called
        folder = TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True)
        self.folder, self._keeps_log = Path(folder.name), log is not None
        self.log = log or Path(f"{folder.name}.log")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        command = [str(program.interpreter), "-I", "-B", "-c", _START, str(n_threads)]
        with self.log.open("wb") as errors:
            self._process = subprocess.Popen(
                [*command, *map(str, program.folders), program.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self.folder,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C comes to us, and we end it with all its children
            )
        self._answers = Queue[Any]()
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        self._end = finalize(self, _end, self._process, folder, None if log else self.log)

    def ask(
        self, command: Mapping[str, Any], *, timeout: float, advance: Advance | None = None
    ) -> dict[str, Any]:
        """Return the answer to a command; an error ends the process."""
        try:
            return self._asked(command, monotonic() + timeout, advance)
        except Empty as error:
            raise self.failed(
                f"nothing came back within timeout={timeout:g} seconds, so it was ended; for more time "
                "set model.timeout"
            ) from error
        except BaseException:  # Ctrl-C among them
            self.close()
            raise

    def _asked(self, command: Mapping[str, Any], until: float, advance: Advance | None) -> dict[str, Any]:
        with suppress(OSError, ValueError):  # it has died: the answers end, which is told below
            self._send(json.dumps(command))
        while (answer := self._answers.get(timeout=max(0.0, until - monotonic()))) is not None:
            if "progress" in answer:
                if advance is not None:
                    advance(1)
            elif "error" not in answer:
                return dict(answer)
            elif answer["settings"]:
                raise ConfigError(f"model: {self.called}: {answer['error']}.")
            else:
                raise self.failed(answer["error"])
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        killed = ", perhaps because memory ran out" if code == -signal.SIGKILL else ""
        raise self.failed(f"its process ended with {how}{killed}")

    def _send(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def failed(self, what: str) -> FitError:
        """End the process and return an error that says what happened, with the last lines of the log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = "".join(f"\n    {printable(shortened(line, 300))}" for line in lines[-_LAST:])
        if alive := self._end.detach():
            process, folder, _ = alive[2]
            _end(process, folder, None)  # the log stays
        told = f" Its last lines (all: {self.log}):{last}" if last else f" It printed nothing ({self.log})."
        return FitError(f"{self.called}: {shortened(printable(what), 1000).rstrip('.')}.{told}")

    def close(self) -> None:
        """End the process and remove its working folder."""
        self._end()


def _read(stream: IO[str], answers: "Queue[Any]") -> None:
    """Pass on answers; None at their end, and where the process says something else."""
    with suppress(ValueError):  # a half-written line of a process that has died
        for line in stream:
            answers.put(json.loads(line))
    answers.put(None)


def _end(process: "subprocess.Popen[str]", folder: Any, log: Path | None) -> None:
    """End a process with its children; this also runs when Python itself ends."""
    if process.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
    if folder is not None:
        folder.cleanup()
    if log is not None:
        log.unlink(missing_ok=True)
