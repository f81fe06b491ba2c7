"""A finished run made again, by training or from its stored lists, and compared with its folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.compute as pc

from recgauge.experiment import Experiment, prepare, run_experiment
from recgauge.runs.environment import environment, environment_of
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, RECORD, file_digest, read_checksums
from recgauge.runs.record import RunRecord, SplitFacts
from recgauge.runs.repeated import (
    SHOWN,
    Difference,
    differing_rows,
    differing_surroundings,
    differing_table,
    differing_values,
)
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS, TEST, read_table, user_table
from recgauge.sweeps.artifacts import write_tables
from recgauge.utils.progress import Progress, Timings

_VERSION = re.compile(r"(?<=content=\"recgauge )[\w.+-]+(?=\">)|(?<=Made by recgauge )[\w.+-]+(?=\.</p>)")
"""The version of recgauge in the two places where a page names it."""
TABLES = (TEST, LISTS, PER_USER, PREDICTIONS)


@dataclass(frozen=True, slots=True)
class Verification:
    """What differs between a finished run and its repetition.

    `rows` are of data, parts, candidates and files, `numbers` of results and tables, `environment` of
    versions and machine; `unseen` are the results that were not computed again, by metric.
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


def verify_run(
    run: FinishedRun, experiment: Experiment, progress: Progress, *, train: bool, tolerance: float = 0.0
) -> Verification:
    """Make a run again by its experiment, or without training by a `recorded_experiment`, and compare."""
    stored = run.record
    here = environment_of(stored.settings) if train else stored.environment | environment()
    surroundings = differing_surroundings(stored.environment, here)
    ready = prepare(experiment, Timings(progress))
    candidates = stored.candidates_sha256 if ready.task is None else ready.task.candidates.sha256()
    dataset = replace(stored.dataset, sha256=ready.dataset.sha256)
    split = SplitFacts.of(ready.split)
    prepared = replace(stored, dataset=dataset, split=split, candidates_sha256=candidates)
    rows = [*changed_files(run.folder, RECORD), *(differing := differing_rows(stored, prepared))]
    if not experiment.metrics or (differing and not train):  # numbers of other rows say nothing
        return Verification(stored, rows, [], surroundings, tuple(entry.name for entry in stored.results))
    result = run_experiment(experiment, progress, ready)
    repeated = RunRecord.from_result(
        result,
        names=stored.names,
        seed=stored.seed,
        command=stored.command,
        settings=stored.settings,
        environment=here,
    )
    unseen: tuple[str, ...] = ()
    reference = stored
    if not train:
        keys = repeated.values()
        unseen = tuple(entry.name for entry in stored.results if entry.key not in keys)
        reference = replace(repeated, results=tuple(each for each in stored.results if each.key in keys))
    numbers = differing_values(reference, repeated)
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        if result.evaluations:
            lists = (stored.settings.get("artifacts") or {}).get("lists", True)
            write_tables(result, Path(temporary), lists=bool(lists))
        numbers += _differing_tables(run.folder, Path(temporary), train=train)
    numbers = [difference for difference in numbers if difference.size > tolerance]
    if not numbers:  # of what is not computed again, the means of users must be those of the record
        user_table(run.folder, stored)
    return Verification(stored, rows, numbers, surroundings, unseen)


def _differing_tables(stored: Path, repeated: Path, *, train: bool) -> Iterator[Difference]:
    """Yield how stored tables differ from those of a repetition; without training, values of users alone."""
    names = read_checksums(stored / CHECKSUMS)
    for name in TABLES if train else (PER_USER,):
        there = [(folder / name).is_file() for folder in (stored, repeated)]
        if all(there):
            now = read_table(repeated / name)
            then = read_table(stored / name, None if train else now.column_names)
            if not train:  # not all values of users are computed again
                then = then.filter(pc.is_in(then["user_id"], now["user_id"]))
            if difference := differing_table(name, then, now):
                yield difference
        elif train and any(there) and name in names:
            then, now = ("there" if is_there else "not there" for is_there in there)
            yield Difference(name, then, now)


def changed_files(folder: Path, name: str) -> list[Difference]:
    """Return the files of a run or a package that are not as stored; `name` is the file that it must have."""
    sums = read_checksums(folder / CHECKSUMS)
    if name not in sums or any(len(digest) != 64 for digest in sums.values()):
        return [Difference(CHECKSUMS, "damaged or not there", "needed to know whether files were changed")]
    return [
        Difference(
            file, f"sha256 {then[:SHOWN]}", f"sha256 {now[:SHOWN]}: the file was changed after the run"
        )
        for file, then in sums.items()
        if (folder / file).is_file() and (now := file_digest(folder / file)) != then
    ]


def changed_pages(folder: Path) -> Iterator[Difference]:
    """Yield settings files, and the page, whose text does not follow from the records.

    The page names the version of recgauge that wrote it, which may be another.
    """
    from recgauge.packages.page import write_pages  # brings matplotlib

    with TemporaryDirectory(prefix="recgauge-") as temporary:
        write_pages(folder, Path(temporary))
        for path in sorted(path for path in Path(temporary).rglob("*") if path.is_file()):
            name = path.relative_to(temporary).as_posix()
            if _text(folder / name) != _text(path):
                yield Difference(name, "another text", "what follows from the records and lists")


def _text(file: Path) -> str:
    """Return the text of a file without the version of recgauge."""
    return _VERSION.sub("", file.read_text(encoding="utf-8", errors="replace") if file.is_file() else "")
