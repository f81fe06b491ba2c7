"""Jobs of a sweep share their rows, and run side by side: the same results as one after the other."""

import csv
import json

import pytest

from recgauge.runs.folder import file_digest

pytestmark = pytest.mark.e2e
WORDS = ("-m", "model=random,popularity", "seed=0,-1", "cutoffs=[5]", "tracking=off")
GOOD = (0, 2)  # jobs whose seed is one

# A model of the user's own that kills its process, once or whenever it is trained; that raises what no error
# is.
MORTAL = r"""
import os, signal
from dataclasses import dataclass
from pathlib import Path
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Mortal(Popularity):
    number: int = 0

    def fit(self, train, *, rng):
        died = Path("died")
        if self.number == 1 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.number == 3:
            raise GeneratorExit("half of a sign: \udcff")
        return super().fit(train, rng=rng)
"""


def record(folder, job):
    return json.loads((folder / str(job) / "record.json").read_text())


def statuses(folder):
    with (folder / "summary.csv").open(newline="") as file:
        return [row["status"] for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def both(shared_workplace):
    """A sweep in turn and side by side, two of four jobs with wrong settings: folders and how it ended."""
    done = {}
    for name, jobs in (("one", 1), ("two", 2)):
        done[name] = shared_workplace.run(*WORDS, f"hydra.sweep.dir={name}", f"jobs={jobs}")
    return [(shared_workplace.folder / name, one) for name, one in done.items()]


def test_jobs_that_need_the_same_rows_load_and_split_them_once(both):
    folder, _ = both[0]
    spent = [record(folder, job)["seconds"] for job in GOOD]
    assert ["split" in seconds for seconds in spent] == [True, False]


def test_side_by_side_gives_what_one_after_the_other_gives(both):
    (one, _), (two, done) = both
    for job in GOOD:
        for name in ("results", "split", "dataset", "policies", "settings"):
            expected, found = (record(folder, job)[name] for folder in (one, two))
            if name == "settings":
                expected.pop("jobs"), found.pop("jobs")
            assert found == expected
        lists = [file_digest(folder / str(job) / "recommendations.parquet") for folder in (one, two)]
        assert lists[0] == lists[1]
    assert "random on demo" in (two / "0" / "log.txt").read_text()
    assert "job 2: popularity on demo" in done.out


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_job_of_a_worker_that_dies_is_done_by_another(workplace, jobs):
    (workplace.folder / "mortal.py").write_text(MORTAL)
    done = workplace.run(
        "-m",
        "hydra.sweep.dir=sweep",
        "model=popularity",
        "model._target_=mortal.Mortal",
        "+model.number=0,1,2,3,4",
        "allowed_targets=[mortal]",
        "cutoffs=[5]",
        f"jobs={jobs}",
        PYTHONPATH=str(workplace.folder),
    )
    assert done.code == 1
    expected = ["done", "done", "failed", "failed", "done"]
    assert statuses(workplace.folder / "sweep") == expected
    assert "its process died twice" in done.out
    assert ("3/log.txt" if jobs == 2 else "half of a sign") in done.err
    status = [run.info.status for run in workplace.runs()]
    assert sorted(status) == ["FAILED"] * 2 + ["FINISHED"] * 3
