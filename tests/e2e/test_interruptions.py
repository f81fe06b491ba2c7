"""Runs that start together, end early or cannot write: nothing finished is lost, nothing looks alive."""

import csv
import signal

import pytest
from mlflow import MlflowClient

from e2e.program import wait_until

pytestmark = pytest.mark.e2e


def test_two_first_runs_share_one_new_store(workplace):
    jobs = [workplace.start_fresh(f"model={model}", "cutoffs=[5]") for model in ("popularity", "random")]
    errors = [job.communicate(timeout=240)[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0], errors
    assert [run.info.status for run in workplace.runs()] == ["FINISHED"] * 2


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_is_marked_killed(workplace, ending):
    job = workplace.start_endless()
    job.send_signal(ending)
    message = job.communicate(timeout=120)[1]
    assert job.returncode == 130, message
    assert "Traceback" not in message
    assert [run.info.status for run in workplace.runs()] == ["KILLED"]


@pytest.mark.slow
def test_a_sweep_that_is_killed_twice_goes_on_where_it_was(workplace):
    words = ["-m", "model=popularity,random,svd", "seed=0,1,2", "cutoffs=[5]", "reuse=true", "jobs=2"]
    for n_jobs in (1, 3):
        sweep = workplace.start_fresh(*words)
        wait_until(lambda n=n_jobs: len(list(workplace.folder.glob("outputs/*/*/*/delivered.json"))) >= n)
        sweep.kill()
        sweep.wait(timeout=60)  # its workers end when it is gone
        sweep.communicate(timeout=240)
    done = workplace.run_fresh(*words)
    assert done.code == 0, done.err
    runs = [run for run in workplace.runs() if run.info.status != "FAILED"]
    assert [run.info.status for run in runs] == ["FINISHED"] * 9
    assert len({run.data.tags["recgauge.fingerprint"] for run in runs}) == 9


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stopped_sweep_ends_its_workers_with_its_table_and_says_how_to_go_on(workplace, jobs):
    words = ["-m", "seed=0,1,2", f"jobs={jobs}", "hydra.sweep.dir=sweep", "tracking=off"]
    sweep = workplace.start_endless(*words, n_models=jobs)
    sweep.send_signal(signal.SIGINT)
    out, err = sweep.communicate(timeout=120)
    assert sweep.returncode == 130, err
    assert "Traceback" not in err
    assert "3 stopped" in out
    assert "reuse=true" in err
    folder = workplace.folder / "sweep"
    with (folder / "summary.csv").open(newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["stopped"] * 3
    assert not list(folder.rglob("record.json"))
    assert not list(folder.rglob(".unfinished-*"))


def test_a_finished_run_is_replaced_only_if_that_is_forced(workplace):
    words = ["model=popularity", "cutoffs=[5]", "tracking=off", "hydra.run.dir=results"]
    workplace.succeed(*words)
    record = workplace.folder / "results" / "record.json"
    before = record.read_bytes()
    for other in (["seed=1"], ["seed=1", "reuse=true"], ["split.test_size=.3"], ["--plan"]):
        refused = workplace.fail(*words, *other)
        assert "force=true" in refused.err
        assert record.read_bytes() == before
        assert (record.parent / "SHA256SUMS").is_file()
    workplace.succeed(*words, "reuse=true")
    assert record.read_bytes() == before
    workplace.succeed(*words, "seed=1", "force=true")
    assert record.read_bytes() != before


def test_the_experiment_of_the_environment_gets_the_run(workplace):
    workplace.succeed("model=popularity", "cutoffs=[5]", MLFLOW_EXPERIMENT_NAME="shop")
    client = MlflowClient(tracking_uri=workplace.uri)
    shop = client.get_experiment_by_name("shop")
    assert len(client.search_runs([shop.experiment_id])) == 1
    assert client.get_experiment_by_name("recgauge") is None


def test_only_the_runs_own_files_are_stored(workplace):
    (workplace.folder / "private.txt").write_text("not part of the run")
    workplace.succeed("hydra.run.dir=.", "cutoffs=[5]")
    (run,) = workplace.runs()
    stored = {
        entry.path for entry in MlflowClient(tracking_uri=workplace.uri).list_artifacts(run.info.run_id)
    }
    assert "record.json" in stored
    assert "private.txt" not in stored
