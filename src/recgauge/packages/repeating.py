"""A finished run made again, by training or from its stored lists, and compared with its folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.compute as pc

from recgauge.errors import printable
from recgauge.experiment import Experiment, prepare, run_experiment
from recgauge.guards import STOPPING, GuardSettings
from recgauge.packages.stored_output import StoredOutput, computable
from recgauge.runs.environment import environment, environment_of
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, HITS, RECORD, file_digest, read_checksums
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
from recgauge.sweeps.artifacts import lists_setting, write_tables
from recgauge.utils.progress import Progress, Timings

_VERSION = re.compile(r"(?<=content=\"recgauge )[\w.+-]+(?=\">)|(?<=Made by recgauge )[\w.+-]+(?=\.</p>)")
"""The version of recgauge in the two places where a page names it."""
TABLES = (TEST, LISTS, HITS, PER_USER, PREDICTIONS)


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
    """Train a run's model again, or judge its stored lists and predictions again, and compare."""
    stored = run.record
    here = environment_of(stored.settings) if train else stored.environment | environment()
    surroundings = differing_surroundings(stored.environment, here)
    if not train:
        names = {entry.name for entry in stored.results}
        metrics = {name: metric for name, metric in experiment.metrics.items() if name in names}
        experiment = replace(
            experiment,
            metrics=computable(metrics, run),
            model=StoredOutput(run.folder),
            guards=GuardSettings(STOPPING),  # they have stopped the run or not
            sanity=False,
            curves=False,
            learning=None,
        )
    ready = prepare(experiment, Timings(progress))
    candidates = stored.candidates_sha256 if ready.task is None else ready.task.candidates.sha256()
    dataset = replace(stored.dataset, sha256=ready.dataset.sha256)
    repeated = replace(
        stored, dataset=dataset, split=SplitFacts.of(ready.split), candidates_sha256=candidates
    )
    rows = [*changed_files(run.folder, RECORD), *(differing := differing_rows(stored, repeated))]
    if differing and not train:  # numbers of other rows say nothing
        unseen = tuple(entry.name for entry in stored.results)
        return Verification(stored, rows, [], surroundings, unseen)
    result = run_experiment(experiment, progress, ready)
    values = {entry.key: entry for entry in result.results}
    unseen = () if train else tuple(entry.name for entry in stored.results if entry.key not in values)
    if train:
        repeated = RunRecord.from_result(
            result,
            names=stored.names,
            seed=stored.seed,
            command=stored.command,
            settings=stored.settings,
            environment=here,
        )
    else:
        results = []
        for entry in stored.results:
            now = values.get(entry.key, entry)
            results.append(replace(entry, value=now.value, stderr=now.stderr, definition=now.definition))
        repeated = replace(repeated, results=tuple(results))
    numbers = differing_values(stored, repeated)
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        if result.evaluations:
            lists = lists_setting((stored.settings.get("artifacts") or {}).get("lists", True))
            write_tables(result, Path(temporary), lists)
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
    """Return the first line of each settings file, and of the page, that does not follow from the records.

    The page names the version of recgauge that wrote it, which may be another.
    """
    from recgauge.packages.page import write_pages  # brings matplotlib

    differences = []
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        write_pages(folder, Path(temporary))
        for path in sorted(path for path in Path(temporary).rglob("*") if path.is_file()):
            name = path.relative_to(temporary).as_posix()
            pairs = zip_longest(_lines(folder / name), _lines(path), fillvalue="")
            different = ((n, *pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            for number, *pair in islice(different, 1):
                then, now = (printable(line.strip())[:120] or "nothing" for line in pair)
                differences.append(Difference(f"{name}, line {number}", then, now))
    return differences


def _lines(file: Path) -> list[str]:
    """Return the lines of a file without the version of recgauge; none of a file that is not there."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return _VERSION.sub("", text).splitlines()
