"""Runs the program as its users do, in an empty folder, and reads MLflow back."""

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from mlflow import MlflowClient

from conftest import REPOSITORY


def own_environment() -> dict[str, str]:
    """Return the environment without what would change where a run reads and writes."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("RECGAUGE_", "MLFLOW_"))
    }
    return kept | {"RECGAUGE_REPORT": "false"}  # the tests of the report ask for it


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str
    renames: int = 0
    """Of a run that was to die at one: how many there were."""


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


# A model that says by a file when its training begins.
ENDLESS = """
import time
from pathlib import Path
from recgauge.models.biased_mf import BiasedMF

class Endless(BiasedMF):
    def fit(self, train, *, rng):
        Path(f"fitting{time.time_ns()}").touch()
        return super().fit(train, rng=rng)
"""


class ForkServer:
    """A process that has imported the program and runs it in forks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fork_server.py"))],
            env=own_environment()
            | {"MLFLOW_DISABLE_TELEMETRY": "true"},  # its thread would not survive a fork
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str], **more: object
    ) -> Done:
        with TemporaryDirectory() as kept:
            files = {name: Path(kept) / name for name in ("out", "err", "renames")}
            files["renames"].touch()
            request = {"folder": folder, "arguments": list(arguments), "environment": dict(environment)}
            code = self.ask(request | files | more)
            out, err = (files[name].read_text() for name in ("out", "err"))
            return Done(code, out, err, files["renames"].stat().st_size)

    def ask(self, request: Mapping[str, object]):
        """Send one line, see `fork_server.py`, and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request, default=str) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate(timeout=60)


class AtWork:
    """A run in a fork that is left at work, as far as tests need the methods of a process."""

    def __init__(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]):
        number = len(list(folder.glob("*.out.txt")))
        self._files = [folder / f"{number}.{name}.txt" for name in ("out", "err")]
        request = {"folder": folder, "arguments": list(arguments), "environment": environment, "leave": True}
        self.pid = _server().ask(request | dict(zip(("out", "err"), self._files, strict=True)))
        self.returncode: int | None = None
        self._sent: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _server().ask({"wait": self.pid})
        return self.returncode

    def send_signal(self, number: int) -> None:
        self._sent = number
        if self.poll() is None:  # it is not waited for elsewhere: the id is still its own
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for its end and return what it has printed.

        Python ignores a Ctrl-C that falls into a destructor, as numba runs many while it compiles; people
        press it again.
        """
        if self._sent is not None:
            with suppress(AssertionError):
                wait_until(lambda: self.poll() is not None, timeout / 4)
            if self.poll() is None:
                self.send_signal(self._sent)
        wait_until(lambda: self.poll() is not None, timeout)
        out, err = (file.read_text() for file in self._files)
        return out, err


@cache
def _server() -> ForkServer:
    server = ForkServer()
    atexit.register(server.stop)
    return server


class Workplace:
    """An empty folder to run in, with a tracking store of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.uri = f"sqlite:///{folder}/mlflow.db"

    def run(self, *arguments: str, **environment: str) -> Done:
        """Run the program in a fork of a process that has imported it, or in a new one where that matters.

        Variables that Python reads when it starts matter, except for PYTHONPATH.
        """
        if any(name.startswith("PYTHON") for name in environment.keys() - {"PYTHONPATH"}):
            return self.run_fresh(*arguments, **environment)
        return _server().run(self.folder, arguments, environment)

    def succeed(self, *arguments: str, **environment: str) -> Done:
        """Run the program, which ends well."""
        done = self.run(*arguments, **environment)
        assert done.code == 0, done.err
        return done

    def fail(self, *arguments: str, **environment: str) -> Done:
        """Run the program, which ends with an error and without a traceback."""
        done = self.run(*arguments, **environment)
        assert done.code == 1, done.err
        assert "Traceback" not in done.err + done.out
        return done

    def run_fresh(self, *arguments: str, **environment: str) -> Done:
        """Run the program as a user does, from the start of Python on."""
        job = self.start_fresh(*arguments, **environment)
        out, err = job.communicate(timeout=300)
        return Done(job.returncode, out, err)

    def start(self, *arguments: str, **environment: str) -> AtWork:
        """Start the program in a fork, see `run`, and leave it at work."""
        return AtWork(self.folder, arguments, environment)

    def start_endless(self, *arguments: str, n_models: int = 1) -> AtWork:
        """Start a run or a sweep that would take hours, and return when so many models are being trained."""
        (self.folder / "endless.py").write_text(ENDLESS)
        words = ["model=biased_mf", "model._target_=endless.Endless", "allowed_targets=[endless]"]
        if not any(word.startswith("model.n_epochs=") for word in arguments):
            words.append("model.n_epochs=1000000")
        words += ["cutoffs=[5]", *arguments]
        job = self.start(*words, PYTHONPATH=str(self.folder))
        wait_until(lambda: len(list(self.folder.glob("fitting*"))) >= n_models or job.poll() is not None)
        return job

    def run_killed_at(self, rename: int, *arguments: str) -> Done:
        """Run the program in a fork that kills itself just before a rename, see `fork_server.py`."""
        return _server().run(self.folder, arguments, {}, kill_at=rename)

    def start_fresh(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start the program as a user does and leave it at work."""
        return subprocess.Popen(
            [sys.executable, str(REPOSITORY / "run.py"), *arguments],
            cwd=self.folder,
            env=own_environment() | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_each(
        self,
        commands: Sequence[Sequence[str]],
        prepare: Callable[[Path], None] = lambda _folder: None,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> list[Done]:
        """Run one command after the other, each in a new folder, prepared."""
        done = []
        for number, words in enumerate(commands):
            folder = self.folder / f"command{number}"
            folder.mkdir()
            prepare(folder)
            done.append(_server().run(folder, words, environment))
        return done

    def runs(self, *, comparisons: bool = False):
        """Return the runs, oldest first, without trials; those that sum up a sweep only if `comparisons`."""
        client = MlflowClient(tracking_uri=self.uri)
        experiment = client.get_experiment_by_name("recgauge")
        runs = client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"])
        finals = [run for run in runs if "recgauge.trial" not in run.data.tags]
        return [r for r in finals if (r.data.tags.get("recgauge.summary") == "comparison") == comparisons]

    def output(self, pattern: str = "*/*") -> list[Path]:
        return sorted(path for path in (self.folder / "outputs").glob(pattern) if path.is_dir())
