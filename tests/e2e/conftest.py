"""Folders to run the program in."""

import shutil
from pathlib import Path

import pytest
from mlflow import MlflowClient

from e2e.program import Workplace


@pytest.fixture
def workplace(tmp_path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory) -> Path:
    """A store without runs: making one takes longer than a short run."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments(max_results=1)
    return path


@pytest.fixture
def has_store(workplace, empty_store) -> None:
    shutil.copy(empty_store, workplace.folder)


@pytest.fixture(scope="module")
def shared_workplace(tmp_path_factory, empty_store) -> Workplace:
    folder = tmp_path_factory.mktemp("workplace")
    shutil.copy(empty_store, folder)
    return Workplace(folder)
