"""Runs the program as its users do, in an empty folder, and reads MLflow back."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from mlflow import MlflowClient

from conftest import REPOSITORY


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class Workplace:
    """An empty folder to run in, with a tracking store of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.uri = f"sqlite:///{folder}/mlflow.db"

    def run(self, *arguments: str, **environment: str) -> Done:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("RECGAUGE_", "MLFLOW_"))}
        done = subprocess.run(
            [sys.executable, str(REPOSITORY / "run.py"), *arguments],
            cwd=self.folder,
            env=inherited | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def runs(self):
        client = MlflowClient(tracking_uri=self.uri)
        experiment = client.get_experiment_by_name("recgauge")
        found = client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"])
        return list(found)

    def output(self, pattern: str = "*/*") -> list[Path]:
        return sorted(path for path in (self.folder / "outputs").glob(pattern) if path.is_dir())


@pytest.fixture
def workplace(tmp_path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="module")
def shared_workplace(tmp_path_factory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("workplace"))
