"""Sweeps in one folder share their jobs, and survive being killed: each is done once, as if undisturbed.

12 jobs: three models, two data sets, two seeds. All of this takes minutes.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY
from e2e.program import Workplace, wait_until
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, read_checksums
from recgauge.tracking.page import FINGERPRINT_TAG

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
N_JOBS = 12
SWEEP = (
    "-m",
    "dataset=table",
    "dataset.path=a.csv,b.csv",
    "model=popularity,random,ease",
    "seed=0,1",
    "cutoffs=[5]",
    "reuse=true",
)


class Place(Workplace):
    """A folder with two small data sets, in which sweeps are started, killed and looked at."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(1)
        for name in "ab":
            pairs = sorted({(int(u), int(i)) for u, i in rng.integers(0, 60, (1500, 2))})
            rows = [f"{user},{item},{rng.integers(1, 6)}" for user, item in pairs]
            (folder / f"{name}.csv").write_text("\n".join(["user_id,item_id,rating", *rows]))

    def sweep(self, *more: str) -> subprocess.Popen:
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(REPOSITORY / "run.py"), *SWEEP, *more],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # with its workers a group of its own, which is killed as one
            )

    def n_finished(self) -> int:
        return len(list(self.folder.glob("outputs/*/*/*/delivered.json")))

    def log(self) -> str:
        return (self.folder / "log.txt").read_text()[-8000:]


def results(run) -> tuple[object, ...]:
    """Return what must be equal wherever and however often a job is done: data, split, lists, numbers."""
    folder = Path(run.info.artifact_uri.removeprefix("file://"))
    record = FinishedRun.read(folder).record
    lists = read_checksums(folder / CHECKSUMS)["recommendations.parquet"]
    assert record.fingerprint() == run.data.tags[FINGERPRINT_TAG]
    return record.dataset.sha256, record.split, lists, record.results


def check_done(place: Place, expected: dict[str, tuple[object, ...]]) -> None:
    """Every job once, none running, and the results of an undisturbed sweep."""
    runs = place.runs()
    finished = [run for run in runs if run.info.status == "FINISHED"]
    assert len(finished) == len({run.data.tags[FINGERPRINT_TAG] for run in finished}) == N_JOBS, place.log()
    assert "RUNNING" not in {run.info.status for run in runs}
    assert {run.data.tags[FINGERPRINT_TAG]: results(run) for run in finished} == expected


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The results of an undisturbed sweep, by fingerprint."""
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    assert place.sweep().wait(3000) == 0, place.log()
    found = {run.data.tags[FINGERPRINT_TAG]: results(run) for run in place.runs()}
    assert len(found) == N_JOBS
    return found


def kill(sweep: subprocess.Popen) -> None:
    with suppress(ProcessLookupError):  # it has ended
        os.killpg(sweep.pid, signal.SIGKILL)
    sweep.wait()


def has_finished(place, sweep, n_jobs):
    return sweep.poll() is not None or place.n_finished() >= n_jobs


def test_a_sweep_killed_four_times_and_then_two_at_once_do_every_job_once(tmp_path, expected):
    place, chance = Place(tmp_path), random.Random(1)
    for number in range(4):
        sweep = place.sweep("jobs=2")
        # from before the first job until a few jobs have been done
        n_finished = place.n_finished() + number % 3
        wait_until(partial(has_finished, place, sweep, n_finished), 300)
        time.sleep(chance.uniform(0, 0.5))
        kill(sweep)
    both = [place.sweep(), place.sweep("jobs=2")]
    assert [sweep.wait(3000) for sweep in both] == [0, 0], place.log()
    check_done(place, expected)
