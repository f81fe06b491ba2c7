"""The runs of a tracking store and of a sweep's folder, as `recgauge.comparison.finding` asks for them."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from recgauge.comparison.finding import TrackedRun
from recgauge.errors import MissingDataError
from recgauge.runs.outcome import read_jobs
from recgauge.runs.stored import RECORD
from recgauge.tracking import RunStore, StoredRun, delivered, experiment_tag
from recgauge.tracking.page import FILES_TAG, SUMMARY_TAG


class TrackedRuns:
    """A `recgauge.comparison.finding.RunSource`: the only place where comparisons meet MLflow and sweeps."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._runs: dict[str, StoredRun] = {}

    @cached_property
    def _store(self) -> RunStore:
        return RunStore(self.address)

    @property
    def exists(self) -> bool:
        """Whether there is a store."""
        return self._store.exists

    def load_run(self, run_id: str) -> TrackedRun | None:
        """Return the run with this id, if there is one."""
        run = self._run(run_id)
        return None if run is None else _tracked(run)

    def _run(self, run_id: str) -> StoredRun | None:
        if run_id not in self._runs and (run := self._store.run(run_id)) is not None:
            self._runs[run_id] = run
        return self._runs.get(run_id)

    def list_runs(self, experiment: str, search: str, study: str | None) -> Sequence[TrackedRun] | None:
        """Return the runs of an MLflow experiment, without summaries of sweeps; None if there is none."""
        runs = self._store.runs(experiment, search)
        if not runs and experiment not in self._store.experiments():
            return None
        self._runs |= {run.run_id: run for run in runs}
        results = [run for run in runs if SUMMARY_TAG not in run.tags]
        return [_tracked(run) for run in results if study is None or experiment_tag(study) in run.tags]

    def experiments(self) -> list[str]:
        """Return the names of all MLflow experiments."""
        return self._store.experiments()

    def folder(self, run_id: str, names: Sequence[str]) -> Path:
        """Return a folder with those of a run's files that there are."""
        run = self._run(run_id)
        if run is None:
            raise MissingDataError(f"{run_id}: the tracking store {self.address} has no run with this id.")
        return self._store.folder(run, names)

    def jobs(self, folder: Path) -> tuple[dict[Path, str | None], int, str]:
        """Return folders and ids of a sweep's finished jobs, the number of all, why the first failed."""
        if (folder / RECORD).is_file():
            return {folder: _run_id(folder)}, 1, ""
        jobs = read_jobs(folder)
        finished = {job.folder: job.run_id for job in jobs if (job.folder / RECORD).is_file()}
        if not jobs:  # a sweep that was killed, folders that somebody has copied here
            finished = {path.parent: _run_id(path.parent) for path in sorted(folder.rglob(RECORD))}
        reason = next((job.short_reason.removesuffix(".") for job in jobs), "")
        return finished, len(jobs), reason


def _run_id(folder: Path) -> str | None:
    told = delivered(folder)
    return None if told is None else str(told["run_id"])


def _tracked(run: StoredRun) -> TrackedRun:
    reason = run.tags.get("error", "")
    return TrackedRun(run.run_id, run.status, run.started / 1000, FILES_TAG in run.tags, reason)
