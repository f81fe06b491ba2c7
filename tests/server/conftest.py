"""One PostgreSQL and two MLflow servers for all tests, and sweeps that wait where a test wants to do harm."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from mlflow import MlflowClient

from conftest import REPOSITORY
from e2e.program import Done, Workplace, own_environment
from recgauge.tracking.delivering import waiting
from server.stack import Postgres, Server

# A model that lets the test go on at some jobs, and waits until it may itself.
WAITS = """
import time
from dataclasses import dataclass
from pathlib import Path
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Waits(Popularity):
    number: int = 0

    def fit(self, train, *, rng):
        if Path(f"wait-{self.number}").exists():
            Path(f"reached-{self.number}").touch()
            while Path(f"wait-{self.number}").exists():
                time.sleep(0.05)
        return super().fit(train, rng=rng)
"""


@pytest.fixture(scope="session")
def postgres():
    pytest.importorskip("psycopg2", reason="needs psycopg2: pip install -e '.[server]'")
    made = Postgres()
    yield made
    made.remove()


@pytest.fixture(scope="session", params=["served", "direct"])
def server(request, postgres, tmp_path_factory):
    """A server whose files go through it, and one whose folder is written by the program itself."""
    made = Server(postgres.uri, tmp_path_factory.mktemp(request.param), served=request.param == "served")
    try:
        made.start()
        yield made
    finally:
        made.kill()


class Place(Workplace):
    """A folder to run sweeps in that are tracked by a server, in an MLflow experiment of its own."""

    def __init__(self, folder: Path, uri: str, server: Server) -> None:
        super().__init__(folder)
        self.uri, self.server = uri, server
        self.experiment = f"{folder.name} {os.urandom(4).hex()}"
        (folder / "waits.py").write_text(WAITS)

    def words(self, n_jobs: int, *more: str) -> list[str]:
        numbers = ",".join(map(str, range(n_jobs)))
        model = ["model=popularity", "model._target_=waits.Waits", f"+model.number={numbers}"]
        store = [f"tracking.uri={self.uri}", f"tracking.experiment={self.experiment}"]
        return ["-m", *model, "allowed_targets=[waits]", "cutoffs=[5]", *store, *more]

    @contextmanager
    def sweep(self, n_jobs: int, *more: str, waits_at: tuple[int, ...] = (), patience: int = 60):
        """Run a sweep beside the test; the value lets it reach a job, go on, and end.

        A server on a busy machine may take longer than recgauge waits for it, so tests wait longer.
        """
        for number in waits_at:
            (self.folder / f"wait-{number}").touch()
        running = Sweep(self, self.words(n_jobs, *more), patience)
        running.start()
        try:
            yield running
        finally:
            for number in waits_at:
                (self.folder / f"wait-{number}").unlink(missing_ok=True)
            running.join()

    def command_line(self, n_jobs: int, *more: str) -> list[str]:
        return [sys.executable, str(REPOSITORY / "run.py"), *self.words(n_jobs, *more)]

    def added(self, patience: int = 60) -> dict[str, str]:
        """Return what a program's environment has in addition."""
        return {"PYTHONPATH": str(self.folder), "MLFLOW_HTTP_REQUEST_TIMEOUT": str(patience)}

    def sync(self, *words: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "recgauge", "sync", *(words or ("--uri", self.uri))],
            cwd=self.folder,
            env=own_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def n_waiting(self) -> int:
        return len(waiting(self.folder / "outputs"))

    def stored(self):
        """Return all runs of the experiment but those that sum up others."""
        client = MlflowClient(tracking_uri=self.uri)
        found = client.get_experiment_by_name(self.experiment)
        runs = [] if found is None else client.search_runs([found.experiment_id])
        return [run for run in runs if "recgauge.summary" not in run.data.tags]

    def check_complete(self, n_runs: int) -> None:
        """Check that the store has each run once, with all that belongs to it, and nothing else."""
        runs = self.stored()
        assert [run.info.status for run in runs] == ["FINISHED"] * n_runs
        for tag in ("recgauge.files_sha256", "recgauge.fingerprint"):
            assert len({run.data.tags[tag] for run in runs}) == n_runs, tag
        assert len({run.data.params["model.number"] for run in runs}) == n_runs
        metrics, params = (
            {frozenset(getattr(run.data, kind)) for run in runs} for kind in ("metrics", "params")
        )
        assert len(metrics) == len(params) == 1
        assert "ndcg_at_5" in next(iter(metrics))
        for run in runs:
            folder = self.server.files / run.info.experiment_id / run.info.run_id / "artifacts"
            sums = (folder / "SHA256SUMS").read_bytes()
            assert hashlib.sha256(sums).hexdigest() == run.data.tags["recgauge.files_sha256"]
            for line in sums.decode().splitlines():
                digest, _, name = line.partition("  ")
                assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
            assert "recommendations.parquet" in sums.decode()


class Sweep(threading.Thread):
    """A sweep that runs beside the test."""

    def __init__(self, place: Place, words: list[str], patience: int) -> None:
        super().__init__()
        self._place, self._words, self._added = place, words, place.added(patience)
        self.done = Done(-1, "", "")

    def run(self) -> None:
        self.done = self._place.run(*self._words, **self._added)

    def reach(self, number: int) -> None:
        """Wait until the sweep has begun a job."""
        while not (self._place.folder / f"reached-{number}").exists():
            assert self.is_alive(), self.done.err
            time.sleep(0.05)

    def go_on(self, number: int) -> None:
        (self._place.folder / f"wait-{number}").unlink()

    def end(self) -> Done:
        self.join()
        assert "Traceback" not in self.done.err, self.done.err
        return self.done


@pytest.fixture
def place(tmp_path, server):
    return Place(tmp_path, server.uri, server)
