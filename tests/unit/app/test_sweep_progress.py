"""Which job of a sweep begins when, what is said of the others, and how long they are thought to take."""

import os
import signal
from importlib.util import find_spec
from threading import Barrier

import pytest

from recgauge.app.sweep import begin, estimates, launcher, side_by_side
from recgauge.app.sweep.estimates import Forecast
from recgauge.app.sweep.launcher import Given
from recgauge.app.sweep.outcome import SweepPlan, read_outcome, write_outcome
from recgauge.app.sweep.planned import PlannedJob
from recgauge.app.sweep.side_by_side import Process, Room, SideBySide
from recgauge.app.sweep.watching import Tally, Watching
from recgauge.app.terminal.printing import ConsoleProgress, stages_of
from recgauge.runs.outcome import JobOutcome

GIB = 1 << 30


class FakeWorker:
    """Runs a job by noting it; it may wait until another one runs, too."""

    key = ""

    def __init__(self, log, meet=None):
        self.log, self.meet = log, meet

    def run(self, task):
        self.log.append(("run", task))
        if self.meet is not None:
            self.meet.wait(30)
        return True

    def end(self): ...
    def interrupt(self): ...
    def await_end(self): ...


def swept(needs, n_workers=2, meet=None, free=10 * GIB, monkeypatch=None):
    """Run jobs with these needs, and return what happened in which order."""
    monkeypatch.setattr(side_by_side, "free_memory", lambda: free)
    log = []
    SideBySide(
        [str(job) for job in range(len(needs))],
        lambda place, _later: place,
        lambda: FakeWorker(log, meet),
        n_workers,
        lambda job, _died: log.append(("ended", job)),
        has_room=Room(needs),
        begun=lambda job: log.append(("begun", job)),
        waits=lambda job: log.append(("waits", job)),
    ).run()
    return log


def test_a_further_job_begins_only_if_its_memory_is_free(monkeypatch):
    log = swept([7 * GIB, 4 * GIB], monkeypatch=monkeypatch)
    order = [event for event in log if event[0] != "run"]
    assert order == [("begun", 0), ("waits", 1), ("ended", 0), ("begun", 1), ("ended", 1)]


def test_a_smaller_job_goes_before_one_that_has_to_wait(monkeypatch):
    log = swept([7 * GIB, 4 * GIB, 1 * GIB], monkeypatch=monkeypatch)
    begun = [job for what, job in log if what == "begun"]
    assert begun[:2] == [0, 2]
    assert sorted(begun) == [0, 1, 2]


def test_the_end_is_prepared_once_a_worker_has_nothing_more_to_do():
    log = []
    SideBySide(
        ["a", "b", "c"],
        lambda place, _later: place,
        lambda: FakeWorker(log),
        2,
        lambda job, _died: log.append(("ended", job)),
        begun=lambda job: log.append(("begun", job)),
        spare=lambda: log.append("spare"),
    ).run()
    first = log.index("spare")
    assert [event[1] for event in log[:first] if event[0] == "begun"] == [0, 1, 2]
    assert [event for event in log[:first] if event[0] == "ended"]


def test_what_the_end_of_a_sweep_imports_early_exists():
    for name in launcher._NEEDED_AT_END:
        assert find_spec(name) is not None


def test_a_worker_that_ends_is_not_waited_for():
    worker = Process(["tracking=off"], 1)
    os.kill(worker._process.pid, signal.SIGSTOP)
    worker.end()  # returns although the worker cannot end yet
    os.kill(worker._process.pid, signal.SIGCONT)
    worker.await_end()
    assert worker._process.returncode == 0


def test_one_job_always_runs(monkeypatch):
    log = swept([99 * GIB, None, 99 * GIB], free=GIB // 2, monkeypatch=monkeypatch)
    assert [job for what, job in log if what == "ended"] == [0, 1, 2]


def test_jobs_run_at_a_time_where_memory_is_not_known(monkeypatch):
    log = swept([99 * GIB, 99 * GIB], meet=Barrier(2), free=None, monkeypatch=monkeypatch)
    assert not [job for what, job in log if what == "waits"]


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(estimates, "monotonic", lambda: now[0])
    return now


def test_time_left_follows_earlier_runs_at_the_speed_of_now(clock):
    forecast = Forecast([10.0, 20.0, None, 10.0])
    assert forecast.left() == pytest.approx(10 + 20 + 40 / 3 + 10)
    forecast.begin(0)
    clock[0] = 20
    forecast.end(0)  # twice as slow as it was earlier
    assert forecast.left() == pytest.approx(2 * 20 + 20 + 2 * 10)
    forecast.begin(1)
    clock[0] = 50
    assert forecast.left() == pytest.approx(10 + 20 + 20)
    assert Forecast([10.0, 20.0, 30.0], n_workers=2).left() == pytest.approx(40)


def test_a_job_that_would_end_after_all_others_is_urgent(clock):
    forecast = Forecast([None] * 6, 2, ["long", "short"] * 3)
    forecast.begin(0)
    forecast.begin(1)
    assert forecast.urgent() == set()  # nothing is known
    clock[0] = 1
    forecast.end(1)
    forecast.begin(3)
    clock[0] = 8
    forecast.end(3)  # 7 s; the long one has taken 8 s so far
    assert forecast.urgent() == {2, 4}
    forecast.begin(2)
    clock[0] = 12
    forecast.end(0)
    assert forecast.left() == pytest.approx(8 + 7)  # of a long job that runs, then a short one
    assert forecast.urgent() == {4}


def test_while_shorter_jobs_fill_the_time_nothing_is_urgent():
    assert Forecast([5.0, *[1.0] * 11], 2).urgent() == set()
    assert Forecast([5.0, *[1.0] * 10], 2).urgent() == {0}


def test_an_urgent_job_goes_before_those_whose_rows_the_worker_has():
    log = []
    SideBySide(
        ["a", "a", "b", "b"],
        lambda place, _later: place,
        lambda: FakeWorker(log),
        1,
        lambda _job, _died: None,
        lambda: {3},
    ).run()
    assert [job for _, job in log] == [3, 0, 1, 2]


def test_without_earlier_runs_jobs_that_have_ended_tell_the_time(clock):
    forecast = Forecast([None, None, None])
    assert forecast.left() is None
    forecast.begin(0)
    clock[0] = 4
    forecast.end(0)
    assert forecast.left() == pytest.approx(8)


def given(folder, n_jobs):
    return [Given((), number, folder / str(number), "", str(number)) for number in range(n_jobs)]


def test_a_tally_tells_all_there_is_to_know(tmp_path, clock):
    plan = SweepPlan(["a", "b", "c"], [60.0, None, 60.0])
    tally = Tally(given(tmp_path, 3), plan, 2)
    tally.forecast.begin(0)
    tally.forecast.begin(1)
    assert str(tally) == "0 of 3 jobs done, 2 running, about 2 min 0 s left"
    clock[0] = 60
    tally.end(1, failed=True)
    assert str(tally) == "1 of 3 jobs done, 1 failed, about 1 min 0 s left"


def test_each_ended_job_has_a_line_and_waiting_is_said_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(side_by_side, "free_memory", lambda: GIB)
    plan = SweepPlan(["model=a seed=1", "model=b seed=1"], [None, None], [None, 2 * GIB])
    plan.write(tmp_path)
    with Watching(given(tmp_path, 2), tmp_path, 2) as watching:
        watching.begun(0)
        assert not watching.room([0], 1)
        watching.waits(1)
        watching.waits(1)
        (tmp_path / "0").mkdir()
        write_outcome(JobOutcome(0, "model=a", "failed", "no luck", plan.id), tmp_path / "0")
        watching.ended(0, "")
    said = capsys.readouterr().err
    assert said.count("waiting  model=b may need 2.1 GB of memory, 0 bytes is left") == 1
    assert said.count("model=a: no luck") == 1


def test_a_job_whose_worker_died_before_it_had_a_folder_is_failed(tmp_path, capsys):
    plan = SweepPlan(["model=a"], [None], [None])
    plan.write(tmp_path)
    with Watching(given(tmp_path, 1), tmp_path) as watching:
        watching.ended(0, "its machine was lost")
    assert read_outcome(tmp_path / "0" / "outcome.json").reason == "its machine was lost"
    assert "model=a: its machine was lost" in capsys.readouterr().err


def test_stages_show_the_whole_sweep_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with stages_of("2 of 3 jobs done"), ConsoleProgress().stage("fit"):
        pass
    assert "2 of 3 jobs done | fit" in capsys.readouterr().err


def test_a_plan_without_estimates_can_be_read():
    assert SweepPlan(["a"]).peak_of(0) is None


def test_jobs_that_may_not_fit_are_named_at_the_start(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(begin, "free_memory", lambda: GIB)
    labels = ["model=a seed=0", "model=b seed=0", "model=b seed=1"]
    jobs = [PlannedJob(number, label, tmp_path, "") for number, label in enumerate(labels)]
    begin._note_memory(jobs, [None, 2 * GIB, 3 * GIB], ConsoleProgress())
    assert (
        "the jobs with model=b may need up to 3.2 GB of memory, 1.1 GB can be had" in capsys.readouterr().err
    )
    begin._note_memory(jobs, [None, 2, 3], ConsoleProgress())
    assert capsys.readouterr().err == ""
