"""Jobs of a sweep share their rows, and run side by side: the same results as one after the other."""

import csv
import json
import os
import signal
import time

import pytest

from recgauge.app.files.artifacts import file_digest

pytestmark = pytest.mark.e2e
WORDS = ("-m", "model=random,popularity", "seed=0,1", "cutoffs=[5]", "tracking=off")

# A model of the user's own that kills its process: once, when a process that it has forked lives on, or
# whenever it is trained; or that reads its input, or raises what no error is.
MORTAL = r"""
import os, signal, sys, time
from dataclasses import dataclass
from pathlib import Path
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Mortal(Popularity):
    number: int = 0

    def fit(self, train, *, rng):
        died = Path("died")
        if self.number == 1 and not died.exists():
            child = os.fork()
            if child == 0:
                time.sleep(1000)
                os._exit(0)
            died.write_text(str(child))
            os.kill(os.getpid(), signal.SIGKILL)
        if self.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.number == 3:
            assert sys.stdin.read() == ""
        if self.number == 4:
            raise GeneratorExit("half of a sign: \udcff")
        return super().fit(train, rng=rng)
"""


def record(folder, job):
    return json.loads((folder / str(job) / "record.json").read_text())


def statuses(folder):
    with (folder / "summary.csv").open(newline="") as file:
        return [row["status"] for row in csv.DictReader(file)]


def test_jobs_that_need_the_same_rows_load_and_split_them_once(workplace):
    done = workplace.run(*WORDS, "hydra.sweep.dir=sweep")
    assert done.code == 0, done.err
    spent = [record(workplace.folder / "sweep", job)["seconds"] for job in range(4)]
    assert ["split" in seconds for seconds in spent] == [True, True, False, False]


def test_side_by_side_gives_what_one_after_the_other_gives(workplace):
    for name, jobs in (("one", 1), ("two", 2)):
        done = workplace.run(*WORDS, f"hydra.sweep.dir={name}", f"jobs={jobs}")
        assert done.code == 0, done.err
        assert "4 done, 0 failed" in done.out
    one, two = (workplace.folder / name for name in ("one", "two"))
    for job in range(4):
        for name in ("results", "split", "dataset", "policies", "settings"):
            expected, found = (record(folder, job)[name] for folder in (one, two))
            if name == "settings":
                expected.pop("jobs"), found.pop("jobs")
            assert found == expected
        lists = [file_digest(folder / str(job) / "recommendations.parquet") for folder in (one, two)]
        assert lists[0] == lists[1]
    assert "random on demo" in (two / "0" / "log.txt").read_text()
    assert "[3/4] popularity on demo" in done.out


def test_the_job_of_a_worker_that_dies_is_done_by_another(workplace):
    (workplace.folder / "mortal.py").write_text(MORTAL)
    done = workplace.run(
        "-m",
        "hydra.sweep.dir=sweep",
        "model=popularity",
        "model._target_=mortal.Mortal",
        "+model.number=0,1,2,3,4",
        "allowed_targets=[mortal]",
        "cutoffs=[5]",
        "jobs=2",
        PYTHONPATH=str(workplace.folder),
    )
    os.kill(int((workplace.folder / "died").read_text()), signal.SIGKILL)
    assert done.code == 1
    assert statuses(workplace.folder / "sweep") == ["done", "done", "failed", "done", "failed"]
    assert "its process died twice" in done.out
    assert "4/log.txt" in done.err
    status = [run.info.status for run in workplace.runs()]
    assert sorted(status) == ["FAILED"] + ["FINISHED"] * 3 + ["KILLED"] * 3


def test_wrong_settings_end_their_own_job_only(workplace):
    done = workplace.run(
        "-m",
        "model=svd",
        "model.n_factors=2,x",
        "cutoffs=[5]",
        "jobs=2",
        "tracking=off",
        "hydra.sweep.dir=sweep",
    )
    assert done.code == 1
    assert statuses(workplace.folder / "sweep") == ["done", "failed"]
    assert "n_factors" in done.err
    assert "Traceback" not in done.err
    refused = workplace.run("-m", "model=random,popularity", "jobs=0", "tracking=off")
    assert refused.code == 1
    assert "jobs" in refused.err
    assert "Traceback" not in refused.err


def test_an_interruption_ends_the_workers_and_marks_their_runs(workplace):
    words = ["model=biased_mf", "model.n_epochs=100000", "seed=0,1,2", "cutoffs=[5]", "hydra.sweep.dir=sweep"]
    sweep = workplace.start("-m", *words, "jobs=2")
    deadline = time.monotonic() + 120
    while not workplace.has_runs(2) and time.monotonic() < deadline:
        time.sleep(0.5)
    time.sleep(2)
    sweep.send_signal(signal.SIGINT)
    out, err = sweep.communicate(timeout=120)
    assert sweep.returncode == 130, err
    assert "Traceback" not in err
    assert "3 stopped" in out
    assert [run.info.status for run in workplace.runs()] == ["KILLED"] * 2
