"""The ``recgauge`` command: ``run`` as ``python run.py`` does, ``ui`` to look at the results."""

import argparse
import os
import subprocess
import sys

from recgauge._version import __version__

RUN_HELP = "train and evaluate; `recgauge run --help` lists groups and options"


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand and return the exit code.

    Parameters
    ----------
    arguments : list of str, optional
        Default: the command line's.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["run"]:
        from recgauge.app.main import run_command

        sys.argv = ["recgauge run", *words[1:]]  # Hydra reads the command line itself
        return run_command()
    parser = argparse.ArgumentParser(prog="recgauge", description="Evaluate recommender systems.")
    parser.add_argument("--version", action="version", version=f"recgauge {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("run", help=RUN_HELP, add_help=False)
    ui = commands.add_parser("ui", help="open the tracked results in a browser")
    default = os.environ.get("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
    ui.add_argument("--uri", default=default, help="tracking store (default: %(default)s)")
    ui.add_argument("--port", type=int, default=5000, help="port of the page (default: %(default)s)")
    return _serve(**{key: value for key, value in vars(parser.parse_args(words)).items() if key != "command"})


def _serve(uri: str, port: int) -> int:
    """Start MLflow's server on the store until Ctrl-C."""
    from recgauge.app.main import print_error
    from recgauge.app.tracking import MlflowTracker
    from recgauge.errors import TrackingError

    try:
        page = MlflowTracker(uri).address() or ""
    except TrackingError as error:
        print_error(str(error))
        return 1
    page = page.replace("127.0.0.1:5000", f"127.0.0.1:{port}")
    print(f"{page}\nCtrl-C stops the server.", flush=True)  # noqa: T201 - the command's own output
    if uri.startswith("http"):
        return 0
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri, "--port", str(port)]
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 0
