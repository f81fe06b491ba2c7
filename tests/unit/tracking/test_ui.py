"""`recgauge ui`: the port of the page."""

import signal
import socket
import subprocess
import sys

import pytest
import requests
from mlflow import MlflowClient

from recgauge.cli.commands import ui
from recgauge.cli.commands.cli import main
from recgauge.tracking.pages import run_address
from recgauge.tracking.store import Store, open_store


@pytest.fixture
def uri(store):
    open_store(store)
    return store.uri


def test_a_store_or_an_experiment_that_is_not_there_is_not_made(tmp_path, uri, capsys):
    assert main(["ui", "--uri", f"sqlite:///{tmp_path}/mlfow.db"]) == 1
    assert not (tmp_path / "mlfow.db").exists()
    assert "does not exist" in capsys.readouterr().err
    assert main(["ui", "--uri", uri, "--experiment", "recguage"]) == 1
    assert "recgauge" in capsys.readouterr().err
    assert MlflowClient(tracking_uri=uri).get_experiment_by_name("recguage") is None


def test_a_port_that_is_taken_is_told_and_another_is_named(uri, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["ui", "--uri", uri, "--port", str(port)]) == 1
    told = capsys.readouterr().err
    assert f"port {port} is in use" in told
    assert "Choose another port: recgauge ui --port " in told


def test_links_name_the_port_in_use(uri, capsys, monkeypatch):
    started = []

    def run(command, environment, page, port):
        started.append((command, environment, page))
        return 3

    monkeypatch.setattr(ui, "_run_until_stopped", run)
    port = free_port()
    assert main(["ui", "--uri", uri, "--port", str(port)]) == 3  # the server's own exit code
    command, environment, page = started[0]
    assert str(port) in command
    assert uri not in command  # every user of the machine may see a command line
    assert environment["MLFLOW_BACKEND_STORE_URI"] == uri
    assert page.startswith(f"http://127.0.0.1:{port}/#/experiments/")
    assert f"http://127.0.0.1:{port}/" in run_address(Store(uri), "x")
    assert main(["ui", "--uri", uri]) == 3
    assert started[1][2] == page


@pytest.mark.slow
def test_the_page_is_named_when_it_can_be_opened(tmp_path, uri):
    (tmp_path / "mlflow.py").write_text("raise SystemExit('the current folder is imported')")
    port = free_port()
    words = [sys.executable, "-P", "-m", "recgauge", "ui", "--port", str(port), "--uri"]
    with subprocess.Popen([*words, uri], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as command:
        try:
            assert command.stdout.readline().startswith(f"http://127.0.0.1:{port}/#/experiments/")
            assert requests.get(f"http://127.0.0.1:{port}/health", timeout=10).status_code == 200
        finally:
            command.send_signal(signal.SIGINT)
        assert command.wait(60) == 0


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


SERVER = """
import os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(worker.pid, flush=True)  # comes to standard error: standard output has the page's address alone
time.sleep(300)
"""


def test_the_server_and_its_workers_end_with_the_command():
    run = "import os, sys; from recgauge.cli.commands.ui import _run_until_stopped as run"
    call = f"sys.exit(run([sys.executable, '-c', {SERVER!r}], os.environ, '', {free_port()}))"
    words = [sys.executable, "-c", f"{run}; {call}"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as command:
        assert command.stderr.readline().strip().isdigit()
        command.send_signal(signal.SIGTERM)
        assert command.stderr.read() == ""  # the end of the file: nobody is left who could write
        assert command.wait(60) == 0
