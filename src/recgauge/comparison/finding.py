"""What a user names to compare, as finished runs with their records and files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from recgauge.errors import ConfigError, MissingDataError, RecgaugeError, did_you_mean, listed
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.stored import PER_USER, PREDICTIONS, RECORD, RunFolder

NEEDED = (RECORD, PER_USER)
_ID = re.compile(r"[0-9a-f]{32}")
_OWN = "experiment="


@dataclass(frozen=True)
class TrackedRun:
    """A run of a tracking store, as far as it takes to find its files.

    Parameters
    ----------
    run_id : str
    status : str
        As MLflow says it: ``FINISHED``, ``FAILED``.
    time : float
        When it began, in seconds since 1970.
    complete : bool
        Whether the store has its files.
    reason : str
        Why it failed; empty if nobody knows.
    """

    run_id: str
    status: str
    time: float
    complete: bool = True
    reason: str = ""


class RunSource(Protocol):
    """Where runs are looked for that are no folders."""

    address: str

    @property
    def exists(self) -> bool:
        """Whether there is a store."""

    def load_run(self, run_id: str) -> TrackedRun | None:
        """Return the run with this id, if there is one."""

    def list_runs(self, experiment: str, search: str, study: str | None) -> Sequence[TrackedRun] | None:
        """Return the runs of an MLflow experiment, newest first; None if there is no such experiment.

        Parameters
        ----------
        experiment : str
        search : str
            Which of them, in MLflow's language; empty: all.
        study : str or None
            Which of recgauge's own experiments they must belong to.
        """

    def experiments(self) -> list[str]:
        """Return the names of all MLflow experiments."""

    def folder(self, run_id: str, names: Sequence[str]) -> Path:
        """Return a folder with those of a run's files that there are."""

    def jobs(self, folder: Path) -> tuple[dict[Path, str | None], int, str]:
        """Return folders and ids of a sweep's finished jobs, the number of all, why the first failed."""


@dataclass(frozen=True)
class _Where:
    store: RunSource
    experiment: str
    search: str
    wanted: tuple[str, ...]

    def folder(self, run_id: str) -> Path:
        return self.store.folder(run_id, (*NEEDED, PREDICTIONS, *self.wanted))


@dataclass(frozen=True)
class _Candidate:
    """A run that was named, or one of a sweep or an experiment, before its files are read."""

    name: str
    time: float
    folder: Path
    run_id: str | None
    alone: bool = True


def find_runs(
    sources: Sequence[str],
    store: RunSource,
    *,
    experiment: str = "recgauge",
    search: str = "",
    wanted: Sequence[str] = (),
) -> tuple[list[JobOutcome], list[str]]:
    """Return the finished runs that a user names, the newest of those with equal settings and data.

    Parameters
    ----------
    sources : sequence of str
        Output folders of runs or sweeps, ids of runs, names of MLflow experiments, or ``experiment=NAME``,
        recgauge's own. Empty: `experiment`.
    store : RunSource
    experiment : str
        MLflow experiment that is meant where none is named.
    search : str
        Which of an experiment's runs, in MLflow's language; empty: all.
    wanted : sequence of str
        Files that are copied from a remote store beside those that every comparison needs.

    Returns
    -------
    runs : list of JobOutcome
        Each with its record, and with a folder that has its per_user.parquet.
    notes : list of str
        What was left out.

    Raises
    ------
    RecgaugeError
        If a source is unknown, a run that is named alone has no results, or nothing is found.
    """
    where = _Where(store, experiment, search, tuple(wanted))
    given = list(sources) or [experiment]
    if search and not any(_is_experiment(source) for source in given):
        raise ConfigError(
            "--where chooses among the runs of an MLflow experiment, and only folders and ids are given."
        )
    notes: list[str] = []
    found = [one for source in given for one in _named(source, where, notes)]
    distinct = {one.run_id or str(one.folder.resolve()): one for one in found}.values()
    newest: dict[str, list[JobOutcome]] = {}
    for one in sorted(distinct, key=lambda one: one.time, reverse=True):
        if (run := _read(one, notes)) is not None and run.record is not None:
            newest.setdefault(run.record.fingerprint(), []).append(run)
    if not newest:
        chosen = f" with --where {search!r}" if search else ""
        told = f" ({'; '.join(notes)})" if notes else ""
        names = " `recgauge experiments` lists what there is." if str(given).count(_OWN) else ""
        raise MissingDataError(f"{listed(given)}: there is no finished run{chosen}{told}.{names}")
    notes += [_told(runs) for runs in newest.values() if len(runs) > 1]
    order = {id(one): place for place, one in enumerate(found)}
    place_of = {one.name: order[id(one)] for one in distinct}
    chosen_runs = sorted((runs[0] for runs in newest.values()), key=lambda run: place_of[run.label])
    return [replace(run, number=number) for number, run in enumerate(chosen_runs)], notes


def _is_experiment(source: str) -> bool:
    return not (Path(source).is_dir() or _ID.fullmatch(source))


def _told(runs: Sequence[JobOutcome]) -> str:
    assert runs[0].record is not None
    model, dataset = (runs[0].record.names[group] for group in ("model", "dataset"))
    times = f"{model} on {dataset} was run {len(runs)} times with equal settings"
    return f"{times}; the newest counts: {runs[0].label}"


def _named(source: str, where: _Where, notes: list[str]) -> Iterator[_Candidate]:
    """Yield the runs that one source names."""
    if Path(source).is_dir():
        yield from _in_folder(Path(source), where, notes)
    elif _ID.fullmatch(source):
        run = where.store.load_run(source)
        if run is None:
            raise MissingDataError(
                f"{source}: the tracking store {where.store.address} has no run with this id. Name the store "
                "that has it, --uri=ADDRESS, or give the run's output folder."
            )
        if run.status != "FINISHED":
            told = f": {run.reason}" if run.reason else ""
            raise MissingDataError(f"{source}: the run is {run.status}, so it has no results{told}.")
        yield _stored(run, where)
    else:
        yield from _in_experiment(source, where, notes)


def _in_experiment(source: str, where: _Where, notes: list[str]) -> Iterator[_Candidate]:
    """Yield the finished runs of an experiment."""
    own = source.startswith(_OWN)
    name, study = (where.experiment, source.removeprefix(_OWN)) if own else (source, None)
    found = where.store.list_runs(name, where.search, study)
    if found is None:
        known = where.store.experiments()
        hint = did_you_mean(name, known)
        raise ConfigError(
            f"{source}: is no folder, no run's id, and no experiment of the tracking store "
            f"{where.store.address}. {hint}Experiments there: {listed(known)}."
        )
    finished = [run for run in found if run.status == "FINISHED" and run.complete]
    if len(finished) < len(found):
        notes.append(f"{source}: {len(found) - len(finished)} runs that did not finish are left out")
    yield from (replace(_stored(run, where), alone=False) for run in finished)


def _stored(run: TrackedRun, where: _Where) -> _Candidate:
    return _Candidate(f"run {run.run_id}", run.time, where.folder(run.run_id), run.run_id)


def _in_folder(folder: Path, where: _Where, notes: list[str]) -> Iterator[_Candidate]:
    """Yield the run whose folder it is, or the jobs of a sweep."""
    finished, n_jobs, reason = where.store.jobs(folder)
    if (folder / RECORD).is_file():
        yield _with_files(folder, finished.get(folder), where)
        return
    if not finished:
        told = f"; its first job: {reason}" if reason else ""
        raise MissingDataError(f"{folder}: there is no finished run in this folder (no {RECORD}){told}.")
    if (lacking := n_jobs - len(finished)) > 0:
        notes.append(f"{folder}: {lacking} jobs without results are left out")
    yield from (replace(_with_files(one, run_id, where), alone=False) for one, run_id in finished.items())


def _with_files(folder: Path, run_id: str | None, where: _Where) -> _Candidate:
    """Return the run of a folder; one that was reused has its files in the store alone."""
    place = folder
    if not (folder / PER_USER).is_file() and run_id is not None and where.store.exists:
        place = folder if where.store.load_run(run_id) is None else where.folder(run_id)
    return _Candidate(str(folder), (folder / RECORD).stat().st_mtime, place, run_id)


def _read(one: _Candidate, notes: list[str]) -> JobOutcome | None:
    """Read a run's record; one of many that has stored too little is left out with a note.

    Raises
    ------
    RecgaugeError
        If the user named this run, and it has not stored what a comparison needs.
    """
    try:
        if missing := [name for name in NEEDED if not (one.folder / name).is_file()]:
            raise MissingDataError(
                f"{one.name}: has stored no {' and no '.join(missing)}, so its users cannot be compared. "
                "Run it again."
            )
        record = RunFolder.read(one.folder).record
    except RecgaugeError as error:
        if one.alone:
            raise
        notes.append(f"left out: {error}")
        return None
    return JobOutcome(0, one.name, run_id=one.run_id, record=record, folder=one.folder)
