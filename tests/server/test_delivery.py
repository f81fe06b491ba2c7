"""Runs that wait are delivered once, whatever is cut or killed, and however many commands deliver at once."""

import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient

from recgauge.app.files.artifacts import CHECKSUMS, read_checksums
from recgauge.app.tracking.delivering import deliver
from recgauge.app.tracking.store import MlflowTracker
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunStart, load_record
from recgauge.app.tracking.untracked import owing, untracked
from recgauge.errors import TrackingError
from server.conftest import Place

pytestmark = [pytest.mark.server, pytest.mark.slow]
N_CUTS = 20


@pytest.fixture
def made(place, monkeypatch):
    """A run that is complete on disk and known to no server; the current folder is that of the notes."""
    monkeypatch.chdir(place.folder)
    done = place.run("model=popularity", "+model.number=0", *LOCAL, PYTHONPATH=str(place.folder))
    assert done.code == 0, done.err
    return place.folder / "run"


LOCAL = (
    *("model._target_=waits.Waits", "allowed_targets=[waits]", "cutoffs=[5]", "hydra.run.dir=run"),
    "tracking=off",
)


def start(delivery: str) -> RunStart:
    return RunStart("popularity", {"model.number": "0", "model": "popularity"}, {DELIVERY_TAG: delivery})


def wait_for(place: Place, made: Path, numbers) -> None:
    """Leave notes of runs that wait for the server, all with the same files."""
    tracker = MlflowTracker(place.uri, place.experiment)
    for number in numbers:
        run = start(f"{place.folder.name}-{number}")
        run.params["model.number"] = str(number)
        folder = place.folder / f"run{number}"
        shutil.copytree(made, folder)
        untracked(run, tracker, folder).remember()


def each_once(place: Place, n_runs: int) -> None:
    runs = place.stored()
    assert [run.info.status for run in runs] == ["FINISHED"] * n_runs
    assert len({run.data.tags[DELIVERY_TAG] for run in runs}) == n_runs
    for run in runs:
        assert run.data.metrics
        assert run.data.tags["recgauge.files_sha256"]
        folder = place.server.files / run.info.experiment_id / run.info.run_id / "artifacts"
        assert all((folder / name).is_file() for name in read_checksums(folder / CHECKSUMS))


@pytest.mark.parametrize("cut_answer", [False, True], ids=["question", "answer"])
def test_a_connection_cut_anywhere(far_place, network, made, cut_answer):
    record = load_record(made)
    files = [*(made / name for name in read_checksums(made / CHECKSUMS)), made / CHECKSUMS]

    def tracked(delivery):
        MlflowTracker(far_place.uri, far_place.experiment).deliver(start(delivery), record, files)

    tracked("first")
    begin = network.n_bytes
    tracked("second")
    size, n_failed = network.n_bytes - begin, 0
    network.cut_answer = cut_answer
    for number in range(N_CUTS):
        network.cut_after = network.n_bytes + (2 * number + 1) * size // (2 * N_CUTS)
        try:
            tracked(str(number))
        except TrackingError:
            n_failed += 1
        network.cut_after = None
        tracked(str(number))
    assert network.n_cut >= N_CUTS // 2
    each_once(far_place, N_CUTS + 2)


def test_connections_cut_at_random_in_a_sweep(far_place, network):
    random.seed(14)
    network.every = 0.03
    with far_place.sweep(10) as sweep:
        sweep.end()
    network.every = 0.0
    assert network.n_cut
    far_place.sync()
    far_place.check_complete(10)


def test_a_program_killed_while_it_delivers(place, server, made):
    wait_for(place, made, range(6))
    moments = random.Random(7)
    for _ in range(12):
        if not place.notes():
            break
        running = place.command("sync")
        running.stdin.write("\n")
        running.stdin.flush()
        time.sleep(moments.uniform(0.05, 3))
        running.send_signal(signal.SIGKILL)
        running.communicate()
    done = place.sync()
    assert done.code == 0, done.err
    assert not list((place.folder / "untracked").glob("*.json"))
    each_once(place, 6)


def test_two_commands_deliver_at_once(place, made):
    wait_for(place, made, range(8))
    both = [place.command("sync") for _ in range(2)]
    told = [running.communicate("\n", timeout=900) for running in both]
    assert [running.returncode for running in both] == [0, 0], told
    assert sum(out.count("tracked  ") for out, _ in told) == 8
    each_once(place, 8)


def test_a_run_that_is_being_tracked_is_left_to_its_process(place, made):
    tracker = MlflowTracker(place.uri, place.experiment)
    tracker.prepare()
    client = MlflowClient(tracking_uri=place.uri)
    experiment = client.get_experiment_by_name(place.experiment)
    with owing(start("held"), tracker, made) as owed:
        begun = client.create_run(experiment.experiment_id, tags={DELIVERY_TAG: "held"})
        done = place.sync()
        assert done.code == 0, done.err
        assert "1 of the runs are being tracked by another command" in done.out
        assert [run.info.run_id for run in place.stored()] == [begun.info.run_id]
    assert place.notes() == 1
    assert place.sync().code == 0
    each_once(place, 1)
    assert place.stored()[0].info.run_id != begun.info.run_id
    assert deliver(owed, tracker) is None
