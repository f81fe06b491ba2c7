"""`recgauge ui`: the port of the page."""

import signal
import socket
import subprocess
import sys

import pytest

from recgauge.app.commands import ui
from recgauge.app.commands.cli import main
from recgauge.app.tracking.store import MlflowTracker
from recgauge.app.tracking.tracker import Tracker


@pytest.fixture
def uri(tmp_path):
    return f"sqlite:///{tmp_path}/m.db"


def test_a_port_that_is_taken_is_told_and_another_is_named(uri, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["ui", "--uri", uri, "--port", str(port)]) == 1
    told = capsys.readouterr().err
    assert f"port {port} is in use" in told
    assert "Choose another port: recgauge ui --port " in told


@pytest.mark.parametrize("port", ["70000", "-1"])
def test_a_number_that_is_no_port_is_refused(uri, port, capsys):
    assert main(["ui", "--uri", uri, "--port", port]) == 1
    assert f"port {port} cannot be used" in capsys.readouterr().err


def test_links_name_the_port_in_use(uri, capsys, monkeypatch):
    started = []

    def run(command, _environment):
        started.append(command)
        return 3

    monkeypatch.setattr(ui, "_run_until_stopped", run)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert main(["ui", "--uri", uri, "--port", str(port)]) == 3  # the server's own exit code
    assert started[0][-1] == str(port)
    assert f"http://127.0.0.1:{port}/#/experiments/1/runs" in capsys.readouterr().out
    assert f"http://127.0.0.1:{port}/" in MlflowTracker(uri).run_address("x")


def test_the_hint_below_a_table_names_a_store_that_is_not_the_usual_one(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mine.db")
    assert MlflowTracker(f"sqlite:///{tmp_path}/mine.db").server == "make ui"
    assert MlflowTracker("sqlite:////other/x.db").server == "recgauge ui --uri sqlite:////other/x.db"
    assert MlflowTracker("http://host:5000").server is None
    assert Tracker().server is None


SERVER = """
import os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(worker.pid, flush=True)
time.sleep(300)
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_server_and_its_workers_end_with_the_command(ending):
    run = "import os, sys; from recgauge.app.commands.ui import _run_until_stopped as run"
    call = f"sys.exit(run([sys.executable, '-c', {SERVER!r}], os.environ))"
    words = [sys.executable, "-c", f"{run}; {call}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout.readline().strip().isdigit()
        command.send_signal(ending)
        assert command.stdout.read() == ""  # the end of the file: nobody is left who could write
        assert command.wait(60) == 0
