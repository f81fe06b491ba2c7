"""A sweep tells the truth about its jobs whatever ends early: the store, a job, or the user."""

import csv

import pytest

from recgauge.cli.commands.cli import main
from recgauge.utils.files import exclusive

pytestmark = pytest.mark.e2e

# A class of the user's own that does something to the store in the middle of a sweep.
MEDDLER = """
import os, time
from dataclasses import dataclass
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Meddler(Popularity):
    number: int = 0

    def fit(self, train, *, rng):
        if self.number == 1:
            {action}
        return super().fit(train, rng=rng)
"""


def sweep(workplace, action, *arguments):
    (workplace.folder / "meddler.py").write_text(MEDDLER.format(action=action))
    return workplace.run(
        "-m",
        "hydra.sweep.dir=sweep",
        "model=popularity",
        "model._target_=meddler.Meddler",
        "+model.number=0,1,2",
        "allowed_targets=[meddler]",
        "cutoffs=[5]",
        *arguments,
        PYTHONPATH=str(workplace.folder),
    )


def summary(workplace) -> list[dict[str, str]]:
    with (workplace.folder / "sweep" / "summary.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_in_an_old_folder_replaces_runs_only_if_forced_and_shows_its_own_jobs_only(workplace):
    words = ["-m", "hydra.sweep.dir=sweep", "cutoffs=[5]", "tracking=off"]
    workplace.succeed(*words, "model=random,popularity")
    before = (workplace.folder / "sweep" / "0" / "record.json").read_bytes()
    refused = workplace.fail(*words, "model=popularity")
    assert "force=true" in refused.err
    assert (workplace.folder / "sweep" / "0" / "record.json").read_bytes() == before
    assert len(summary(workplace)) == 2
    again = workplace.succeed(*words, "model=popularity", "force=true")
    assert "1 done, 0 failed" in again.out
    assert "earlier sweep" in again.err
    assert len(summary(workplace)) == 1
    assert not list((workplace.folder / "sweep").glob("comparison.*"))  # of runs that are no longer there


def test_a_second_sweep_in_the_folder_of_one_at_work_is_refused(workplace):
    (workplace.folder / "sweep").mkdir()
    with exclusive(workplace.folder / "sweep" / ".sweep.lock"):
        done = workplace.fail("-m", "hydra.sweep.dir=sweep", "model=popularity,random", "cutoffs=[5]")
    assert "another sweep is at work" in done.err
    assert not list((workplace.folder / "sweep").rglob("record.json"))


def test_a_component_that_ends_the_program_or_its_process_ends_only_its_job(workplace):
    action = """raise SystemExit(0)
        if self.number == 2:
            os._exit(0)"""
    done = sweep(workplace, action, "tracking=off")
    assert done.code == 1
    assert [row["status"] for row in summary(workplace)] == ["done", "failed", "failed"]
    assert done.err.count("a component ended the program") == 1
    assert "died" in done.err


def test_one_wrong_value_and_missing_data_stop_only_their_jobs(workplace):
    done = workplace.fail(
        "-m", "hydra.sweep.dir=sweep", "model.n_factors=4,0", "dataset=demo,ml_1m", "cutoffs=[5]",
        "tracking=off", "data.offline=true", "data.mirror=null", "data.cache=empty",
    )  # fmt: skip
    assert [row["status"] for row in summary(workplace)] == ["done", "no data", "failed", "failed"]
    assert "job 0: svd on demo, model.n_factors=4" in done.out
    assert done.err.count("ml-1m.zip could not be found") == 1  # before the first job
    assert "cache folder" not in done.out
    assert "n_factors must be a whole number >= 1" in summary(workplace)[2]["reason"]


def test_a_database_moved_away_in_the_middle_costs_no_result_and_sync_delivers(
    workplace, capsys, monkeypatch
):
    # the first job has been delivered by then
    action = """while not os.path.exists('sweep/0/delivered.json'):
                time.sleep(0.1)
            os.rename('mlflow.db', 'moved.db')"""
    done = sweep(workplace, action)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "bug of recgauge" not in done.err
    rows = summary(workplace)
    assert [row["status"] for row in rows[1:]] == ["not tracked"] * 2
    assert all(float(row["ndcg_at_5"]) > 0 for row in rows)
    assert all(f"sweep/{number}" in done.out for number in (1, 2))
    monkeypatch.chdir(workplace.folder)
    (workplace.folder / "mlflow.db").unlink(missing_ok=True)
    (workplace.folder / "moved.db").rename("mlflow.db")
    assert main(["sync", "sweep", "--uri", workplace.uri]) == 0, capsys.readouterr().err
    finished = [run for run in workplace.runs() if run.info.status == "FINISHED"]
    assert len({run.data.tags["recgauge.fingerprint"] for run in finished}) == len(finished) == 3
    assert all(run.data.tags["recgauge.sweep"].endswith("sweep") for run in finished)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_jobs_whose_folders_vanish_or_cannot_be_made_end_no_other(workplace, jobs):
    (workplace.folder / "sweep").mkdir()
    (workplace.folder / "sweep" / "0").touch()
    done = sweep(workplace, "pass", "tracking=off", f"jobs={jobs}")
    assert done.code == 1
    assert [row["status"] for row in summary(workplace)] == ["failed", "done", "done"]
    assert "sweep/0" in done.err
    removed = sweep(
        workplace, "__import__('shutil').rmtree('sweep')", "tracking=off", f"jobs={jobs}", "force=true"
    )
    assert removed.out.count("+model.number=") >= 3
    assert "left no outcome" not in removed.out
    assert "Traceback" not in done.err + removed.err


def test_a_job_that_fails_is_tracked_as_failed(workplace):
    done = workplace.fail("-m", "model.n_factors=0,9999,8", "cutoffs=[5]")
    assert "1 done, 2 failed" in done.out
    # what was wrong before it began has no run
    assert [run.info.status for run in workplace.runs()] == ["FAILED", "FINISHED"]
    assert "below the 1000 users" in workplace.runs()[0].data.tags["error"]


@pytest.mark.slow
def test_ctrl_c_that_compiled_code_turns_into_an_error_of_its_own_stops_the_sweep(workplace):
    done = sweep(workplace, "raise SystemError('returned a result') from KeyboardInterrupt()", "tracking=off")
    assert done.code == 130, done.err
    assert "stopped" in done.out
