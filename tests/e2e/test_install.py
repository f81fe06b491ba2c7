"""The wheel stands alone: installed in a fresh environment, run in an empty folder."""

import os
import subprocess
import sys

import pytest

from conftest import REPOSITORY

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_the_installed_package_runs_without_the_checkout(tmp_path):
    environment = tmp_path / "venv"
    run = {"check": True, "cwd": tmp_path, "env": {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}}
    subprocess.run([sys.executable, "-m", "venv", environment], **run)
    python = environment / "bin" / "python"
    constraints = REPOSITORY / "constraints.txt"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-c", constraints, str(REPOSITORY)], **run)
    done = subprocess.run(
        [environment / "bin" / "recgauge", "run", "model=popularity"], capture_output=True, text=True, **run
    )
    assert "popularity on demo" in done.stdout
    assert (tmp_path / "mlflow.db").exists()
    recgauge = environment / "bin" / "recgauge"
    subprocess.run([recgauge, "run", "experiment=worked_examples"], capture_output=True, **run)
    (page,) = tmp_path.glob("outputs/*/*/README.md")
    assert page.read_bytes() == (REPOSITORY / "experiments" / "worked_examples" / "README.md").read_bytes()
    assert not (tmp_path / "experiments").exists()
