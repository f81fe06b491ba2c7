"""Sweeps that share a PostgreSQL, through MLflow or straight, and are killed: every job is done once."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import ViewType

from e2e.test_shared_sweeps import Place
from recgauge.app.files.artifacts import CHECKSUMS, read_checksums
from recgauge.app.tracking.claims import FINGERPRINT_TAG
from recgauge.app.tracking.servers import TIMEOUT
from recgauge.app.tracking.stored_runs import SUMMARY_TAG
from recgauge.app.tracking.tracker import load_record

pytestmark = [pytest.mark.server, pytest.mark.slow]
N_JOBS, N_KILLS, PATIENCE = 12, 4, 1800
SWEEP = (
    "-m",
    "dataset=table",
    "dataset.path=a.csv,b.csv",
    "model=popularity,random,ease",
    "seed=0,1",
    "cutoffs=[5]",
    "reuse=true",
)


class Sharing(Place):
    """A folder to start sweeps in, with a store that other folders share."""

    def __init__(self, folder: Path, uri: str = "", experiment: str = "recgauge") -> None:
        super().__init__(folder)
        self.uri, self.experiment = uri or self.uri, experiment

    def begin(self, jobs: int) -> subprocess.Popen:
        store = (f"tracking.uri={self.uri}", f"tracking.experiment={self.experiment}")
        return self.start(*store, f"jobs={jobs}", sweep=SWEEP)

    def stored(self, view: int = ViewType.ACTIVE_ONLY) -> list:
        client = MlflowClient(tracking_uri=self.uri)
        found = client.get_experiment_by_name(self.experiment)
        runs = [] if found is None else client.search_runs([found.experiment_id], "", view, 1000)
        return [run for run in runs if SUMMARY_TAG not in run.data.tags]

    def n_finished(self) -> int:
        return sum(run.info.status == "FINISHED" for run in self.stored())


def results(run, files: Path | None) -> tuple[object, ...]:
    """Return what must be equal wherever and however often a job is done; `files` are those of a server."""
    folder = Path(run.info.artifact_uri.removeprefix("file://"))
    if files is not None:
        folder = files / run.info.experiment_id / run.info.run_id / "artifacts"
    record = load_record(folder)
    lists = read_checksums(folder / CHECKSUMS)["recommendations.parquet"]
    assert record.fingerprint() == run.data.tags[FINGERPRINT_TAG]
    return record.dataset.sha256, record.split, lists, record.results


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The results of one sweep that nobody disturbs, by fingerprint."""
    place = Sharing(tmp_path_factory.mktemp("undisturbed"))
    assert place.begin(1).wait(PATIENCE) == 0, place.log()
    found = {run.data.tags[FINGERPRINT_TAG]: results(run, None) for run in place.stored()}
    assert len(found) == N_JOBS
    return found


def kill(sweep: subprocess.Popen, *, all_of_it: bool) -> None:
    """Kill a sweep and its workers; their processes that talk to MLflow, too, or let those mark the runs."""
    groups = {sweep.pid} | (_groups_below(sweep.pid) if all_of_it else set())
    for group in groups:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(group, signal.SIGKILL)
    sweep.wait()


def _groups_below(process: int) -> set[int]:
    found = set()
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid="], capture_output=True, text=True, check=True
    )
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    below = {process}
    while more := {pid for pid, parent, _ in rows if parent in below} - below:
        below |= more
        found |= {group for pid, _, group in rows if pid in more}
    return found


@pytest.mark.parametrize("server", ["served"], indirect=True)
@pytest.mark.parametrize("through", ["server", "postgresql"])
def test_two_sweeps_killed_again_and_again_share_the_jobs(
    tmp_path, server, postgres, expected, through, monkeypatch
):
    monkeypatch.setenv(TIMEOUT, "60")  # a server on a busy machine takes longer than a user should wait
    uri = server.uri if through == "server" else postgres.uri
    experiment, chance = f"shared {os.urandom(4).hex()}", random.Random(14)
    places = [Sharing(tmp_path / name, uri, experiment) for name in ("one", "other")]
    for number in range(N_KILLS):
        both = [place.begin(jobs) for jobs, place in enumerate(places, 1)]
        wanted = places[0].n_finished() + number % 3
        deadline = time.monotonic() + PATIENCE
        while any(sweep.poll() is None for sweep in both) and places[0].n_finished() < wanted:
            assert time.monotonic() < deadline, places[0].log()
            time.sleep(0.1)
        time.sleep(chance.uniform(0, 1))
        for sweep in both:
            kill(sweep, all_of_it=number % 2 == 0)
    both = [place.begin(jobs) for jobs, place in enumerate(places, 1)]
    assert [sweep.wait(PATIENCE) for sweep in both] == [0, 0], "\n".join(place.log() for place in places)
    runs = places[0].stored()
    finished = [run for run in runs if run.info.status == "FINISHED"]
    assert len(finished) == N_JOBS
    files = server.files if through == "server" else None
    assert {run.data.tags[FINGERPRINT_TAG]: results(run, files) for run in finished} == expected
    assert "RUNNING" not in {run.info.status for run in places[0].stored(ViewType.ALL)}
    assert not [note for place in places for note in (place.folder / "untracked").glob("*.json")]
