"""The process of another environment's Python that trains and recommends: its start, its answers, its end.

Commands and answers are lines of JSON; arrays go through files of a working folder.
"""

import json
import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from time import monotonic
from typing import Any
from weakref import finalize

from recgauge.errors import ConfigError, FitError, MissingLibraryError, printable, shortened
from recgauge.isolated.workers.serving import FOLDER
from recgauge.utils.messages import print_note

WORKERS = Path(__file__).resolve().parent / "workers"
_PATIENCE = 30.0  # seconds; a worker whose packages are there has begun by then
_LAST = 8  # lines of the log that a message has
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def find_uv() -> str:
    """Return the path of uv, beside this Python or on the search path."""
    folders = [sysconfig.get_path("scripts"), *os.get_exec_path()]
    if path := shutil.which("uv", path=os.pathsep.join(folders)):
        return path
    raise MissingLibraryError(
        "models of libraries in environments of their own are installed and run by uv, which is not here. "
        "Install it with: pip install 'recgauge[isolated]'"
    )


class Worker:
    """A process that trains a model and then makes lists; it ends with this object, an error or Ctrl-C.

    `timeout` are the seconds that it may take for an answer, `seconds` what it measures itself, `versions`
    those that its numbers hang on. A MissingLibraryError says that its packages cannot be installed.
    """

    def __init__(
        self, command: Sequence[str], title: str, n_threads: int, timeout: float, log: Path | None
    ) -> None:
        self._title, self._timeout = title, timeout
        self.seconds = {"fit": 0.0, "recommend": 0.0}
        folder = TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True)
        self.folder = Path(folder.name)
        self._log = log or self.folder / "library.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        with self._log.open("wb") as errors:
            self._process: Any = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self.folder,
                env=variables | dict.fromkeys(_THREADS, str(n_threads)),
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C comes to us, and we end it with all its children
            )
        self.close = finalize(self, _end, self._process, folder)  # once
        note = f"{title} is installed in an environment of its own, once; this takes some minutes"
        self.versions = self._answer(Timer(_PATIENCE, print_note, [note]))
        if not self.versions:
            remedy = f"Install it once, where there is a network: uv sync --script {command[-1]}"
            raise MissingLibraryError(f"{self._ended('it could not be installed')}\n{remedy}")

    def ask(self, action: str, **command: Any) -> Any:
        """Have something done and return what comes back, such as the loss; an error ends the process."""
        with suppress(OSError):  # it has died, and the answers end, too
            print(json.dumps({"do": action, **command}), file=self._process.stdin, flush=True)
        start = monotonic()
        answer = self._answer(Timer(self._timeout, _kill, [self._process]))
        if "invalid" in answer:
            self.close()
            raise ConfigError(f"model: {self._title}: {shortened(printable(answer['invalid']), 1000)}")
        if not answer:
            ended = f"its process ended with exit code {self._process.wait()}"
            late = f"no answer within timeout={self._timeout:g} seconds; for more time set model.timeout"
            raise FitError(self._ended(ended if monotonic() - start < self._timeout else late))
        self.seconds["recommend" if action == "recommend" else "fit"] += answer["seconds"]
        return answer["value"]

    def _answer(self, timer: Timer) -> dict[str, Any]:
        """Return the next answer, empty when the process has ended; the timer runs until then."""
        timer.start()
        try:
            answer: dict[str, Any] = json.loads(self._process.stdout.readline() or "{}")
            return answer
        except BaseException:  # Ctrl-C among them
            self.close()
            raise
        finally:
            timer.cancel()

    def _ended(self, reason: str) -> str:
        """End the process and return what happened, with the last lines of the log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST:]
        self.close()
        last = "".join(f"\n    {printable(shortened(line, 300))}" for line in lines)
        return f"{self._title}: {reason}. Its last lines:{last or ' none'}"


def _kill(process: Any) -> None:
    """Kill a process with its children."""
    if os.name == "nt":
        process.kill()
    elif process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: Any, folder: Any) -> None:
    """End a process and remove its folder; this also runs when Python itself ends."""
    with suppress(OSError), process:
        _kill(process)
    folder.cleanup()
