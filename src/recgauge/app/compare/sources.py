"""What a user names to compare, as finished runs with their records and files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from recgauge.app.files.artifacts import PER_USER, RECORD
from recgauge.app.sweep.outcome import FILE, read_outcome, read_plan
from recgauge.app.tracking.stored_runs import SUMMARY_TAG, RunStore, StoredRun
from recgauge.app.tracking.tracker import FILES_TAG, experiment_tag, load_record
from recgauge.errors import ConfigError, MissingDataError, RecgaugeError, SchemaError, listed
from recgauge.runs.outcome import JobOutcome

NEEDED = (RECORD, PER_USER)
_ID = re.compile(r"[0-9a-f]{32}")
_OWN = "experiment="


@dataclass(frozen=True)
class Where:
    """Where runs are looked for.

    Parameters
    ----------
    uri : str
        Tracking store.
    experiment : str
        MLflow experiment that is meant where none is named.
    search : str
        Which of an experiment's runs, in MLflow's language; empty: all.
    wanted : tuple of str
        Files that are copied from a remote store beside those that every comparison needs.
    """

    uri: str
    experiment: str = "recgauge"
    search: str = ""
    wanted: tuple[str, ...] = ()

    @property
    def store(self) -> RunStore:
        """The store."""
        return RunStore(self.uri)


@dataclass(frozen=True)
class _Candidate:
    """A run that was named, or one of a sweep or an experiment, before its files are read."""

    name: str
    time: float
    folder: Path
    run_id: str | None
    alone: bool = True


def find_runs(sources: Sequence[str], where: Where) -> tuple[list[JobOutcome], list[str]]:
    """Return the finished runs that a user names, the newest of those with equal settings and data.

    Parameters
    ----------
    sources : sequence of str
        Output folders of runs or sweeps, ids of runs, names of MLflow experiments, or ``experiment=NAME``,
        recgauge's own. Empty: the MLflow experiment of `where`.
    where : Where

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
    given = list(sources) or [where.experiment]
    if where.search and not any(_is_experiment(source) for source in given):
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
        chosen = f" with --where {where.search!r}" if where.search else ""
        told = f" ({'; '.join(notes)})" if notes else ""
        raise MissingDataError(f"{listed(given)}: there is no finished run{chosen}{told}.")
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


def _named(source: str, where: Where, notes: list[str]) -> Iterator[_Candidate]:
    """Yield the runs that one source names."""
    if Path(source).is_dir():
        yield from _in_folder(Path(source), where, notes)
    elif _ID.fullmatch(source):
        run = where.store.run(source)
        if run is None:
            raise MissingDataError(
                f"{source}: the tracking store {where.uri} has no run with this id. Name the store that has "
                "it, --uri=ADDRESS, or give the run's output folder."
            )
        if run.status != "FINISHED":
            told = f": {run.tags['error']}" if "error" in run.tags else ""
            raise MissingDataError(f"{source}: the run is {run.status}, so it has no results{told}.")
        yield _stored(run, where)
    else:
        yield from _in_experiment(source, where, notes)


def _in_experiment(source: str, where: Where, notes: list[str]) -> Iterator[_Candidate]:
    """Yield the finished runs of an experiment."""
    name = where.experiment if source.startswith(_OWN) else source
    found = where.store.runs(name, where.search)
    if not found and name not in (known := where.store.experiments()):
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(
            f"{source}: is no folder, no run's id, and no experiment of the tracking store {where.uri}. "
            f"{hint}Experiments there: {listed(known)}."
        )
    results = [run for run in found if SUMMARY_TAG not in run.tags]
    if source.startswith(_OWN):
        results = [run for run in results if experiment_tag(source.removeprefix(_OWN)) in run.tags]
    finished = [run for run in results if run.status == "FINISHED" and FILES_TAG in run.tags]
    if len(finished) < len(results):
        notes.append(f"{source}: {len(results) - len(finished)} runs that did not finish are left out")
    yield from (replace(_stored(run, where), alone=False) for run in finished)


def _stored(run: StoredRun, where: Where) -> _Candidate:
    return _Candidate(f"run {run.run_id}", run.started / 1000, _folder(run, where), run.run_id)


def _folder(run: StoredRun, where: Where) -> Path:
    return where.store.folder(run, (*NEEDED, *where.wanted))


def _in_folder(folder: Path, where: Where, notes: list[str]) -> Iterator[_Candidate]:
    """Yield the run whose folder it is, or the jobs of a sweep."""
    if (folder / RECORD).is_file():
        outcome = read_outcome(folder / FILE)
        yield _with_files(folder, None if outcome is None else outcome.run_id, where)
        return
    plan = read_plan(folder)
    jobs = [job for path in sorted(folder.rglob(FILE)) if (job := read_outcome(path)) is not None]
    jobs = sorted((job for job in jobs if plan.id in ("", job.sweep)), key=lambda job: job.number)
    folders = {job.folder: job.run_id for job in jobs if (job.folder / RECORD).is_file()}
    if not jobs:  # folders that somebody has copied here
        folders = {path.parent: None for path in sorted(folder.rglob(RECORD))}
    if not folders:
        reason = next((f"; its first job: {job.short_reason.removesuffix('.')}" for job in jobs), "")
        raise MissingDataError(f"{folder}: there is no finished run in this folder (no {RECORD}){reason}.")
    if (lacking := max(len(jobs), len(plan.jobs)) - len(folders)) > 0:
        notes.append(f"{folder}: {lacking} jobs without results are left out")
    yield from (replace(_with_files(one, run_id, where), alone=False) for one, run_id in folders.items())


def _with_files(folder: Path, run_id: str | None, where: Where) -> _Candidate:
    """Return the run of a folder; one that was reused has its files in the store alone."""
    place = folder
    if not (folder / PER_USER).is_file() and run_id is not None and where.store.exists:
        run = where.store.run(run_id)
        place = folder if run is None else _folder(run, where)
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
        try:
            record = load_record(one.folder)
        except (OSError, SchemaError) as error:
            raise SchemaError(f"{one.folder / RECORD}: cannot be read: {error}") from error
    except RecgaugeError as error:
        if one.alone:
            raise
        notes.append(f"left out: {error}")
        return None
    return JobOutcome(0, one.name, run_id=one.run_id, record=record, folder=one.folder)
