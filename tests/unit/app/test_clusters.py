"""What the settings of clusters mean, and when a job of Slurm is submitted again; no cluster is needed."""

from pathlib import Path
from socket import gethostname
from types import SimpleNamespace

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from recgauge.app import places
from recgauge.app.main import _explain
from recgauge.app.sweep import on_submitit
from recgauge.app.sweep.clusters import RaySettings, SubmititSettings, check_typed
from recgauge.app.sweep.on_submitit import _Submitted
from recgauge.app.sweep.outcome import SweepPlan, write_outcome
from recgauge.app.sweep.worker import LOG
from recgauge.errors import ConfigError, MissingDataError
from recgauge.runs.outcome import JobOutcome


class Watched:
    """Stands in for `Watching`: notes what it is told."""

    def __init__(self, folder: Path, n_jobs: int) -> None:
        self.sweep, self.plan = folder, SweepPlan(["job"] * n_jobs)
        self.folders = [folder / str(job) for job in range(n_jobs)]
        self.begins: list[int] = []
        self.ends: list[tuple[int, str]] = []
        for one in self.folders:
            one.mkdir()

    def begun(self, job: int) -> None:
        self.begins.append(job)

    def ended(self, job: int, died: str) -> None:
        self.ends.append((job, died))

    def leave(self, job: int, status: str) -> None:
        write_outcome(JobOutcome(job, "job", status, sweep=self.plan.id), self.folders[job])


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    """Three jobs that have been submitted; files of other machines are seen at once."""
    monkeypatch.setattr(on_submitit, "_LAG", -1.0)
    jobs = _Submitted(Watched(tmp_path, 3), [0, 1, 2])
    resubmit(jobs)
    return jobs


def resubmit(jobs):
    for job in jobs.take(None):
        jobs.running[job] = SimpleNamespace(job_id=f"7_{job}")


def test_a_job_has_ended_when_it_left_an_outcome_whatever_slurm_says(submitted):
    (submitted.watching.folders[0] / LOG).touch()
    submitted.look(None)
    assert submitted.watching.begins == [0]
    submitted.watching.leave(0, "done")
    submitted.watching.leave(1, "failed")
    submitted.look({"7_0": "RUNNING", "7_1": "COMPLETED", "7_2": "PENDING"})
    assert submitted.watching.ends == [(0, ""), (1, "")]
    assert list(submitted.running) == [2]


def test_a_job_that_is_gone_is_submitted_once_more(submitted):
    submitted.watching.leave(1, "stopped")  # by the signal that ended it
    submitted.look({"7_0": "NODE_FAIL", "7_1": "PREEMPTED", "7_2": "RUNNING"})
    assert submitted.waiting == [0, 1]
    assert not submitted.watching.ends
    resubmit(submitted)
    submitted.look({"7_0": "FAILED", "7_2": "RUNNING"})
    assert submitted.watching.ends == [
        (0, "its process died twice (Slurm: FAILED)"),
        (1, "its process died twice"),
    ]
    assert list(submitted.running) == [2]


def test_a_job_that_needs_more_is_not_submitted_again(submitted):
    submitted.look({"7_0": "TIMEOUT", "7_1": "OUT_OF_MEMORY", "7_2": "RUNNING"})
    assert not submitted.waiting
    assert [job for job, _ in submitted.watching.ends] == [0, 1]
    assert all(
        name in why for (_, why), name in zip(submitted.watching.ends, ("timeout_min", "mem_gb"), strict=True)
    )


def test_a_slurm_that_does_not_answer_ends_no_job(submitted):
    submitted.look(None)
    assert len(submitted.running) == 3


def test_a_file_that_is_seen_late_counts(submitted, monkeypatch):
    monkeypatch.setattr(on_submitit, "_LAG", 1000.0)
    submitted.look({})
    submitted.watching.leave(2, "done")
    submitted.look({})
    assert submitted.watching.ends == [(2, "")]
    assert not submitted.waiting


def test_settings_reach_the_engines():
    assert RaySettings(cpus_per_task=3, mem_gb=2).needs == {"num_cpus": 3, "memory": 2 << 30}
    told = SubmititSettings(partition="cpu", mem_gb=8, setup=["module load python"]).parameters("slurm")
    assert told["slurm_partition"] == "cpu"
    assert told["slurm_setup"] == ["module load python"]
    assert told["mem_gb"] == 8
    assert "slurm_account" not in told


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (RaySettings, {"cpus_per_task": 0}),
        (RaySettings, {"workers": "all"}),
        (SubmititSettings, {"timeout_min": 1.5}),
        (SubmititSettings, {"array_parallelism": 0}),
        (SubmititSettings, {"setup": "module load python"}),
        (SubmititSettings, {"partition": "cpu\ntouch /tmp/here"}),
    ],
)
def test_wrong_settings_are_named(kind, wrong):
    with pytest.raises(ConfigError, match=f"hydra.launcher.{next(iter(wrong))}"):
        kind(**wrong)


@pytest.mark.parametrize(
    "launcher",
    [
        {"setup": ["touch here"]},
        {"address": "elsewhere:6379"},
        {"additional_parameters": {"prolog": "here.sh", "reservation": "mine"}},
    ],
)
def test_a_file_of_settings_cannot_run_code_by_a_launcher(launcher):
    typed = OverridesParser.create().parse_overrides(
        ["hydra.launcher.additional_parameters={reservation:mine}"]
    )
    with pytest.raises(ConfigError, match="a file of settings may not set it"):
        check_typed(launcher, typed)


def test_what_is_typed_of_a_launcher_is_the_users_own():
    words = [
        "hydra.launcher.setup=[module load python]",
        "+hydra.launcher.additional_parameters.reservation=mine",
    ]
    launcher = {
        "setup": ["module load python"],
        "additional_parameters": {"reservation": "mine"},
        "address": None,
    }
    check_typed(launcher, OverridesParser.create().parse_overrides(words))


def test_missing_data_are_told_with_the_machine_that_misses_them(monkeypatch):
    monkeypatch.setattr(places, "_machine", [])
    assert _explain(MissingDataError("no ratings.csv"), Path()) == "no ratings.csv"
    places.works_for_another_machine()
    assert _explain(MissingDataError("no ratings.csv"), Path()) == f"on {gethostname()}: no ratings.csv"
