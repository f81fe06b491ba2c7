"""A package opened safely, and judged again without training, from its lists and the data set."""

import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recgauge.conventions import Definition
from recgauge.data.lists import TopK
from recgauge.errors import IntegrityError, RecgaugeError, SchemaError, listed, printable, said
from recgauge.evaluation import Evaluation
from recgauge.evaluation.evaluate_ratings import RatingPredictions, evaluate_predictions
from recgauge.evaluation.ranking_task import RankingTask
from recgauge.evaluation.values import evaluate_or_refuse
from recgauge.experiment import Experiment, PreparedData, prepare
from recgauge.files.limits import Limits
from recgauge.files.opening import UNPACKING_ERRORS
from recgauge.packages import ABOUT, FORMAT, PREDICTED, RANKS, runs_in, write_pages
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, file_digest, read_checksums
from recgauge.runs.record import RunRecord, SplitFacts
from recgauge.runs.repeated import SHOWN, Difference, differing_rows
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS, TEST, held_out_rows, read_table
from recgauge.utils.files import read_own
from recgauge.utils.messages import FULL
from recgauge.utils.progress import Progress, Timings
from recgauge.utils.resources import check_memory

LIMITS = Limits(adjustable=False)
MOST_FILES, MOST_TIMES = 100_000, 200  # files; bytes of what is packed to bytes of the archive
_LISTED = 8  # bytes of an item and its score
_ZIP = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack 4 kB to gigabytes


def is_package(path: Path) -> bool:
    """Whether a path is a package, or the folder of an unpacked one, as far as its kind tells."""
    return (path / ABOUT).is_file() if path.is_dir() else path.is_file()


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yield the folder of a package's files, unpacked into a temporary one; nothing is written elsewhere.

    IntegrityError: it is no package, lacks a file or has one too many, or a name leads elsewhere.
    """
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        folder = path if path.is_dir() else Path(temporary)
        try:
            if folder != path:
                _unpack(path, folder)
            yield _complete(folder, path)
        except RecgaugeError as error:  # a temporary folder means nothing to anybody
            name = f"{path}/" if folder == path else f"{path}:"
            raise type(error)(str(error).replace(f"{folder}/", name)) from error


def _unpack(path: Path, folder: Path) -> None:
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            _check_archive(archive, path)
            archive.extractall(folder)  # which leaves out what in a name leads outside, and makes no links
    except RecgaugeError:
        raise
    except OSError as error:
        if error.errno in FULL:  # which is not the package's fault
            raise
        raise IntegrityError(f"{path}: cannot be unpacked: {said(error)}. Get the package again.") from error
    except (*UNPACKING_ERRORS, NotImplementedError, ValueError) as error:
        raise IntegrityError(f"{path}: cannot be unpacked: {said(error)}. Get the package again.") from error


def _check_archive(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse what would fill disk or memory; zipfile reads no more of a member than the archive says."""
    members = archive.infolist()
    if len(members) > MOST_FILES:
        raise IntegrityError(f"{path}: has {len(members):,} files, at most {MOST_FILES:,} are unpacked.")
    if odd := [member.filename for member in members if member.compress_type not in _ZIP]:
        raise IntegrityError(
            f"{path}: {printable(odd[0])}: is packed in a way that cannot be unpacked in pieces."
        )
    inside = Counter(_inside(member.filename) for member in members)  # as they would be unpacked
    if twice := [name for name, n in inside.items() if n > 1]:
        raise IntegrityError(f"{path}: {printable(twice[0])} is there twice. Get the package again.")
    size = sum(member.file_size for member in members)
    if size > MOST_TIMES * path.stat().st_size:
        raise IntegrityError(
            f"{path}: has {size:,} bytes when it is unpacked, more than {MOST_TIMES} times its size. "
            "Nothing was unpacked."
        )
    LIMITS.check("unpacked_bytes", size, path)


def _inside(name: str) -> str:
    """Return a member's name without what leads elsewhere, which zipfile leaves out, too."""
    return "/".join(part for part in PurePosixPath(name).parts if part not in ("/", ".."))


def _complete(folder: Path, path: Path) -> Path:
    """Return the folder if all files are there that its list of digests names, and no others."""
    if not (folder / ABOUT).is_file() or not (folder / CHECKSUMS).is_file():
        raise IntegrityError(
            f"{path}: is no package, since it lacks {ABOUT} or {CHECKSUMS}. Name a file that `recgauge "
            "package` wrote, a run's id or its output folder."
        )
    odd = [
        file.name for file in folder.rglob("*") if file.is_symlink() or not (file.is_file() or file.is_dir())
    ]
    if odd:
        raise IntegrityError(f"{path}: {listed(map(printable, odd), 5)} is no regular file.")
    files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    named = {*read_checksums(folder / CHECKSUMS), CHECKSUMS}
    for names, problem in ((named - files, "lacks"), (files - named, f"has, and {CHECKSUMS} does not name,")):
        if names:
            raise IntegrityError(
                f"{path}: {problem} {listed(map(printable, sorted(names)), 5)}. Get the package again."
            )
    for file in sorted(folder.rglob("*.parquet")):
        _check_size(file)
    return folder


def _check_size(file: Path) -> None:
    """Refuse a table that would fill the memory."""
    try:
        about = pq.read_metadata(file)
    except (OSError, ValueError):  # damaged: reading it says so
        return
    LIMITS.check("rows", about.num_rows, file)
    LIMITS.check("columns", about.num_columns, file)
    LIMITS.check(
        "unpacked_bytes", sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups)), file
    )


def read_about(folder: Path, path: Path) -> dict[str, Any]:
    """Return what a package says of itself; IntegrityError if this version does not understand it."""
    try:
        about = json.loads(read_own(folder / ABOUT))
        if about["format"] != FORMAT:
            made = f"use recgauge {about['recgauge']}, which made it"
            raise IntegrityError(f"{path}: this recgauge does not know packages of its kind; {made}.")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise IntegrityError(f"{path}: {ABOUT} cannot be read. Get the package again.") from error
    return dict(about)


def changed_files(folder: Path) -> list[Difference]:
    """Return the files of a run or a package that are not as they were stored."""
    return [
        Difference(
            name, f"sha256 {then[:SHOWN]}", f"sha256 {now[:SHOWN]}: the file was changed after the run"
        )
        for name, then in read_checksums(folder / CHECKSUMS).items()
        if (folder / name).is_file() and (now := file_digest(folder / name)) != then
    ]


def changed_pages(folder: Path) -> list[Difference]:
    """Return the pages and tables of a package that do not follow from its records and values."""
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        write_pages(folder, Path(temporary))
        written = {
            path.relative_to(temporary).as_posix(): path
            for path in Path(temporary).rglob("*")
            if path.is_file()
        }
        return [
            difference
            for name, path in sorted(written.items())
            if (difference := _first_line(name, folder / name, path)) is not None
        ]


def _first_line(name: str, stored: Path, written: Path) -> Difference | None:
    if not stored.is_file():
        return Difference(name, "not there", "follows from the records")
    texts = [file.read_text(encoding="utf-8", errors="replace").splitlines() for file in (stored, written)]
    for number, lines in enumerate(zip_longest(*texts, fillvalue=""), 1):
        if lines[0] != lines[1]:
            then, now = (printable(line.strip())[:120] or "nothing" for line in lines)
            return Difference(f"{name}, line {number}", then, now)
    return None


Compose = Callable[[FinishedRun], Experiment]
"""Returns the experiment of a run, with a model that is not trained."""


def judge_again(
    folder: Path, compose: Compose, progress: Callable[[], Progress]
) -> Iterator[tuple[FinishedRun, RunRecord, list[str], Path]]:
    """Yield the runs of a package with what their lists and predictions give now.

    That is the run's record with the rows and numbers that were made again, the metrics that need more than
    the package has, and a folder with tables that were made again. The model is never trained; runs on the
    same rows share them.
    """
    ready: dict[str, PreparedData] = {}
    for job in runs_in(folder):
        run = FinishedRun.read(job.folder)
        experiment = compose(run)
        rows = replace(experiment, metrics={}, cutoffs=(max(experiment.cutoffs),))
        key = repr((rows, bool(experiment.metrics_of("lists"))))
        if key not in ready:
            ready = {key: prepare(experiment, Timings(progress()))}
        with TemporaryDirectory(prefix="recgauge-") as made:
            yield run, *_judge(run, experiment, ready[key], Path(made)), Path(made)


def _judge(
    run: FinishedRun, experiment: Experiment, ready: PreparedData, made: Path
) -> tuple[RunRecord, list[str]]:
    task, record = ready.task, run.record
    if task is not None:
        task = replace(task, metrics=experiment.metrics_of("lists"), cutoffs=experiment.cutoffs)
    now = replace(
        record,
        dataset=replace(record.dataset, sha256=ready.dataset.sha256),
        split=SplitFacts.of(ready.split),
        candidates_sha256=record.candidates_sha256 if task is None else task.candidates.sha256(),
    )
    if differing_rows(record, now):  # numbers of other rows say nothing
        return now, [entry.name for entry in record.results]
    evaluations = [*_of_lists(run, task), *_of_ratings(run, experiment, ready)]
    values = {entry.key: entry for each in evaluations for entry in each.results}
    for name in (TEST, PREDICTIONS):
        if (run.folder / name).is_file():
            rows, stored = held_out_rows(ready.split.test), read_table(run.folder / name)
            for column in stored.column_names:  # what was predicted
                if column not in rows.column_names and len(stored) == len(rows):
                    rows = rows.append_column(column, stored[column])
            pq.write_table(rows, made / name)
    pq.write_table(_user_values(run.folder / PER_USER, evaluations), made / PER_USER)
    left = [entry.name for entry in record.results if entry.key not in values]
    results = tuple(
        replace(entry, value=again.value, stderr=again.stderr, definition=again.definition)
        if (again := values.get(entry.key)) is not None
        else entry
        for entry in record.results
    )
    return replace(now, results=results), left


def _user_values(path: Path, evaluations: Sequence[Evaluation]) -> pa.Table:
    """Return the stored values of users, those that were computed again in the place of theirs."""
    import pandas as pd

    table = read_table(path).to_pandas()
    if "user_id" not in table or not table["user_id"].is_unique:
        raise SchemaError(f"{path}: must have each user_id once.")
    table = table.set_index("user_id")
    for evaluation in evaluations:
        table = table.reindex(table.index.union(evaluation.users))
        for entry in evaluation.results:
            if entry.per_user is not None:
                table[entry.key] = pd.Series(entry.per_user, evaluation.users)
    return pa.Table.from_pandas(table.reset_index(names="user_id"), preserve_index=False)


def _of_lists(run: FinishedRun, task: RankingTask | None) -> list[Evaluation]:
    if task is None:
        return []
    metrics = {name: each for name, each in task.metrics.items() if not _needs_ends(each, run.record)}
    if (run.folder / LISTS).is_file():
        lists = _stored_lists(run, task)
    elif (run.folder / RANKS).is_file():
        lists = _lists_of_ranks(run, task)
        metrics = {name: each for name, each in metrics.items() if _of_ranks(each)}
    else:
        return []
    if len(task.listed_users) > len(task.users):
        metrics = {name: each for name, each in metrics.items() if not each.metric.needs_all_users}
    if not metrics:
        return []
    return [evaluate_or_refuse(metrics, partial(task.evaluate, lists=lists))[0]]


def _needs_ends(definition: Definition, record: RunRecord) -> bool:
    """Whether a value depends on what ties with the ends of the lists, which no file has."""
    k = str(max((entry.k for entry in record.results if entry.k is not None), default=0))
    open_ends = record.ties is None or record.ties.share_at_cutoff.get(k) != 0
    return definition.policies.ties in ("expected", "random") and open_ends


def _of_ranks(definition: Definition) -> bool:
    """Whether a value follows from the ranks of relevant items alone; other orders of ties look at scores."""
    metric = definition.metric
    return metric.needs_relevant and not metric.needs and definition.policies.ties == "stable"


def _stored_lists(run: FinishedRun, task: RankingTask) -> TopK:
    """Return the lists of a file as codes of the data set."""
    path, k = run.folder / LISTS, max(task.cutoffs)
    rows, ids = read_table(path, ["user_id", "item_id", "rank", "score"]), task.dataset.interactions
    user = _codes(rows["user_id"], ids.user_ids, task.users, path)
    item = _codes(rows["item_id"], ids.item_ids, np.arange(len(ids.item_ids)), path)
    rank, score = (np.asarray(rows[name].to_pandas()) for name in ("rank", "score"))
    if rank.dtype.kind != "i" or score.dtype.kind != "f":
        raise SchemaError(f"{path}: rank and score should be numbers.")
    check_memory(path, len(task.users) * k, _LISTED)
    place = user * k + rank - 1
    if len(rank) and not (rank.min() >= 1 and rank.max() <= k and len(np.unique(place)) == len(place)):
        raise SchemaError(f"{path}: ranks must be from 1 to {k}, each once for a user.")
    if not task.candidates.holds(task.users[user], item.astype(np.int32)).all():
        raise SchemaError(f"{path}: has items that are no candidates of their users.")
    items = np.full((len(task.users), k), -1, np.int32)
    scores = np.full((len(task.users), k), -np.inf, score.dtype)
    items.flat[place], scores.flat[place] = item, score
    return TopK(task.users, items, scores)


def _lists_of_ranks(run: FinishedRun, task: RankingTask) -> TopK:
    """Return lists with the held-out items at their ranks, and items that no catalogue has between them."""
    path, k, test = run.folder / RANKS, max(task.cutoffs), task.split.test
    table = read_table(path)
    rank = _of_rows(table, "rank", len(test), path)
    check_memory(path, len(task.users) * k, _LISTED)
    length = np.minimum(task.candidates.counts(test.n_users, test.n_items), k)
    if "length" in table.column_names:
        length[test.user] = _of_rows(table, "length", len(test), path)
    if (length > k).any() or (rank > length[test.user]).any():
        raise SchemaError(f"{path}: has a rank or a length beyond the lists of {k} items.")
    column = np.arange(k, dtype=np.int32)
    items = np.where(column < length[task.users, None], test.n_items + column, np.int32(-1))
    hit = (rank > 0) & np.isin(test.user, task.users)
    items[np.searchsorted(task.users, test.user[hit]), rank[hit] - 1] = test.item[hit]
    scores = np.where(items >= 0, -column, -np.inf).astype(np.float32)
    return TopK(task.users, items.astype(np.int32), scores)


def _codes(column: Any, ids: Any, wanted: Any, path: Path) -> Any:
    """Return the places of ids among those of the wanted codes."""
    import pandas as pd

    places = pd.Index(ids[wanted]).get_indexer(column.to_pandas())
    if (places < 0).any():
        first = column[int(np.argmax(places < 0))]
        raise SchemaError(f"{path}: has {printable(str(first))}, which the evaluated data have not.")
    return places


def _of_rows(table: Any, name: str, n_rows: int, path: Path) -> Any:
    values = np.asarray(table[name].to_pandas()) if name in table.column_names else np.empty(0)
    kinds = "f" if name == "predicted" else "i"
    if len(values) != n_rows or values.dtype.kind not in kinds or (kinds == "i" and (values < 0).any()):
        raise SchemaError(f"{path}: must have a {name} for each of the {n_rows:,} held-out rows.")
    return values


def _of_ratings(run: FinishedRun, experiment: Experiment, ready: PreparedData) -> list[Evaluation]:
    names = [name for name in (PREDICTIONS, PREDICTED) if (run.folder / name).is_file()]
    if not names or not experiment.metrics_of("ratings"):
        return []
    path, test = run.folder / names[0], ready.split.test
    predicted = _of_rows(read_table(path, ["predicted"]), "predicted", len(test), path)
    nothing = np.zeros(len(test), np.bool_)
    predictions = RatingPredictions(
        test.user, test.item, test.value, predicted.astype(np.float32), nothing, nothing
    )
    measure = partial(evaluate_predictions, predictions=predictions, user_ids=test.user_ids)
    return [evaluate_or_refuse(experiment.metrics_of("ratings"), measure)[0]]
