"""Runs the program as its users do, in an empty folder, and reads MLflow back."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
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

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the program and leave it at work."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("RECGAUGE_", "MLFLOW_"))}
        return subprocess.Popen(
            [sys.executable, str(REPOSITORY / "run.py"), *arguments],
            cwd=self.folder,
            env=inherited,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_each(
        self, commands: Sequence[Sequence[str]], prepare: Callable[[Path], None] = lambda _folder: None
    ) -> list[Done]:
        """Run one command after the other, each in a new folder, prepared; imports are paid for once."""
        folders = [self.folder / f"command{number}" for number in range(len(commands))]
        for folder in folders:
            folder.mkdir()
            prepare(folder)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("RECGAUGE_", "MLFLOW_"))}
        asked = [[str(folder), list(words)] for folder, words in zip(folders, commands, strict=True)]
        script = [sys.executable, str(Path(__file__).with_name("fork_runs.py")), json.dumps(asked)]
        done = subprocess.run(script, env=inherited, capture_output=True, text=True, timeout=300, check=True)
        return [
            Done(code, (folder / "out.txt").read_text(), (folder / "err.txt").read_text())
            for code, folder in zip(json.loads(done.stdout), folders, strict=True)
        ]

    def runs(self):
        client = MlflowClient(tracking_uri=self.uri)
        experiment = client.get_experiment_by_name("recgauge")
        found = client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"])
        return list(found)

    def has_runs(self, n_runs: int) -> bool:
        """Whether a program that is still at work has opened so many runs; asking makes no store."""
        store = self.folder / "mlflow.db"
        if not store.exists() or store.stat().st_size == 0:  # being made
            return False
        return MlflowClient(tracking_uri=self.uri).get_experiment_by_name("recgauge") is not None and (
            len(self.runs()) >= n_runs
        )

    def output(self, pattern: str = "*/*") -> list[Path]:
        return sorted(path for path in (self.folder / "outputs").glob(pattern) if path.is_dir())


@pytest.fixture
def workplace(tmp_path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="module")
def shared_workplace(tmp_path_factory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("workplace"))
