"""A tracking server as teams run it: PostgreSQL, and MLflow in front of it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests

from e2e.program import own_environment

PASSWORD = "right"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    if not found and named is None:
        pytest.skip("needs the programs of a PostgreSQL server (initdb, pg_ctl): apt-get install postgresql")
    return found[-1].parent if found else Path(str(named)).parent


class Postgres:
    """A PostgreSQL server in a temporary folder, on a port of its own."""

    def __init__(self) -> None:
        self._programs = programs()
        # it refuses to run as the superuser
        root = os.geteuid() == 0
        self._as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if root else []
        self.folder = Path(tempfile.mkdtemp(prefix="recgauge-pg-"))
        (self.folder / "password").write_text(f"{PASSWORD}\n")
        if root:
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, "postgres")
        self.port = free_port()
        login = ["-U", "postgres", "-A", "scram-sha-256", f"--pwfile={self.folder}/password"]
        self._run("initdb", "-N", *login)
        self.start()

    @property
    def uri(self) -> str:
        return f"postgresql+psycopg2://postgres:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("pg_ctl", "-w", "-o", options, "-l", f"{self.folder}/log", "start")

    def stop(self, mode: str) -> None:
        """Stop it: "fast" ends all connections, "immediate" is a crash, from which it recovers."""
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop("immediate")
        shutil.rmtree(self.folder)

    def _run(self, program: str, *words: str) -> None:
        command = [*self._as_user, str(self._programs / program), "-D", str(self.folder / "data"), *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@dataclass
class Server:
    """``mlflow server``, as docs/server.md starts it, in a process group of its own.

    `served`: files go through the server to its folder; else programs write to the folder themselves.
    """

    database: str
    folder: Path
    served: bool = True
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.files = self.folder / "artifacts"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.files.mkdir(parents=True, exist_ok=True)
        where = (
            ["--serve-artifacts", "--artifacts-destination", str(self.files)]
            if self.served
            else ["--no-serve-artifacts", "--default-artifact-root", self.files.as_uri()]
        )
        listen = ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "mlflow", "server", "--backend-store-uri", self.database),
                    *(*where, *listen),
                ],
                env=own_environment() | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait()

    def wait(self) -> None:
        for _ in range(3000):  # at least ten minutes: the machine may be busy
            assert self._process is not None
            assert self._process.poll() is None, (self.folder / "server.log").read_text()[-2000:]
            with suppress(requests.RequestException):
                if requests.get(f"{self.uri}/health", timeout=30).ok:
                    return
            time.sleep(0.2)
        raise TimeoutError((self.folder / "server.log").read_text()[-2000:])

    def kill(self) -> None:
        """End it and its workers at once, as kill -9 does."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    @contextmanager
    def hanging(self):
        """Let it take connections and answer nothing."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self._process.pid, signal.SIGCONT)
