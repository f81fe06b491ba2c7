"""``recgauge ui``: MLflow's page of a tracking store."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from recgauge.cli.commands.options import add_store, store_uri
from recgauge.errors import ConfigError
from recgauge.tracking.finding import check_experiment
from recgauge.tracking.pages import DEFAULT_PORT, address, linked_port, serve_at
from recgauge.tracking.store import Store
from recgauge.utils.messages import print_note

_LAST = 65535
_QUIET = {
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # more processes, for what recgauge does not use
    "PYTHONWARNINGS": "ignore",
}


def add_ui_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ui``."""
    parser.description = "Start MLflow on the tracked runs, print their page's address; Ctrl-C stops."
    add_store(parser)
    words = f"port of the page (default: the last one, at first {DEFAULT_PORT}; the next if it is in use)"
    parser.add_argument("--port", type=_port, metavar="PORT", help=words)


def _port(text: str) -> int:
    """Return the number of a port."""
    if not text.isdecimal() or not 1 <= int(text) <= _LAST:
        raise argparse.ArgumentTypeError(
            f"a port is a number from 1 to {_LAST}, as in --port 8080; got {text}"
        )
    return int(text)


def run_ui(options: argparse.Namespace) -> int:
    """Start MLflow's server on the store until Ctrl-C; return its exit code.

    Examples
    --------
    recgauge ui
        the runs of the current folder
    recgauge ui --port 8080
        on another port
    """
    store = Store(store_uri(options), options.experiment)
    check_experiment(store)
    if store.uri.startswith("http"):
        print(address(store))  # noqa: T201 - the command's own output
        return 0
    return _serve(store, _free_port(options.port, linked_port(store)))


def _serve(store: Store, port: int) -> int:
    serve_at(store, port)
    command = [sys.executable, "-P", "-m", "mlflow", "server", "--port", str(port)]
    command += ["--workers", "2", "--uvicorn-opts", "--log-level warning"]
    # not as an argument: every user of the machine may see those
    uri = store.uri if store.file is None else str(store.plain()["uri"])
    environment = _QUIET | os.environ | {"MLFLOW_BACKEND_STORE_URI": uri, "PYTHONSAFEPATH": "1"}
    # a shared database remembers no port
    page = address(store).replace(f":{DEFAULT_PORT}/", f":{port}/", 1)
    return _run_until_stopped(command, environment, page, port)


def _free_port(number: int | None, usual: int) -> int:
    """Return the port that the user has named, or the first free one from the usual one on."""
    first = usual if number is None else number
    port = next(filter(_is_free, range(first, _LAST + 1)), None)
    if port is None or number not in (None, port):
        raise ConfigError(
            f"--port: port {first} is in use, or no program may take it. Choose another port: recgauge ui "
            f"--port {port or DEFAULT_PORT}."
        )
    if port != first:
        print_note(f"port {first} is in use, so the page is at port {port}")
    return port


def _is_free(port: int) -> bool:
    """Whether a program may listen on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
    return True


def _run_until_stopped(command: Sequence[str], environment: Mapping[str, str], page: str, port: int) -> int:
    """Run a server of several processes, and name its page when it listens; Ctrl-C and SIGTERM end all."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        TemporaryDirectory(prefix="recgauge-") as empty,  # uvicorn imports what is in its current folder
        subprocess.Popen(command, env=environment, cwd=empty, stdout=2, start_new_session=True) as server,
    ):
        try:
            while server.poll() is None and _is_free(port):
                time.sleep(0.2)
            if server.poll() is None:
                print(f"{page}\nCtrl-C stops the server.", flush=True)  # noqa: T201 - as above
            return server.wait()
        except KeyboardInterrupt:
            if hasattr(os, "killpg"):
                os.killpg(server.pid, signal.SIGTERM)
            else:
                server.terminate()
            return 0
