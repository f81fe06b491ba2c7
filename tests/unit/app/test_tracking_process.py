"""MLflow in a process of its own: what it answers, and how it ends when one of the two processes does."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from mlflow import MlflowClient

from recgauge.app.tracking import process
from recgauge.app.tracking.alive import PROCESS_TAG, UNTIL_TAG
from recgauge.app.tracking.store import MlflowTracker
from recgauge.app.tracking.tracker import RunStart
from recgauge.errors import TrackingError
from records import metric, record_with

START = RunStart("svd · demo", {"model": "svd", "seed": "0"}, {"recgauge.command": "python run.py"})


@pytest.fixture(scope="module")
def beside():
    """A process that answers, for all tests that do not end it."""
    one = process._Started()
    yield one
    one._leave()
    assert is_gone(one._process.pid)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A database in which MLflow has made its tables, which takes longest, to be copied."""
    file = tmp_path_factory.mktemp("tables") / "m.db"
    MlflowClient(tracking_uri=f"sqlite:///{file}").search_experiments(max_results=1)
    return file


@pytest.fixture
def uri(tables, tmp_path):
    shutil.copy(tables, tmp_path / "m.db")
    return f"sqlite:///{tmp_path}/m.db"


@pytest.fixture
def tracker(beside, uri, monkeypatch):
    monkeypatch.setattr(process, "_running", [beside])
    return MlflowTracker(uri)


def runs(tracker):
    client = MlflowClient(tracking_uri=tracker.uri)
    return client.search_runs([client.get_experiment_by_name(tracker.experiment).experiment_id])


def track(tracker, folder):
    files = [folder / name for name in ("below/table.csv", "SHA256SUMS")]
    with tracker.start(START) as log:
        assert log.run_id
        log.check()
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(file.name)
        log.finish(record_with(metric("ndcg", 10, 0.5)), files)
    return log.run_id


def stored(tracker):
    """What MLflow has of the only run, without ids and times."""
    (run,) = runs(tracker)
    tags = {
        key: text
        for key, text in run.data.tags.items()
        if key not in (UNTIL_TAG, PROCESS_TAG) and "seconds" not in key
    }
    inputs = [
        (part.dataset.name, part.dataset.digest, part.tags[0].value) for part in run.inputs.dataset_inputs
    ]
    client, listed = MlflowClient(tracking_uri=tracker.uri), []
    for folder in (None, "below"):
        listed += [file.path for file in client.list_artifacts(run.info.run_id, folder)]
    return run.info.run_name, run.info.status, run.data.params, run.data.metrics, tags, inputs, listed


def test_a_run_is_stored_as_it_is_by_one_process(tracker, tables, tmp_path, monkeypatch):
    track(tracker, tmp_path / "a")
    monkeypatch.setattr(process, "_running", [])
    here = MlflowTracker(f"sqlite:///{shutil.copy(tables, tmp_path / 'here.db')}")
    track(here, tmp_path / "a")
    assert stored(tracker) == stored(here)
    assert stored(here)[1] == "FINISHED"
    assert "below/table.csv" in stored(here)[-1]


def test_errors_are_those_of_the_store(tracker):
    with pytest.raises(TrackingError, match=r"tracking.experiment: the name is empty"):
        MlflowTracker(tracker.uri, "").prepare()
    tracker.prepare()
    with pytest.raises(TrackingError, match=r"cannot read run 0: .*not found"):
        tracker.tag("0", "x")
    with pytest.raises(RuntimeError, match=r"talks to MLflow:\n(.|\n)*AttributeError"):
        process.store_of(tracker.uri, "x").no_such_method()


def test_an_address_that_cannot_work_is_refused_before_the_process_is_asked(monkeypatch):
    monkeypatch.setattr(process, "store_of", lambda *_, **__: pytest.fail("asked"))
    with pytest.raises(TrackingError, match="neither a database nor a server"):
        MlflowTracker("mlruns").prepare()


def test_what_is_seen_to_be_wrong_is_told_before_any_work(uri, tmp_path, monkeypatch):
    client = MlflowClient(tracking_uri=uri)
    client.delete_experiment(client.create_experiment("old"))
    client.create_experiment("moved", str(tmp_path / "m.db" / "in the way"))
    monkeypatch.setattr(process, "_running", [])
    monkeypatch.delitem(sys.modules, "mlflow")
    monkeypatch.setattr(process, "_Started", lambda **_: pytest.fail("asked"))
    for name, told in ("", "is empty"), ("old", "'old' was deleted"), ("moved", "cannot be written"):
        with pytest.raises(TrackingError, match=told), MlflowTracker(uri, name).start(START):
            pytest.fail("began")


def test_an_error_that_only_mlflow_sees_is_told_by_the_log(tracker, tmp_path, monkeypatch):
    client = MlflowClient(tracking_uri=tracker.uri)
    client.delete_experiment(client.create_experiment("old"))
    monkeypatch.setattr(MlflowTracker, "check", lambda _, **__: None)
    with pytest.raises(TrackingError, match="'old' was deleted"):
        track(MlflowTracker(tracker.uri, "old"), tmp_path)


def test_a_run_that_fails_is_marked_and_says_so(tracker):
    with pytest.raises(ValueError, match="why") as caught, tracker.start(START):
        raise ValueError("why")
    (run,) = runs(tracker)
    assert (run.info.status, run.data.tags["error"]) == ("FAILED", "ValueError: why")
    assert caught.value.__notes__ == [f"run {run.info.run_id} is marked FAILED"]


def test_if_the_process_is_killed_the_run_is_not_tracked_and_the_next_one_is(uri, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_running", [process._Started()])
    tracker = MlflowTracker(uri)

    def killed():
        with tracker.start(START) as log:
            assert log.run_id
            process._running[0]._process.kill()
            log.finish(record_with(), [tmp_path / "SHA256SUMS"])

    (tmp_path / "SHA256SUMS").touch()
    with pytest.raises(TrackingError, match=r"talks to MLflow has ended \(signal 9\)"):
        killed()
    again = track(tracker, tmp_path)  # mlflow is imported here, so this process does it
    statuses = {run.info.run_id: run.info.status for run in runs(tracker)}
    assert statuses.pop(again) == "FINISHED"
    assert list(statuses.values()) == ["FAILED"]


PROGRAM = """
import sys
from recgauge.app.tracking import process
from recgauge.app.tracking.store import MlflowTracker
from recgauge.app.tracking.tracker import RunStart
process.start([], tuple(map(int, sys.argv[2:])) or None)
with MlflowTracker(sys.argv[1]).start(RunStart("svd", {}, {})) as log:
    print(log.run_id, "mlflow" in sys.modules, flush=True)
    sys.stdin.read()
"""


def program(uri, pipes=()):
    """Start a program that has a run open; return it, its other process and the run's id."""
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, uri, *map(str, pipes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        pass_fds=pipes,
    )
    for end in pipes:
        os.close(end)
    run_id, imported = running.stdout.readline().split()
    assert imported == "False"
    other = MlflowClient(tracking_uri=uri).get_run(run_id).data.tags[PROCESS_TAG].split(" ")[1]
    return running, int(other), run_id


def is_gone(number):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(os.name != "posix", reason="signals are of Unix")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_however_the_program_ends_its_run_is_marked_and_no_process_is_left(ending, uri):
    running, other, run_id = program(uri)
    assert os.getsid(other) == other  # what a terminal sends on Ctrl-C does not reach it
    os.kill(other, signal.SIGINT)  # nor does it matter
    running.send_signal(ending)
    running.communicate(timeout=60)
    assert is_gone(other)
    run = MlflowClient(tracking_uri=uri).get_run(run_id)
    assert run.info.status == "KILLED"
    assert run.data.tags[PROCESS_TAG].split(" ")[1] == str(other)
    assert ("ended without a word" in run.data.tags["error"]) == (ending == signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="the process is copied on Linux only")
def test_a_copy_ends_with_its_own_program_and_with_no_other(uri, monkeypatch):
    origin = process._Started(copies=True)
    monkeypatch.setattr(process, "_running", [origin])
    (killed, its_copy, its_run), (lives, other_copy, other_run) = (
        program(uri, process.copied()) for _ in range(2)
    )
    assert len({origin._process.pid, its_copy, other_copy}) == 3
    killed.kill()
    killed.communicate(timeout=60)
    assert is_gone(its_copy)
    origin._leave()
    assert is_gone(origin._process.pid)
    assert process.copied() is None
    client = MlflowClient(tracking_uri=uri)
    run = client.get_run(its_run)
    assert run.info.status == "KILLED"
    assert f"process {killed.pid} on " in run.data.tags["error"]
    assert client.get_run(other_run).info.status == "RUNNING"
    lives.communicate(timeout=60)
    assert lives.returncode == 0
    assert is_gone(other_copy)
    assert client.get_run(other_run).info.status != "RUNNING"


@pytest.mark.skipif(sys.platform != "linux", reason="the process is copied on Linux only")
def test_a_process_that_was_killed_is_not_copied(monkeypatch):
    origin = process._Started(copies=True)
    monkeypatch.setattr(process, "_running", [origin])
    origin._process.kill()
    origin._listener.join(60)
    assert process.copied() is None
    assert process._Started().copied() is None  # nobody has asked for copies


def test_a_process_that_was_not_needed_is_ended_at_once():
    code = (
        "from recgauge.app.tracking import process as p; p.start(['x=1']); print(p._running[0]._process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert is_gone(int(done.stdout))
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["tracking=off"], ["--help"], ["seed=1", "--cfg", "job"]])
def test_no_process_is_started_for_what_is_not_tracked(words, monkeypatch):
    monkeypatch.setattr(process, "_Started", lambda **_: pytest.fail("started"))
    monkeypatch.delitem(sys.modules, "mlflow")
    process.start(words)


def test_mlflow_is_imported_without_what_it_can_do_without():
    """The process hides libraries only while MLflow is imported, and only if there are no plugins."""
    code = (
        "import json, sys; from recgauge.app.tracking.answering import NOT_NEEDED, import_mlflow;"
        "import_mlflow();"
        "print(json.dumps([name for name in NOT_NEEDED if name in sys.modules])); import numpy, pandas"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
