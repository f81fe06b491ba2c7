"""A tracking server as teams run it: PostgreSQL, MLflow in front of it, and a network that can fail."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests

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
    more: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
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
                    *(*where, *listen, *self.more),
                ],
                env=own_environment() | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"} | self.environment,
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


class Network:
    """A proxy in front of a server that cuts connections or answers late.

    `cut_after` is a number of bytes from the program that runs, counted over all connections: the one that
    sends them ends there, or, with `cut_answer`, when the server answers; later ones work. `delay` is in
    seconds before each answer. `instead` is what every question is answered with, while the server is not
    asked.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listening.getsockname()[1]
        self.cut_after: int | None = None
        self.cut_answer = False
        self.delay = 0.0
        self.instead: bytes | None = None
        self.n_cut = self.n_bytes = self.n_troubled = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._to))
                except OSError:
                    _reset(client)
                    continue
                for one, other, asked in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(one, other, asked), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, asked: bool) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                if asked and self.instead is not None:
                    self.n_troubled += 1
                    one.sendall(self.instead)
                    time.sleep(0.1)  # let it be read before the connection ends
                    break
                if not asked and self.delay:
                    self.n_troubled += 1
                    time.sleep(self.delay)
                allowed = self._allowed(len(data), asked)
                if allowed < len(data):
                    other.sendall(data[:allowed])
                    break
                other.sendall(data)
        for end in (one, other):
            _reset(end)

    def _allowed(self, size: int, asked: bool) -> int:
        """Return how many of `size` bytes pass before the connection is cut."""
        with self._lock:
            if asked:
                self.n_bytes += size
            over = self.cut_after is not None and self.n_bytes > self.cut_after
            # the server has the whole question and the answer is lost, or a part of the question is
            if over and asked != self.cut_answer:
                self.n_cut += 1
                left = max(0, size - (self.n_bytes - self.cut_after)) if asked else 0
                self.cut_after = None
                return left
        return size


def _reset(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        end.close()


def answer(status: str, body: str = "", *headers: str) -> bytes:
    """Return an answer of HTTP, such as that of a proxy whose server is away."""
    kind = "text/html" if body.startswith("<") else "application/json"
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*lines, *headers, "", body]).encode()


def own_environment() -> dict[str, str]:
    """Return the environment without what would change where a run reads and writes."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("RECGAUGE_", "MLFLOW_"))
    }
