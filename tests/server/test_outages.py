"""A sweep whose server or database is away for a while: every run is in the store in the end, once."""

import re
import subprocess
from contextlib import contextmanager

import pytest

from e2e.program import own_environment
from server.conftest import Place

pytestmark = [pytest.mark.server, pytest.mark.slow]


@contextmanager
def killed(server, postgres):
    server.kill()
    try:
        yield
    finally:
        server.start()


@contextmanager
def hanging(server, postgres):
    with server.hanging():
        yield


@contextmanager
def crashed_database(server, postgres):
    postgres.stop("immediate")
    try:
        yield
    finally:
        postgres.start()


HARMS = {"killed": killed, "hanging": hanging, "crashed database": crashed_database}


@pytest.mark.parametrize("server", ["served"], indirect=True)
@pytest.mark.parametrize("harm", HARMS)
def test_what_was_away_for_a_while_has_all_runs_when_the_sweep_ends(place, server, postgres, harm):
    impatient = harm == "hanging"
    with place.sweep(12, waits_at=(4, 9), patience=10 if impatient else 60) as sweep:
        sweep.reach(4)
        with HARMS[harm](server, postgres):
            sweep.go_on(4)
            sweep.reach(9)
        sweep.go_on(9)
        done = sweep.end()
    if impatient and done.code:  # a server on a busy machine takes as long by itself
        done = place.sync()
    assert done.code == 0, done.err
    place.check_complete(12)
    assert place.n_waiting() == 0
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
        with HARMS[harm](server, postgres):
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
