"""Folders are delivered once, whatever happens on the way, and nothing of them is lost."""

import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from recgauge.errors import IntegrityError, MissingDataError, TrackingError
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import Failure, Summary, write_folder
from recgauge.runs.record import JobFacts
from recgauge.tracking import store as stores
from recgauge.tracking.delivering import deliver, delivered, store_of, waiting
from recgauge.tracking.finding import run_folder, runs_of
from recgauge.tracking.store import Store
from unit.tracking.conftest import ENVIRONMENT, SETTINGS, complete


def stored(store, experiment="recgauge"):
    client = MlflowClient(tracking_uri=store.uri)
    found = client.get_experiment_by_name(experiment)
    return [] if found is None else list(client.search_runs([found.experiment_id]))


def test_a_run_has_its_numbers_params_tags_files_and_times(folder, store, tmp_path):
    run_id = deliver(folder, store)
    (run,) = stored(store)
    assert run.info.run_id == run_id
    assert (run.info.status, run.info.run_name) == ("FINISHED", "svd · d")
    assert (run.info.start_time, run.info.end_time) == (1_700_000_000_000, 1_700_000_060_000)
    assert run.data.metrics["ndcg_at_10"] == 0.25
    assert run.data.metrics["ndcg_at_10_low"] == pytest.approx(0.25 - 0.0196, abs=1e-5)
    tags = run.data.tags
    assert tags["recgauge.fingerprint"] == FinishedRun.read(folder).record.fingerprint()
    assert tags["recgauge.experiment.baselines"] == "true"
    assert (tags["recgauge.sweep"], tags["mlflow.user"]) == ("outputs/sweep", "ann")
    assert tags["mlflow.note.content"].startswith("| metric |")
    assert [part.tags[0].value for part in run.inputs.dataset_inputs] == ["train", "test"]
    files = tmp_path / "mlruns" / run_id / "artifacts"
    assert (files / "figures" / "a.png").read_bytes() == b"png"
    assert (files / "SHA256SUMS").read_bytes() == (folder / "SHA256SUMS").read_bytes()


def test_a_second_delivery_adds_nothing(folder, store, tmp_path):
    run_id = deliver(folder, store)
    assert deliver(folder, store) == run_id
    (folder / "delivered.json").unlink()  # killed just before it was written
    assert deliver(folder, store) == run_id
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert deliver(copy, store) == run_id
    assert len(stored(store)) == 1


STEPS = ("create_run", "log_batch", "set_terminated")


@pytest.mark.parametrize("step", STEPS)
def test_a_torn_delivery_is_completed(folder, store, monkeypatch, step):
    whole = getattr(MlflowClient, step)

    def torn(self, *arguments, **options):
        whole(self, *arguments, **options)
        raise MlflowException("the connection is cut")

    with monkeypatch.context() as harm:
        harm.setattr(MlflowClient, step, torn)
        with pytest.raises(TrackingError, match="the connection is cut"):
            deliver(folder, store)
    assert delivered(folder) is None
    assert waiting(folder.parent) == [folder]
    run_id = deliver(folder, store)
    (run,) = stored(store)
    assert (run.info.run_id, run.info.status) == (run_id, "FINISHED")
    assert run.data.metrics["ndcg_at_10"] == 0.25
    client = MlflowClient(tracking_uri=store.uri)
    assert len(client.get_metric_history(run_id, "ndcg_at_10")) == 1
    files = {"record.json", "SHA256SUMS", "figures", "metrics.png"}
    assert {entry.path for entry in client.list_artifacts(run_id)} == files
    assert len(run.inputs.dataset_inputs) == 2
    assert waiting(folder.parent) == []


def test_two_at_once_make_one_run(folder, store):
    ids = []
    both = [threading.Thread(target=lambda: ids.append(deliver(folder, store))) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(ids) == 2
    assert {run.info.run_id for run in stored(store)} == set(ids)
    assert sorted(file.name for file in folder.iterdir() if file.name.startswith(".")) == []


def test_another_store_gets_it_too(folder, store, tmp_path, empty_store):
    deliver(folder, store)
    shutil.copy(empty_store, tmp_path / "other.db")
    other = Store(f"sqlite:///{tmp_path}/other.db", "again")
    deliver(folder, other)
    assert len(stored(other, "again")) == 1
    assert delivered(folder)["uri"] == other.uri


def test_files_of_a_project_that_was_copied_or_moved_lie_in_its_folder(tmp_path, capsys):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    first.mkdir()
    before = Store(f"sqlite:///{first}/mlflow.db")
    old = deliver(complete(first / "outputs" / "a", before), before)
    shutil.copytree(first, second)
    copy = Store(f"sqlite:///{second}/mlflow.db")
    new = deliver(complete(second / "outputs" / "b", copy, seed=1), copy)
    assert "copied or moved" in capsys.readouterr().err
    assert (second / "mlruns" / new / "artifacts" / "record.json").is_file()
    assert not (first / "mlruns" / new).exists()
    assert [run.info.run_id for run in runs_of(copy)] == [new]
    assert [run.info.run_id for run in runs_of(replace(copy, experiment=f"recgauge of {first}"))] == [old]
    second.rename(third)
    moved = Store(f"sqlite:///{third}/mlflow.db")
    assert run_folder(new, moved.uri, ["record.json"]).is_relative_to(third)
    last = deliver(complete(third / "outputs" / "c", moved, seed=2), moved)
    assert (third / "mlruns" / last / "artifacts" / "record.json").is_file()
    assert not second.exists()


def test_files_of_an_experiment_go_where_its_maker_wants_them(tmp_path, store):
    client = MlflowClient(tracking_uri=store.uri)
    client.create_experiment(store.experiment, str(tmp_path / "shared"))
    run = deliver(complete(tmp_path / "outputs" / "a", store), store)
    assert (tmp_path / "shared" / run / "artifacts" / "record.json").is_file()


def test_what_was_changed_since_is_refused(folder, store):
    (folder / "figures" / "a.png").write_bytes(b"other")
    with pytest.raises(IntegrityError, match=r"a\.png: is missing or changed"):
        deliver(folder, store)
    with pytest.raises(MissingDataError, match="not the complete folder"):
        deliver(folder / "figures", store)
    assert stored(store) == []


def test_sums_that_name_files_elsewhere_are_refused(folder, store, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("")
    sums = folder / "SHA256SUMS"
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    sums.write_text(sums.read_text() + f"{empty}  ../../secret\n")
    with pytest.raises(IntegrityError, match="secret"):
        deliver(folder, store)


def test_a_failed_job_is_delivered_as_failed(tmp_path, store):
    job = JobFacts("svd · d", 1_700_000_000.0, 1_700_000_001.0, store=store.plain())
    failure = Failure(
        job, "FitError: diverged", {"model": "svd", "dataset": "d"}, 3, "python run.py", SETTINGS, ENVIRONMENT
    )
    folder = tmp_path / "outputs" / "bad"
    write_folder(failure, folder)
    assert waiting(tmp_path / "outputs") == [folder]
    deliver(folder, store_of(folder))
    (run,) = stored(store)
    assert (run.info.status, run.data.tags["error"]) == ("FAILED", "FitError: diverged")
    assert (run.info.start_time, run.info.end_time) == (1_700_000_000_000, 1_700_000_001_000)
    assert (run.data.params["model"], run.data.params["seed"]) == ("svd", "3")
    write_folder(replace(failure, status="KILLED", error="stopped"), folder)
    deliver(folder, store)
    assert {run.info.status for run in stored(store)} == {"FAILED", "KILLED"}


def test_a_summary_is_stored_once_for_each_content(tmp_path, store):
    (tmp_path / "comparison.md").write_text("svd is better")
    for name, started in (("first", 1.0), ("second", 2.0)):
        job = JobFacts("comparison · d", started, store=store.plain())
        summary = Summary(job, "comparison", "f" * 64, "- svd is better", {"verdicts/reproduced": 3.0})
        write_folder(summary, tmp_path / name, [tmp_path / "comparison.md"])
    assert deliver(tmp_path / "first", store) == deliver(tmp_path / "second", store)
    (run,) = stored(store)
    assert run.data.tags["recgauge.summary"] == "comparison"
    assert run.data.tags["mlflow.note.content"] == "- svd is better"
    assert run.data.metrics == {"verdicts/reproduced": 3.0}
    assert [entry.path for entry in MlflowClient(store.uri).list_artifacts(run.info.run_id)][
        -1
    ] == "summary.json"


def test_the_login_of_a_recorded_address_is_that_of_the_user(tmp_path):
    secret = Store("postgresql://ann:secret@host/db")
    folder = complete(tmp_path / "run", secret)
    assert "secret" not in (folder / "record.json").read_text()
    assert store_of(folder, ["sqlite:///a.db", secret.uri]).uri == secret.uri
    assert store_of(folder).uri == "postgresql://***@host/db"


def test_a_locked_database_loses_nothing(folder, store, monkeypatch):
    monkeypatch.setattr(stores, "_BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(store.file, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TrackingError, match="database is locked"):
            deliver(folder, store)
    deliver(folder, store)
    assert len(stored(store)) == 1


def test_a_store_that_is_gone_is_not_begun_anew(folder, store):
    deliver(folder, store)
    (folder / "delivered.json").unlink()
    store.file.unlink()
    with pytest.raises(TrackingError, match="was there before and is gone"):
        deliver(folder, store)
    assert not store.file.exists()
