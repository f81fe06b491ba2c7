"""``recgauge ui``: MLflow's page of a tracking store."""

import argparse
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from recgauge.app.commands.options import add_store, store_uri
from recgauge.errors import ConfigError

_NO_JOBS = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}  # more processes, for what recgauge does not use


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ui``."""
    add_store(parser)
    parser.add_argument("--port", type=int, default=5000, help="port of the page (default: %(default)s)")


def carry_out(asked: argparse.Namespace) -> int:
    """Start MLflow's server on the store until Ctrl-C; return its exit code."""
    return _serve(store_uri(asked), asked.experiment, asked.port)


def _check_port(port: int) -> None:
    """Refuse a port that the page cannot be served on, and name one that is free."""
    if (reason := _refused(port)) is None:
        return
    free = next((other for other in range(max(port + 1, 1024), 65536) if _refused(other) is None), None)
    choose = "" if free is None else f" Choose another port: recgauge ui --port {free}."
    if reason.errno == errno.EADDRINUSE:
        raise ConfigError(
            f"--port: port {port} is in use, perhaps by another `recgauge ui`: look at "
            f"http://127.0.0.1:{port}, or stop it.{choose}"
        )
    raise ConfigError(f"--port: port {port} cannot be used ({reason.strerror or reason}).{choose}")


def _refused(port: int) -> OSError | None:
    """Return why a port of this machine cannot be listened on, None if it can."""
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", port))
        except OverflowError:
            return OSError(None, "ports are 0 to 65535")
        except OSError as error:
            return error
    return None


def _serve(uri: str, experiment: str, port: int) -> int:
    """Start MLflow's server on the store until Ctrl-C."""
    from recgauge.app.tracking.store import MlflowTracker

    tracker = MlflowTracker(uri, experiment)
    if uri.startswith("http"):
        print(tracker.address())  # noqa: T201 - the command's own output
        return 0
    _check_port(port)
    tracker.serve_at(port)
    page = str(tracker.address()).replace(":5000/", f":{port}/", 1)  # a shared database remembers no port
    print(f"{page}\nCtrl-C stops the server.", flush=True)  # noqa: T201 - as above
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port)]
    # not as an argument: every user of the machine may see those
    environment = _NO_JOBS | os.environ | {"MLFLOW_BACKEND_STORE_URI": uri}
    return _run_until_stopped(command, environment)


def _run_until_stopped(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a server that has processes of its own; Ctrl-C and SIGTERM end all of them."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with subprocess.Popen(command, env=environment, start_new_session=True) as server:
        try:
            return server.wait()
        except KeyboardInterrupt:
            if hasattr(os, "killpg"):
                os.killpg(server.pid, signal.SIGTERM)
            else:
                server.terminate()
            return 0
