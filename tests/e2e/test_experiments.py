"""Experiments do only what is missing, end with their page, and say which data they lack before any work."""

import pytest
from mlflow import MlflowClient

from conftest import REPOSITORY
from e2e.program import wait_until
from recgauge.studies import read_results

pytestmark = pytest.mark.e2e


def statuses(out):
    return [word for line in out.splitlines() for word in ("done", "reused") if f"  {word} " in line]


def test_a_killed_sweep_resumes(workplace):
    job = workplace.start("experiment=baselines", "cutoffs=[5]")
    wait_until(lambda: list(workplace.folder.glob("outputs/*/*/0/SHA256SUMS")))
    job.kill()
    job.communicate(timeout=60)
    n_finished = len(list(workplace.folder.glob("outputs/*/*/[0-2]/SHA256SUMS")))
    assert 1 <= n_finished < 3

    resumed = workplace.succeed("experiment=baselines", "cutoffs=[5]")
    assert statuses(resumed.out) == ["reused"] * n_finished + ["done"] * (3 - n_finished)
    # each job once, whether the store had it when the sweep was killed or not
    assert [run.info.status for run in workplace.runs()] == ["FINISHED"] * 3


def test_an_experiment_ends_with_its_page_and_a_summary_run_and_imports_nothing_from_here(workplace):
    marker = workplace.folder / "imported"
    for name in ("worked_examples", "planted"):
        folder = workplace.folder / "experiments" / name
        folder.mkdir(parents=True)
        (folder / "study.py").write_text(f"open({str(marker)!r}, 'w')\n")
    done = workplace.succeed("experiment=worked_examples")
    assert "160 reproduced" in done.out
    (results,) = workplace.folder.glob("outputs/*/*/results.csv")
    page, committed = results.parent, REPOSITORY / "experiments" / "worked_examples"
    for name in ("results.csv", "README.md"):
        assert (page / name).read_bytes() == (committed / name).read_bytes()
    (run,) = workplace.runs()
    assert run.data.tags["recgauge.summary"] == "worked_examples"
    assert run.data.tags["mlflow.note.content"].startswith("167 worked examples: 160 reproduced")
    assert run.data.metrics["verdicts/reproduced"] == 160
    client = MlflowClient(tracking_uri=workplace.uri)
    stored = {"results.csv", "results.md", "summary.json", "SHA256SUMS"}
    assert {f.path for f in client.list_artifacts(run.info.run_id)} == stored
    planted = "{_target_:recgauge.experiments.planted.study.Planted,name:planted}"
    done = workplace.run("-m", "model=popularity", f"study={planted}")
    assert done.code != 0
    assert "cannot import 'recgauge.experiments.planted.study.Planted'" in done.err
    assert "Traceback" not in done.err
    assert not marker.exists()


def test_missing_data_are_named_before_any_work(workplace):
    done = workplace.fail(
        "experiment=metric_disagreement", "data.offline=true", f"data.cache={workplace.folder}"
    )
    for name in ("ml-100k.zip", "ml-1m.zip"):
        assert f"https://files.grouplens.org/datasets/movielens/{name}" in done.err
        assert f"put it at {workplace.folder}/{name}" in done.err
    assert "svd on" not in done.out
    assert not (workplace.folder / "mlflow.db").exists()


def test_one_missing_data_set_leaves_its_rows_open(workplace):
    words = (
        "dataset=demo,ml_100k",
        "model=popularity",
        "data.offline=true",
        f"data.cache={workplace.folder}",
    )
    done = workplace.succeed("experiment=metric_disagreement", *words)
    assert "1 done, 1 no data, 0 failed" in done.out
    assert "put it at" in done.err
    (results,) = workplace.folder.glob("outputs/*/*/results.csv")
    rows = read_results(results)
    assert [row["reason"][:11] for row in rows if row["dataset"] == "ml_100k"] == ["ml-100k.zip"]
    assert len([row for row in rows if row["dataset"] == "demo" and row["value"]]) > 50
    assert not (workplace.folder / "experiments").exists()  # the command line made another experiment of it
    assert [run.info.status for run in workplace.runs()] == ["FINISHED"] * 2
