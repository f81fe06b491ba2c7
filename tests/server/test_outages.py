"""A sweep whose server, database or disk is away for a while: every run is in the store in the end, once."""

import os
import re
import subprocess
from contextlib import contextmanager, suppress

import pytest

from server.conftest import Place
from server.stack import answer, own_environment

pytestmark = [pytest.mark.server, pytest.mark.slow]


@contextmanager
def killed(server, postgres, network):
    server.kill()
    try:
        yield
    finally:
        server.start()


@contextmanager
def hanging(server, postgres, network):
    with server.hanging():
        yield


@contextmanager
def no_database(server, postgres, network, mode="fast"):
    postgres.stop(mode)
    try:
        yield
    finally:
        postgres.start()


@contextmanager
def crashed_database(server, postgres, network):
    with no_database(server, postgres, network, "immediate"):
        yield


@contextmanager
def late(server, postgres, network):
    network.delay = 11.0
    yield
    network.delay = 0.0


def answering(status, body="", *headers):
    @contextmanager
    def harm(server, postgres, network):
        network.instead = answer(status, body, *headers)
        yield
        network.instead = None

    return harm


HARMS = {
    "killed": killed,
    "hanging": hanging,
    "no database": no_database,
    "crashed database": crashed_database,
    "late": late,
    "503": answering("503 Service Unavailable", "<html>maintenance</html>", "Retry-After: 3600"),
    "401": answering("401 Unauthorized", "You are not authenticated", "WWW-Authenticate: Basic"),
    "log in": answering("200 OK", "<html>please log in</html>"),
}


@pytest.mark.parametrize("server", ["served"], indirect=True)
@pytest.mark.parametrize("harm", HARMS)
def test_what_was_away_for_a_while_has_all_runs_when_the_sweep_ends(
    far_place, server, postgres, network, harm
):
    impatient = harm in ("hanging", "late")
    with far_place.sweep(12, waits_at=(4, 9), patience=10 if impatient else 60) as sweep:
        sweep.reach(4)
        with HARMS[harm](server, postgres, network):
            sweep.go_on(4)
            sweep.reach(9)
        sweep.go_on(9)
        done = sweep.end()
    if impatient and done.code:  # a server on a busy machine takes as long by itself
        done = far_place.sync()
    assert done.code == 0, done.err
    assert network.n_troubled <= 12  # a store that fails is left alone
    far_place.check_complete(12)
    assert far_place.n_waiting() == 0
    assert impatient or "12 done, 0 failed" in done.out


def check_told(done, place, n_at_least):
    """Check that the end of a sweep counts what waits, beside its summary; return how many runs wait."""
    told = re.search(r"(\d+) not tracked, 0 failed", done.out)
    assert told is not None, done.out
    n_waiting = place.n_waiting()
    assert n_at_least <= int(told[1]) <= n_waiting <= int(told[1]) + 1
    return n_waiting


@pytest.mark.parametrize("harm", ["killed", "crashed database"])
def test_what_is_away_until_after_the_end_gets_the_runs_by_sync(place, server, postgres, harm):
    with place.sweep(30, waits_at=(9,)) as sweep:
        sweep.reach(9)
        with HARMS[harm](server, postgres, None):
            sweep.go_on(9)
            done = sweep.end()
            assert done.code == 1
            n_waiting = check_told(done, place, 21)
            assert "recgauge sync" in done.out + done.err
            refused = place.sync()
            assert refused.code == 1
            assert refused.err.count("error: ") == 1, refused.err
            assert f"{n_waiting} of {n_waiting} runs still wait" in refused.out
    done = place.sync()
    assert done.code == 0, done.err
    place.check_complete(30)
    assert "no run waits" in place.sync().out


def test_the_next_command_delivers(place, server):
    with place.sweep(4, waits_at=(1,)) as sweep:
        sweep.reach(1)
        with killed(server, None, None):
            sweep.go_on(1)
            assert sweep.end().code == 1
    done = place.run(*place.words(5, "reuse=true"), **place.added())
    assert done.code == 0, done.err
    assert "1 done, 4 reused" in done.out
    place.check_complete(5)


@contextmanager
def full_disk(folder):
    """Let a folder be a small file system that is full."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder / "ballast"
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_of_the_store_that_has_space_again(place, server):
    with full_disk(server.files) as ballast:
        with place.sweep(12, waits_at=(4,)) as sweep:
            sweep.reach(4)
            free = os.statvfs(server.files)
            with suppress(OSError):  # a run that is delivered meanwhile takes the last of it
                ballast.write_bytes(b"\0" * (free.f_bavail * free.f_frsize - 30_000))
            sweep.go_on(4)
            done = sweep.end()
        assert done.code == 1
        check_told(done, place, 1)
        ballast.unlink()
        done = place.sync()
        assert done.code == 0, done.err
        place.check_complete(12)


def test_two_sweeps_with_two_workers_each_write_at_once(place, server, tmp_path_factory):
    other = Place(tmp_path_factory.mktemp("other"), server.uri, server)
    other.experiment = place.experiment
    both = [
        subprocess.Popen(
            one.command_line(8, "jobs=2", f"seed={seed}"),
            cwd=one.folder,
            env=own_environment() | one.added(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed, one in ((1, place), (2, other))
    ]
    for sweep in both:
        out, err = sweep.communicate(timeout=900)
        assert sweep.returncode == 0, err
        assert "8 done, 0 failed" in out
    runs = place.stored()
    assert [run.info.status for run in runs] == ["FINISHED"] * 16
    assert len({run.data.tags["recgauge.fingerprint"] for run in runs}) == 16
