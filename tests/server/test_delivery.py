"""Folders are delivered once, whatever is cut or killed, and however many commands deliver at once."""

import random
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from recgauge.errors import TrackingError
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, read_checksums, write_checksums
from recgauge.runs.record import JobFacts
from recgauge.tracking import Store, deliver
from server.conftest import Place

pytestmark = [pytest.mark.server, pytest.mark.slow]
N_CUTS = 20
LOCAL = (
    *("model._target_=waits.Waits", "allowed_targets=[waits]", "cutoffs=[5]", "hydra.run.dir=run"),
    "tracking=off",
)


@pytest.fixture
def made(place):
    """The folder of a run that no server knows."""
    done = place.run("model=popularity", "+model.number=0", *LOCAL, PYTHONPATH=str(place.folder))
    assert done.code == 0, done.err
    return place.folder / "run"


def copies(place, made, numbers):
    """Yield folders of different runs that wait for the server."""
    for number in numbers:
        folder = place.folder / "outputs" / f"run{number}"
        shutil.copytree(made, folder)
        record = FinishedRun.read(folder).record
        settings = record.settings | {"seed": number, "model": record.settings["model"] | {"number": number}}
        job = JobFacts(
            "popularity", time.time(), time.time(), store=Store(place.uri, place.experiment).plain()
        )
        (folder / "record.json").write_text(
            replace(record, settings=settings, seed=number, job=job).to_json()
        )
        write_checksums([folder / name for name in read_checksums(folder / CHECKSUMS)], folder)
        yield folder


@pytest.mark.parametrize("cut_answer", [False, True], ids=["question", "answer"])
def test_a_connection_cut_anywhere(far_place, network, made, cut_answer):
    store = Store(far_place.uri, far_place.experiment)
    first, second, *others = copies(far_place, made, range(N_CUTS + 2))
    deliver(first, store)
    begin = network.n_bytes
    deliver(second, store)
    size = network.n_bytes - begin
    network.cut_answer = cut_answer
    for number, folder in enumerate(others):
        network.cut_after = network.n_bytes + (2 * number + 1) * size // (2 * N_CUTS)
        with suppress(TrackingError):
            deliver(folder, store)
        network.cut_after = None
        deliver(folder, store)
    assert network.n_cut >= N_CUTS // 2
    far_place.check_complete(N_CUTS + 2)


def test_a_program_killed_while_it_delivers(place, server, made):
    list(copies(place, made, range(6)))
    moments = random.Random(7)
    for _ in range(12):
        if not place.n_waiting():
            break
        running = place.command("sync", "--uri", place.uri)
        running.stdin.write("\n")
        running.stdin.flush()
        time.sleep(moments.uniform(0.05, 3))
        running.send_signal(signal.SIGKILL)
        running.communicate()
    done = place.sync("--uri", place.uri)
    assert done.code == 0, done.err
    place.check_complete(6)


def test_two_commands_deliver_at_once(place: Place, made):
    list(copies(place, made, range(8)))
    both = [place.command("sync", "--uri", place.uri) for _ in range(2)]
    told = [running.communicate("\n", timeout=900) for running in both]
    assert [running.returncode for running in both] == [0, 0], told
    place.check_complete(8)
