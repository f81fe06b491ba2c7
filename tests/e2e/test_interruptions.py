"""Runs that start together, end early or cannot write: nothing finished is lost, nothing looks alive."""

import signal
import time

import pytest

pytestmark = pytest.mark.e2e


def test_two_first_runs_share_one_new_store(workplace):
    jobs = [workplace.start_fresh(f"model={model}", "cutoffs=[5]") for model in ("popularity", "random")]
    errors = [job.communicate(timeout=240)[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0], errors
    assert [run.info.status for run in workplace.runs()] == ["FINISHED"] * 2


def test_a_run_stopped_while_the_store_is_made_leaves_nothing_broken(workplace):
    job = workplace.start_fresh("cutoffs=[5]")
    deadline = time.monotonic() + 120
    while not list(workplace.folder.glob("*mlflow.db*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    job.kill()
    job.communicate(timeout=60)
    done = workplace.run("model=popularity", "cutoffs=[5]")
    assert done.code == 0, done.err


@pytest.mark.parametrize(("ending", "start"), [(signal.SIGINT, "start_fresh"), (signal.SIGTERM, "start")])
def test_a_stopped_run_is_marked_killed(workplace, ending, start):
    words = ["model=biased_mf", "model.n_epochs=100000", "cutoffs=[5]", "hydra.run.dir=out"]
    job = getattr(workplace, start)(*words)
    deadline = time.monotonic() + 120
    while not (workplace.folder / "out").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(10)  # of some minutes that it takes
    job.send_signal(ending)
    message = job.communicate(timeout=120)[1]
    assert job.returncode == 130, message
    assert "Traceback" not in message
    assert [run.info.status for run in workplace.runs()] == ["KILLED"]


def test_an_output_folder_that_cannot_be_made_is_named(workplace):
    (workplace.folder / "outputs").write_text("in the way")
    done = workplace.run("tracking=off", "cutoffs=[5]")
    assert done.code == 1
    assert "hydra.run.dir" in done.err
    assert "Traceback" not in done.err


def test_only_the_runs_own_files_are_stored(workplace):
    (workplace.folder / "private.txt").write_text("not part of the run")
    assert workplace.run("hydra.run.dir=.", "cutoffs=[5]").code == 0
    from mlflow import MlflowClient

    (run,) = workplace.runs()
    stored = {
        entry.path for entry in MlflowClient(tracking_uri=workplace.uri).list_artifacts(run.info.run_id)
    }
    assert "record.json" in stored
    assert "private.txt" not in stored
