"""An empty store, made once, and complete folders to deliver to copies of it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from recgauge.runs.folder import write_checksums
from recgauge.runs.record import JobFacts
from recgauge.tracking.store import Store, open_store
from records import metric, record_with


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    file = tmp_path_factory.mktemp("store") / "mlflow.db"
    open_store(Store(f"sqlite:///{file}", "elsewhere"))
    return file


@pytest.fixture
def store(tmp_path, empty_store):
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return Store(f"sqlite:///{tmp_path}/mlflow.db")


ENVIRONMENT = {"recgauge": "1", "python": "3.11", "packages": {"numpy": "2"}, "git_commit": None}
SETTINGS = {"seed": 0, "model": {"n_factors": 8}, "tracking": {"log_model": False}}


def complete(folder: Path, store: Store, *, seed: int = 0, **changes) -> Path:
    """Write the folder of a run, as small as it can be."""
    job = JobFacts(
        "svd · d", 1_700_000_000.0, 1_700_000_060.0, "ann", "outputs/sweep", "baselines", store.plain()
    )
    results = (metric("ndcg", 10, 0.25, stderr=0.01), metric("ndcg", 5, 0.2), metric("recall", 10, 0.5))
    settings = SETTINGS | {"seed": seed}
    record = record_with(
        *results, settings=settings, environment=ENVIRONMENT, command="python run.py", job=job
    )
    record = replace(record, names={**record.names, "model": "svd"}, seed=seed, **changes)
    (folder / "figures").mkdir(parents=True)
    (folder / "record.json").write_text(record.to_json())
    (folder / "figures" / "a.png").write_bytes(b"png")
    write_checksums([folder / "record.json", folder / "figures" / "a.png"], folder)
    return folder


@pytest.fixture
def folder(tmp_path, store):
    return complete(tmp_path / "outputs" / "run", store)
