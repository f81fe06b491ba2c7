"""A finished run made again, by training or from its stored lists, and compared with its folder."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from recgauge.errors import SchemaError, printable
from recgauge.experiment import Experiment, PreparedData, prepare, run_experiment
from recgauge.guards import STOPPING, GuardSettings
from recgauge.models.popularity import Popularity
from recgauge.packages.public import PREDICTED, copy_public_files
from recgauge.packages.stored_output import StoredOutput, computable
from recgauge.packages.unpacking import PAGE
from recgauge.runs.environment import environment, environment_of
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, HITS, RECORD, file_digest, read_checksums
from recgauge.runs.record import RunRecord, RunResult, SplitFacts
from recgauge.runs.repeated import (
    SHOWN,
    Difference,
    differing_rows,
    differing_surroundings,
    differing_table,
    differing_values,
)
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS, TEST, read_table, user_table
from recgauge.sweeps.artifacts import lists_setting, write_tables
from recgauge.utils.progress import Progress, Timings

_VERSION = re.compile(
    r'(?<=name="generator" content="recgauge )[\w.+-]+(?=">)'
    r"|(?<=<footer><p>Made by recgauge )[\w.+-]+(?=\.</p>)"
)
"""The version of recgauge in the two places where a page names it."""
TABLES = (TEST, LISTS, HITS, PER_USER, PREDICTIONS, PREDICTED)


@dataclass(frozen=True, slots=True)
class Verification:
    """What differs between a finished run and its repetition.

    `rows` are of data, parts, candidates and files, `numbers` of results and tables, `environment` of
    versions and machine; `unseen` are the results that the run's files do not give again, by metric.
    """

    record: RunRecord
    rows: list[Difference]
    numbers: list[Difference]
    environment: list[Difference]
    unseen: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether rows and numbers are the stored ones."""
        return not self.rows and not self.numbers


def verify_by_training(
    run: FinishedRun,
    experiment: Experiment,
    progress: Progress,
    *,
    tolerance: float = 0.0,
    packed: bool = False,
) -> Verification:
    """Train the run's model again and compare everything; `packed`: the run is one of a package."""
    stored = run.record
    result = run_experiment(experiment, progress)
    repeated = RunRecord.from_result(
        result,
        names=stored.names,
        seed=stored.seed,
        command=stored.command,
        settings=stored.settings,
        environment=environment_of(stored.settings),
    )
    lists = lists_setting((stored.settings.get("artifacts") or {}).get("lists", True))
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        made = _write_tables(result, run, lists, Path(temporary), packed=packed)
        numbers = _differing_numbers(run, repeated, made, TABLES, tolerance)
    rows = [*changed_files(run.folder, RECORD), *differing_rows(stored, repeated)]
    surroundings = differing_surroundings(stored.environment, repeated.environment)
    return Verification(stored, rows, numbers, surroundings)


def verify_from_files(
    run: FinishedRun,
    experiment: Experiment,
    progress: Progress,
    prepared: dict[str, PreparedData],
    *,
    tolerance: float = 0.0,
) -> Verification:
    """Judge the stored lists and predictions of a package's run again and compare; nothing is trained.

    `prepared` keeps the data of the last run, for the next run with the same.
    """
    stored = run.record
    names = {entry.name for entry in stored.results}
    metrics = {name: metric for name, metric in experiment.metrics.items() if name in names}
    experiment = replace(
        experiment,
        metrics=metrics,
        model=StoredOutput(run.folder),
        guards=GuardSettings(STOPPING),  # they have stopped the run or not
        sanity=False,
        curves=False,
        learning=None,
    )
    key = repr((replace(experiment, metrics={}, model=Popularity()), bool(experiment.metrics_of("lists"))))
    if key not in prepared:
        prepared.clear()
        prepared[key] = prepare(experiment, Timings(progress))
    ready, task = prepared[key], prepared[key].task
    repeated = replace(
        stored,
        dataset=replace(stored.dataset, sha256=ready.dataset.sha256),
        split=SplitFacts.of(ready.split),
        candidates_sha256=stored.candidates_sha256 if task is None else task.candidates.sha256(),
    )
    here = environment()
    facts = {name: fact for name, fact in stored.environment.items() if name in here}
    surroundings = differing_surroundings(facts, here)
    if rows := differing_rows(stored, repeated):  # numbers of other rows say nothing
        unseen = tuple(entry.name for entry in stored.results)
        return Verification(stored, rows, [], surroundings, unseen)
    experiment = replace(experiment, metrics=computable(metrics, run, task))
    if task is not None:
        of_lists = experiment.metrics_of("lists")
        task = replace(task, metrics=of_lists) if of_lists else None
    result = run_experiment(experiment, progress, replace(ready, task=task))
    values = {entry.key: entry for entry in result.results}
    results = []
    for entry in stored.results:
        now = values.get(entry.key, entry)
        results.append(replace(entry, value=now.value, stderr=now.stderr, definition=now.definition))
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        made = _write_tables(result, run, "true", Path(temporary), packed=True)
        tables = [file.name for file in made.iterdir()]
        numbers = _differing_numbers(run, replace(repeated, results=tuple(results)), made, tables, tolerance)
    if not numbers:  # of what is not computed again, the means of users must be those of the record
        user_table(run.folder, stored)
    unseen = tuple(entry.name for entry in stored.results if entry.key not in values)
    return Verification(stored, [], numbers, surroundings, unseen)


def _write_tables(result: RunResult, run: FinishedRun, lists: str, folder: Path, *, packed: bool) -> Path:
    """Write the tables of a repetition, and return their folder; of a package's run those that it has."""
    whole, public = folder / "whole", folder / "public"
    for made in (whole, public):
        made.mkdir()
    if result.evaluations:
        write_tables(result, whole, lists)
        if packed:
            _complete_user_values(run.folder / PER_USER, whole / PER_USER)
            copy_public_files(whole, public, run.record)
    return public if packed else whole


def _complete_user_values(stored: Path, repeated: Path) -> None:
    """Add the stored values of users that were not computed again."""
    values, computed = (read_table(path).to_pandas() for path in (stored, repeated))
    if "user_id" not in values or not values["user_id"].is_unique:
        raise SchemaError(f"{stored}: must have each user_id once.")
    values, computed = values.set_index("user_id"), computed.set_index("user_id")
    values = values.reindex(values.index.union(computed.index))
    for name in computed.columns:
        values.loc[computed.index, name] = computed[name]
    table = pa.Table.from_pandas(values.reset_index(names="user_id"), preserve_index=False)
    pq.write_table(table, repeated)


def _differing_numbers(
    run: FinishedRun, repeated: RunRecord, made: Path, tables: Iterable[str], tolerance: float
) -> list[Difference]:
    """Return the numbers and tables that differ by more than the tolerance."""
    differences = differing_values(run.record, repeated)
    for name in tables:
        files = run.folder / name, made / name
        states = ["there" if file.is_file() else "not there" for file in files]
        if states[0] != states[1]:
            differences.append(Difference(name, states[0], states[1]))
        elif files[0].is_file() and (difference := differing_table(*files)):
            differences.append(difference)
    return [difference for difference in differences if difference.size > tolerance]


def changed_files(folder: Path, name: str) -> list[Difference]:
    """Return the files of a run or a package that are not as stored; `name` is the file that it must have."""
    sums = read_checksums(folder / CHECKSUMS)
    if name not in sums or any(len(digest) != 64 for digest in sums.values()):
        state = "damaged" if (folder / CHECKSUMS).is_file() else "not there"
        return [Difference(CHECKSUMS, state, "needed to know whether files were changed")]
    return [
        Difference(
            file, f"sha256 {then[:SHOWN]}", f"sha256 {now[:SHOWN]}: the file was changed after the run"
        )
        for file, then in sums.items()
        if (folder / file).is_file() and (now := file_digest(folder / file)) != then
    ]


def changed_pages(folder: Path) -> list[Difference]:
    """Return which settings, and which page, of a package do not follow from its records and values."""
    from recgauge.packages.page import write_pages  # brings matplotlib

    differences = []
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        write_pages(folder, Path(temporary))
        for path in sorted(path for path in Path(temporary).rglob("*") if path.is_file()):
            name = path.relative_to(temporary).as_posix()
            differences += _differing_line(name, folder / name, path)
    return differences


def page_version(folder: Path) -> str:
    """Return the version of recgauge that says to have written a package's page."""
    match = _VERSION.search((folder / PAGE).read_text(encoding="utf-8", errors="replace"))
    return match[0] if match else "unknown"


def _differing_line(name: str, stored: Path, written: Path) -> list[Difference]:
    """Return the first line that differs, if any does; the version that wrote a page may be another."""
    if not stored.is_file():
        return [Difference(name, "not there", "follows from the records")]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in (stored, written)]
    lines = [_VERSION.sub("", text).splitlines() for text in texts]
    for number, pair in enumerate(zip_longest(*lines, fillvalue=""), 1):
        if pair[0] != pair[1]:
            then, now = (printable(line.strip())[:120] or "nothing" for line in pair)
            return [Difference(f"{name}, line {number}", then, now)]
    return []
