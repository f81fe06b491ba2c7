"""A sweep is compared at its end; its runs are found in MLflow by name, id, search and folder."""

import shlex
from functools import partial

import pytest
from mlflow import MlflowClient

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def sweep(shared_workplace):
    done = shared_workplace.succeed("experiment=baselines", "cutoffs=[10]", RECGAUGE_REPORT="true")
    return shared_workplace, done


@pytest.fixture
def compare(sweep, monkeypatch, command):
    workplace, _ = sweep
    monkeypatch.chdir(workplace.folder)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", workplace.uri)
    return partial(command, "compare", "--resamples", "200")


def table(out):
    """Return the part of the output that is the same wherever the runs were found."""
    return out.partition("\nnote")[0]


def test_three_baselines_in_their_order(sweep):
    workplace, done = sweep
    runs = workplace.runs()
    assert [run.info.status for run in runs] == ["FINISHED"] * 3
    assert not any("mlflow.parentRunId" in run.data.tags for run in runs)
    assert len({run.data.tags["recgauge.sweep"] for run in runs}) == 1
    random, popularity, svd = (run.data.metrics["ndcg_at_10"] for run in runs)
    assert svd > 1.5 * popularity > 3 * random
    assert "3 done, 0 failed" in done.out
    assert "*" in done.out


def test_the_sweep_ends_with_its_claims_and_files_and_a_run_that_holds_them(sweep):
    workplace, done = sweep
    (folder,) = workplace.output()
    assert "compared svd is better than popularity by " in done.out
    (summary,) = workplace.runs(comparisons=True)
    assert summary.info.run_id in done.out
    assert (
        summary.data.tags["recgauge.sweep"] == folder.as_posix()
        or folder.name in summary.data.tags["recgauge.sweep"]
    )
    assert "svd is better than popularity" in summary.data.tags["mlflow.note.content"]
    stored = {entry.path for entry in MlflowClient(workplace.uri).list_artifacts(summary.info.run_id)}
    names = {f"comparison.{kind}" for kind in ("md", "tex", "csv", "json")} | {"report.html"}
    assert names <= stored
    assert names <= {path.name for path in folder.iterdir()}


def test_runs_are_the_same_wherever_they_are_found(sweep, compare):
    workplace, _ = sweep
    (folder,) = workplace.output()
    ids = [run.info.run_id for run in workplace.runs()]
    code, first, err = compare()
    assert (code, err) == (0, "")
    assert "demo: 3 runs" in first
    for sources in (["recgauge"], ["experiment=baselines"], [str(folder)], ids, [*ids[:2], str(folder)]):
        assert table(compare(*sources)[1]) == table(first)


def test_a_failed_run_and_an_unknown_experiment_are_told(sweep, compare):
    workplace, _ = sweep
    code, _, err = compare("recguage")
    assert code == 1
    assert "Did you mean recgauge?" in err
    client = MlflowClient(workplace.uri)
    experiment = client.get_experiment_by_name("recgauge").experiment_id
    failed = client.create_run(experiment, tags={"error": "FitError: it diverged"}).info.run_id
    client.set_terminated(failed, "FAILED")
    try:
        code, _, err = compare(failed)
        assert code == 1
        assert "the run is FAILED, so it has no results: FitError: it diverged" in err
        assert "1 run that did not finish left out" in compare()[1]
    finally:
        client.delete_run(failed)


def test_an_experiments_job_can_be_run_again_alone(sweep):
    workplace, _ = sweep
    command = workplace.runs()[1].data.tags["recgauge.command"]
    workplace.succeed(*shlex.split(command)[2:])
    runs = workplace.runs()
    assert len(runs) == 4
    assert runs[3].data.metrics["ndcg_at_10"] == runs[1].data.metrics["ndcg_at_10"]
    assert runs[3].data.tags["recgauge.fingerprint"] == runs[1].data.tags["recgauge.fingerprint"]
