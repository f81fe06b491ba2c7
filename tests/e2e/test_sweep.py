"""Several jobs: flat runs, one table, failures that stop nothing else."""

import shlex

import pytest

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def baselines(shared_workplace):
    done = shared_workplace.run("experiment=baselines")
    assert done.code == 0, done.err
    return shared_workplace, done


def test_three_baselines_in_their_order(baselines):
    workplace, done = baselines
    runs = workplace.runs()[:3]
    assert [run.info.status for run in runs] == ["FINISHED"] * 3
    assert not any("mlflow.parentRunId" in run.data.tags for run in runs)
    assert len({run.data.tags["recgauge.sweep"] for run in runs}) == 1
    random, popularity, svd = (run.data.metrics["ndcg_at_10"] for run in runs)
    assert svd > 1.5 * popularity > 3 * random
    assert "3 done, 0 failed" in done.out
    assert "*" in done.out


def test_a_failed_job_is_marked_and_the_others_go_on(workplace):
    done = workplace.run("-m", "model.n_factors=4,0,9999,8")
    assert done.code == 1
    assert "2 done, 2 failed" in done.out
    assert "Traceback" not in done.err
    # what was wrong before it began has no run
    assert [run.info.status for run in workplace.runs()] == ["FINISHED", "FAILED", "FINISHED"]
    assert "below the 1000 users" in workplace.runs()[1].data.tags["error"]
    assert "n_factors must be a whole number >= 1" in done.err
    assert all(error in done.out for error in ("got 0", "got 9999"))


def test_an_address_that_cannot_work_stops_a_sweep_before_any_job(workplace):
    done = workplace.run("-m", "seed=0,1", "tracking.uri=sqlite:////nowhere/at/all/mlflow.db")
    assert done.code == 1
    assert "does not exist" in done.err
    assert "demo" not in done.out


def test_real_data_sets_side_by_side(workplace, mirror):
    done = workplace.run(
        "-m", "model=random,popularity,svd", "dataset=ml_100k,ml_latest_small", RECGAUGE_MIRROR=mirror
    )
    assert done.code == 0, done.err
    for dataset in ("ml_100k", "ml_latest_small"):
        random, popularity, svd = (
            run.data.metrics["ndcg_at_10"]
            for run in workplace.runs()
            if run.data.params["dataset"] == dataset
        )
        assert svd > popularity > random


def test_a_million_rows(workplace, mirror):
    done = workplace.run("dataset=ml_1m", "tracking=off", RECGAUGE_MIRROR=mirror)
    assert done.code == 0, done.err
    assert "not the publisher's" in done.out


def test_filters_make_other_data_so_nothing_is_compared(workplace):
    done = workplace.run("-m", "model=popularity", "filters=[],[n_core],[min_rating,n_core]", "cutoffs=[10]")
    assert done.code == 0, done.err
    assert [run.data.params["filters"] for run in workplace.runs()] == ["none", "n_core", "min_rating+n_core"]
    assert all(run.data.params["metrics"] == "ranking" for run in workplace.runs())
    rows = [line for line in done.out.splitlines() if " done " in line]
    assert len(rows) == 3
    assert not any("*" in row for row in rows)  # each stands alone on its own data
    assert "best of" not in done.out
    assert any("filters=[min_rating,n_core]" in row for row in rows)


def test_an_experiments_job_can_be_run_again_alone(baselines):
    workplace, _ = baselines
    command = workplace.runs()[1].data.tags["recgauge.command"]
    done = workplace.run(*shlex.split(command)[2:])
    assert done.code == 0, done.err
    runs = workplace.runs()
    assert len(runs) == 4
    assert runs[3].data.metrics["ndcg_at_5"] == runs[1].data.metrics["ndcg_at_5"]
    assert runs[3].data.tags["recgauge.fingerprint"] == runs[1].data.tags["recgauge.fingerprint"]
