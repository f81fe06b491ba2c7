"""Runs in a store, and what a user names as finished runs: folders, sweeps, ids, MLflow experiments."""

import re
from atexit import register
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, TypeVar

from recgauge.comparison.runs import model_name
from recgauge.comparison.user_values import key_of
from recgauge.errors import (
    ConfigError,
    MissingDataError,
    RecgaugeError,
    TrackingError,
    did_you_mean,
    listed,
    quantity,
)
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import read_jobs
from recgauge.runs.record import defined_alike
from recgauge.runs.stored import PER_USER, PREDICTIONS, RECORD
from recgauge.tracking.delivering import delivered
from recgauge.tracking.page import FILES_TAG, SUMMARY_TAG, TRIAL_TAG, experiment_tag
from recgauge.tracking.store import Store, check_there, client_of, explained, local_folder

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as Run

T = TypeVar("T")
NEEDED = (RECORD, PER_USER)
_ID = re.compile(r"[0-9a-f]{32}")
_OWN = "experiment="
_NAME = re.compile(r"\b(param(?:eter)?|metric|tag)s?\.(`[^`]*`|\"[^\"]*\")?([\w./-]*)", re.IGNORECASE)
_VALUE = re.compile(r"'[^']*'|(?<!\.)\"[^\"]*\"")
_CUTOFF = re.compile(r"\b(metrics?\.[`\"]?\w+)@(\d+)", re.IGNORECASE)
_FIELDS = {"p": "params", "m": "metrics", "t": "tags"}
"""Names in a search of MLflow, and where a run has them."""
_PAGE = 1000  # runs that are asked for at a time


def stored_run(store: Store, run_id: str) -> "Run | None":
    """Return the run with this id, None if there is none, or no store."""
    if not store.exists:
        return None
    client = reading(store)
    with explained(store, f"read run {run_id}"):
        return if_there(client.get_run, run_id)


def if_there(ask: Callable[..., T], *words: str) -> T | None:
    """Return what MLflow has under a name, None if there is nothing."""
    from mlflow.exceptions import MlflowException

    try:
        return ask(*words)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            return None
        raise


def experiments_of(store: Store) -> dict[str, str]:
    """Return the ids of a store's experiments by name."""
    client = reading(store)
    with explained(store, "look for experiments"):
        experiments = client.search_experiments(order_by=["experiment_id"])
        return {str(each.name): str(each.experiment_id) for each in experiments}


def check_experiment(store: Store, subject: str = "--experiment", source: str = "") -> None:
    """Refuse a store, or an experiment of it, that does not exist, before anything would make it.

    `source`: what the user gave as a folder, a run or an experiment.
    """
    name, names = source or store.experiment, list(experiments_of(store))
    if name not in names and source:
        if any(run.data.params.get("model") == source for run in runs_of(store)):
            raise ConfigError(
                f"{source}: is a model, and runs are given by their ids, which `recgauge runs` lists. "
                f"`recgauge compare` alone compares all models of the experiment {store.experiment}."
            )
        raise ConfigError(
            f"{source}: is no folder, no run's id and no experiment. {did_you_mean(name, names)}"
            f"Experiments of {store.shown}: {listed(names)}."
        )
    if name not in names:
        raise ConfigError(
            f"{subject} {name}: there is no such experiment in {store.shown}. {did_you_mean(name, names)}"
            f"It has {listed(names)}."
        )


def runs_of(store: Store, where: str = "") -> "list[Run]":
    """Return the runs of the store's experiment, newest first, without trials of searches.

    `where` chooses, in MLflow's language.
    """
    from mlflow.exceptions import MlflowException

    client, runs = reading(store), list["Run"]()
    with explained(store, "look for runs"):
        experiment = client.get_experiment_by_name(store.experiment)
        token = None if experiment is None else ""
        while experiment is not None and token is not None:
            ids = [experiment.experiment_id]
            try:
                page = client.search_runs(ids, where, max_results=_PAGE, page_token=token)
            except MlflowException as error:
                if not where or error.error_code != "INVALID_PARAMETER_VALUE":
                    raise
                cause = error.message.partition(". ")[0].rstrip(".")
                reason = (
                    f"--where: {where!r} is no search of MLflow: {cause}. "
                    "Names are params.NAME, metrics.NAME or tags.NAME, and texts stand in quotes: "
                    "--where \"params.model = 'svd'\"."
                )
                raise TrackingError(reason) from error
            runs += [run for run in page if TRIAL_TAG not in run.data.tags]
            token = page.token or None
    return runs


def chosen_runs(store: Store, where: str) -> "list[Run]":
    """Return the runs that a user's search chooses; a name that no run has is an error, not an empty list.

    Metrics may be written as everywhere: ``metrics.ndcg@10 > 0.2``.
    """
    where = _CUTOFF.sub(r"\1_at_\2", where)
    runs = runs_of(store, where)
    for kind, quoted, plain in _NAME.findall(_VALUE.sub("", where)):  # values may look like names
        field, name = _FIELDS[kind[0].lower()], quoted[1:-1] or plain
        if not any(name in getattr(run.data, field) for run in runs):
            names = dict.fromkeys(key for run in runs_of(store) for key in getattr(run.data, field))
            if names and name not in names:
                raise ConfigError(
                    f"--where: no run of the experiment {store.experiment} has {field[:-1]} {name!r}. "
                    f"{did_you_mean(name, names)}There are {listed(names)}."
                )
    return runs


def reading(store: Store) -> "MlflowClient":
    """Return MLflow's client of a store that is there: reading makes none."""
    if not store.exists:
        raise TrackingError(
            f"the tracking store {store.shown} does not exist. Run something first, such as "
            "recgauge run -m model=popularity,svd; or name the store of the runs, --uri=ADDRESS, or "
            "output folders."
        )
    check_there(store)
    with explained(store, "open the store"):
        return client_of(store)


def _run_by_id(store: Store, run_id: str) -> "Run":
    """Return a run that a user names."""
    if (run := stored_run(store, run_id)) is None:
        problem = "has no such run (`recgauge runs` lists them)" if store.exists else "does not exist"
        raise MissingDataError(
            f"{run_id}: is no folder, and the tracking store {store.shown} {problem}. Name the store that "
            "has the run, --uri=ADDRESS, or give the run's output folder."
        )
    return run


def run_files(store: Store, run: "Run", names: Sequence[str]) -> Path:
    """Return a folder with the named files of a run that exist; copies of remote files are temporary."""
    run_id, folder = run.info.run_id, local_folder(run.info.artifact_uri)
    if run.info.status != "FINISHED":
        reason = f": {run.data.tags['error']}" if "error" in run.data.tags else ""
        raise MissingDataError(f"{run_id}: the run is {run.info.status}, so it has no results{reason}.")
    if folder is None:
        folder, client = Path(mkdtemp(prefix="recgauge-")), reading(store)
        register(rmtree, folder, ignore_errors=True)
        with explained(store, f"read run {run_id}"):
            stored = {entry.path for entry in client.list_artifacts(run_id)}
            for name in names:
                if name.partition("/")[0] in stored:
                    client.download_artifacts(run_id, name, str(folder))
        return folder
    if not folder.is_dir() and store.files is not None:
        folder = store.files / run_id / "artifacts"  # of a project that was moved
    if not folder.is_dir():
        raise MissingDataError(
            f"run {run_id}: its files are not in {folder}, where the tracking store says they are. "
            "Put them back, or name the run's output folder instead."
        )
    return folder


def run_folder(run: str, uri: str, names: Sequence[str]) -> Path:
    """Return a folder with the named files of a run that exist: an output folder, or one by its id."""
    store = Store(uri)
    return Path(run) if Path(run).is_dir() else run_files(store, _run_by_id(store, run), names)


def require_stored(run: str, folder: Path, names: Sequence[str]) -> None:
    """Refuse a run that has not stored what is needed, and say how to run it again."""
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise MissingDataError(
            f"{run}: has stored no {', '.join(missing)}. Finished runs with metrics of lists and whole lists "
            "have them: run again with metrics=ranking artifacts.lists=true."
        )


def _copy(client: "MlflowClient", run_id: str, names: Sequence[str], folder: Path) -> None:
    """Copy those of a run's files that exist."""
    stored = {entry.path for entry in client.list_artifacts(run_id)}
    for name in names:
        if name in stored or name.partition("/")[0] in stored:
            client.download_artifacts(run_id, name, str(folder))


def find_runs(
    sources: Sequence[str],
    uri: str,
    *,
    experiment: str = "recgauge",
    where: str = "",
    files: Sequence[str] = (),
    metrics: Sequence[str] = (),
    every_choice: bool = False,
) -> tuple[list[FinishedRun], list[str]]:
    """Return the finished runs that a user names, one of those with equal settings, and notes.

    Settings are equal if they differ in which metrics are computed alone. Of such runs those with all
    `metrics` come first, then those with more metrics, then newer ones.

    Parameters
    ----------
    sources : sequence of str
        Output folders of runs or sweeps, ids of runs, names of MLflow experiments, or ``experiment=NAME``,
        recgauge's own; empty: the runs of `experiment`.
    uri : str
        Tracking store.
    experiment : str
        MLflow experiment of ids and of ``experiment=NAME``.
    where : str
        Which of an experiment's runs, in MLflow's language.
    files : sequence of str
        Files that are copied from a remote store beside those that every comparison needs.
    metrics : sequence of str
        That are to be compared.
    every_choice : bool
        Runs that differ in which metrics are computed count apart.

    Returns
    -------
    list of FinishedRun
        Each with a per_user.parquet in its folder.
    list of str
        Which runs are left out, and why.

    Raises
    ------
    RecgaugeError
        If a source is unknown, a run that is named alone has no results, or there is no finished run.
    """
    names = list(sources) or [experiment]
    if where and all(Path(name).is_dir() or _ID.fullmatch(name) for name in names):
        raise ConfigError(
            "--where chooses among the runs of an MLflow experiment, and only folders and ids are given."
        )
    store, notes = Store(uri, experiment), list[str]()
    distinct: dict[str, FinishedRun] = {}
    for name in names:
        for run in _runs(name, store, where, (*NEEDED, PREDICTIONS, *files), notes):
            distinct.setdefault(run.run_id or str(run.folder.resolve()), run)
    runs = list(distinct.values())
    alike = _repeated(runs, every_choice=every_choice)
    if not alike:
        chosen = f" with --where {where!r}" if where else ""
        left_out = f" ({'; '.join(notes)})" if notes else ""
        raise MissingDataError(
            f"{'' if sources else 'experiment '}{listed(names)}: there is no finished run{chosen}{left_out}."
        )
    kept: set[FinishedRun] = set()
    for repeats in alike:
        first = _first_of(repeats, metrics) if len(repeats) > 1 else repeats[0]
        kept.add(first)
        if len(repeats) > 1:
            model, dataset = model_name(first.record), first.record.names["dataset"]
            which = "the newest" if first is repeats[0] else "that with more metrics"
            digests = {run.record.settings_digest() for run in repeats}
            notes.append(
                f"{model} on {dataset}, seed {first.record.seed}, was run {len(repeats)} times with equal "
                f"settings{' but for metrics' * (len(digests) > 1)}; {which} counts: {first.label}"
            )
    return [run for run in runs if run in kept], notes


def _first_of(repeats: Sequence[FinishedRun], metrics: Sequence[str]) -> FinishedRun:
    """Return the first run that has all metrics, else the most of its own; they are newest first."""

    def order(run: FinishedRun) -> tuple[bool, int]:
        keys = run.user_metrics()
        return all(key_of(name, keys) for name in metrics), len(keys)

    return max(repeats, key=order)


def _repeated(runs: Sequence[FinishedRun], *, every_choice: bool) -> list[list[FinishedRun]]:
    """Return runs with those that repeat them, newest first; a metric defined otherwise sets them apart."""
    alike: dict[str, list[list[FinishedRun]]] = {}
    for run in sorted(runs, key=_started, reverse=True):
        sets = alike.setdefault(run.record.settings_digest(measured=every_choice), [])
        repeated = [own for own in sets if defined_alike([own[0].record, run.record])]
        repeated[0].append(run) if repeated else sets.append([run])
    return [own for sets in alike.values() for own in sets]


def _started(run: FinishedRun) -> float:
    job = run.record.job
    return (run.folder / RECORD).stat().st_mtime if job is None else job.started


def _runs(source: str, store: Store, where: str, files: Sequence[str], notes: list[str]) -> list[FinishedRun]:
    """Return the runs of a source; of several, one that has stored too little is left out, with a note."""
    folder = Path(source)
    if (folder / RECORD).is_file():
        return [_read(folder)]
    if not folder.is_dir() and _ID.fullmatch(source):
        return [_read_stored(store, _run_by_id(store, source), files)]
    if folder.is_dir():
        readers = [partial(_read, each) for each in _folders_of_sweep(folder, notes)]
    else:
        stored = _runs_of_experiment(source, store, where, notes)
        readers = [partial(_read_stored, store, run, files) for run in stored]
    runs = []
    for read in readers:
        try:
            runs.append(read())
        except RecgaugeError as error:
            notes.append(f"left out: {error}")
    return runs


def _read(folder: Path) -> FinishedRun:
    require_stored(str(folder), folder, NEEDED)
    return FinishedRun.read(folder, (delivered(folder) or {}).get("run_id"), str(folder))


def _read_stored(store: Store, run: "Run", files: Sequence[str]) -> FinishedRun:
    folder, label = run_files(store, run, files), f"run {run.info.run_id}"
    require_stored(label, folder, NEEDED)
    return FinishedRun.read(folder, run.info.run_id, label)


def _folders_of_sweep(folder: Path, notes: list[str]) -> list[Path]:
    """Return the folders of a sweep's finished jobs."""
    jobs = read_jobs(folder)
    # the folder of a failed job may have an older run
    finished = [job.folder for job in jobs if job.status != "failed" and (job.folder / RECORD).is_file()]
    if not jobs:  # a sweep that was killed, copied folders
        finished = [path.parent for path in sorted(folder.rglob(RECORD))]
    if not finished:
        reason = f"; its first job: {jobs[0].short_reason.removesuffix('.')}" if jobs else ""
        raise MissingDataError(f"{folder}: there is no finished run in this folder (no {RECORD}){reason}.")
    if (n_left := len(jobs) - len(finished)) > 0:
        notes.append(f"{folder}: {quantity(n_left, 'job')} without results left out")
    return finished


def _runs_of_experiment(source: str, store: Store, where: str, notes: list[str]) -> "list[Run]":
    """Return the finished runs of an experiment, without summaries of sweeps."""
    own = source.startswith(_OWN)
    stored = chosen_runs(store if own else replace(store, experiment=source), where)
    if not stored:
        check_experiment(store, source="" if own else source)
    runs = [run for run in stored if SUMMARY_TAG not in run.data.tags]
    if own:
        tag = experiment_tag(source.removeprefix(_OWN))
        runs = [run for run in runs if tag in run.data.tags]
    finished = [run for run in runs if run.info.status == "FINISHED" and FILES_TAG in run.data.tags]
    if n_left := len(runs) - len(finished):
        notes.append(f"{source}: {quantity(n_left, 'run')} that did not finish left out")
    return finished
