"""``recgauge ui``: MLflow's page of a tracking store."""

import argparse
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from recgauge.cli.commands.options import add_store, store_uri
from recgauge.errors import ConfigError
from recgauge.tracking import Store, address, check_experiment
from recgauge.tracking.pages import DEFAULT_PORT, serve_at
from recgauge.utils.files import user_temporary
from recgauge.utils.messages import print_note

_QUIET = {
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # more processes, for what recgauge does not use
    "PYTHONWARNINGS": "ignore",
}


def add_ui_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ui``."""
    add_store(parser)
    words = f"port of the page (default: {DEFAULT_PORT}, or the next one that is free)"
    parser.add_argument("--port", type=int, help=words)


def run_ui(options: argparse.Namespace) -> int:
    """Start MLflow's server on the store until Ctrl-C; return its exit code."""
    store = Store(store_uri(options), options.experiment)
    check_experiment(store)
    if store.uri.startswith("http"):
        print(address(store))  # noqa: T201 - the command's own output
        return 0
    with ExitStack() as held:
        return _serve(store, _free_port(options.port, held))


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


def _free_port(number: int | None, held: ExitStack) -> int:
    """Return the port that the user has named, or the first free one from the usual one on, and hold it."""
    first = DEFAULT_PORT if number is None else number
    if (reason := _taken(first, held)) is None:
        return first
    free = next((port for port in range(max(first, 1023) + 1, 65536) if _taken(port, held) is None), None)
    why = "is in use" if reason.errno == errno.EADDRINUSE else f"cannot be used ({reason.strerror or reason})"
    if free is None or number is not None:
        choose = "" if free is None else f" Choose another port: recgauge ui --port {free}."
        raise ConfigError(f"--port: port {first} {why}.{choose}")
    print_note(f"port {first} {why}, so the page is at port {free}")
    return free


def _taken(port: int, held: ExitStack) -> OSError | None:
    """Return why a port cannot be used, None if it is held for this page, whose server starts later."""
    folder = user_temporary()
    try:
        if folder is not None:
            held.enter_context(FileLock(folder / f"ui-{port}.lock", timeout=0))
    except Timeout:
        return OSError(errno.EADDRINUSE, "another page is about to use it")
    return _refused(port)


def _refused(port: int) -> OSError | None:
    """Return why a port of this machine cannot be listened on, None if it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", port))
        except OverflowError:
            return OSError(None, "ports are 0 to 65535")
        except OSError as error:
            return error
    return None


def _run_until_stopped(command: Sequence[str], environment: Mapping[str, str], page: str, port: int) -> int:
    """Run a server of several processes, and name its page when it listens; Ctrl-C and SIGTERM end all."""
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):  # an exception might come before there is a server to end
        signal.signal(number, lambda number, _: stopped.append(number))
    is_named = False
    with (
        TemporaryDirectory(prefix="recgauge-") as empty,  # uvicorn imports what is in its current folder
        subprocess.Popen(command, env=environment, cwd=empty, stdout=2, start_new_session=True) as server,
    ):
        while server.poll() is None and not stopped:
            if not is_named and _refused(port) is not None:
                print(f"{page}\nCtrl-C stops the server.", flush=True)  # noqa: T201 - as above
                is_named = True
            time.sleep(0.2)
        for number in (signal.SIGINT, signal.SIGTERM):  # once more, for a server that does not end
            signal.signal(number, signal.default_int_handler)
        if server.poll() is not None:
            return server.returncode
        if hasattr(os, "killpg"):
            os.killpg(server.pid, signal.SIGTERM)
        else:
            server.terminate()
        return 0
