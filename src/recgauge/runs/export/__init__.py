"""A run's lists and rows as files of other tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from recgauge._version import __version__
from recgauge.conventions import get_convention
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.errors import ConfigError, MissingDataError, listed
from recgauge.runs.export.formats import (
    FORMS,
    NEED_PARTS,
    PACKED,
    Content,
    Exporter,
    Files,
    Form,
    Grades,
    Scores,
)
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, PREDICTIONS, TEST, RunFolder, grades, read_table
from recgauge.utils.files import text_writer, write_files

ABOUT = "about.md"
_OWN_ORDER = ("id_descending", "average", "expected")
"""Policies of equal scores under which a run's numbers are not those of the stored order."""

Load = Callable[[RunFolder], tuple[Dataset, Split]]
"""Loads data and split of a run again."""


@dataclass(frozen=True)
class ExportOptions:
    """What of a run is exported, and how."""

    forms: tuple[Form, ...]
    scores: Scores = "rank"
    grades: Grades = "rating"
    gzip: bool = False
    train: bool = True  # training and validation rows, too, for which the data set is loaded again
    overwrite: bool = False

    def __post_init__(self) -> None:
        unknown = [form for form in self.forms if form not in FORMS]
        if unknown or not self.forms:
            raise ConfigError(f"--as: {listed(unknown)} is none of {', '.join(FORMS)}.")
        if self.gzip and (plain := [form for form in self.forms if form not in PACKED]):
            raise ConfigError(
                f"--gzip: files of {listed(plain)} are compressed already or must be plain; it works with "
                f"{', '.join(PACKED)}."
            )
        if not self.train and "recbole" in self.forms:
            raise ConfigError("--no-train: RecBole needs training rows; leave out one of the two.")


def export_run(
    run: RunFolder, name: str, folder: Path, options: ExportOptions, load: Load
) -> tuple[dict[Path, int | None], list[str]]:
    """Write a run's files for other tools, and about.md, which says what is in them.

    Returned are the number of rows of each file, where it has rows, and notes for the user.
    """
    content, notes = _content(run, options, load)
    exporter = Exporter(content, options.scores, options.grades, options.gzip)
    files: Files = {}
    for form in options.forms:
        files |= exporter.files(form)
    _refuse_existing(folder, [*files, ABOUT], overwrite=options.overwrite)
    if "trec" in options.forms:
        notes += _ties(run, exporter)
        if (factor := exporter.grade_factor) != 1:
            notes.append(
                f"grades for tools of TREC, which read whole numbers, are {factor} times the rating: "
                "precision, recall, MAP, MRR and nDCG stay as they are, DCG and exponential gains do not"
            )
    about = _about_page(name, run.record, files, exporter)
    writers = {folder / file: each.write for file, each in files.items()}
    write_files(writers | {folder / ABOUT: text_writer(about)})
    return {folder / file: each.n_rows for file, each in files.items()}, notes


def _content(run: RunFolder, options: ExportOptions, load: Load) -> tuple[Content, list[str]]:
    record, parts = run.record, {}
    if any(form in NEED_PARTS for form in options.forms):
        parts = _all_parts(run, options.forms, load) if options.train else _stored_part(run)
    paths = [run.folder / name for name in (LISTS, PREDICTIONS)]
    lists, predictions = (read_table(path) if path.is_file() else None for path in paths)
    notes = []
    if lists is None and "recbole" in options.forms:
        notes.append("the run has stored no lists, so that there are none in RecBole's files")
    judged = pa.Table.from_pandas(run.judged(record.dataset.relevant_from), preserve_index=False)
    content = Content(
        record.dataset.name,
        record.names["model"],
        record.evaluated_on,
        judged.replace_schema_metadata(),
        parts,
        lists,
        predictions,
    )
    return content, notes


def _all_parts(run: RunFolder, forms: Sequence[Form], load: Load) -> dict[str, pa.Table]:
    """Load and split the data again, and return the rows of each part."""
    try:
        dataset, split = load(run)
    except MissingDataError as error:
        without = "" if "recbole" in forms else " Or export lists and test rows alone: --no-train."
        raise MissingDataError(f"{error}{without}") from error
    optional = {"train": split.train, "fold_in": split.fold_in, "validation": split.validation}
    parts = {name: rows for name, rows in optional.items() if rows is not None}
    parts[run.record.evaluated_on] = split.test
    rated = dataset.feedback == "explicit" or any((rows.value != 1).any() for rows in parts.values())
    return {
        name: _table(rows, rated, dataset.relevant_from, held_out=name in ("validation", "test"))
        for name, rows in parts.items()
    }


def _table(rows: Interactions, rated: bool, relevant_from: float | None, *, held_out: bool) -> pa.Table:
    columns: dict[str, Any] = {
        "user_id": rows.user_ids[rows.user],
        "item_id": rows.item_ids[rows.item],
    }
    if held_out:
        columns["grade"] = grades(rows.value, relevant_from)
    if rated:
        columns["rating"] = rows.value
    if rows.timestamp is not None:
        columns["timestamp"] = rows.timestamp
    return pa.table(columns)


def _stored_part(run: RunFolder) -> dict[str, pa.Table]:
    table = read_table(run.folder / TEST)
    ratings, dataset = table["rating"].to_numpy(), run.record.dataset
    if dataset.feedback == "implicit" and (ratings == 1).all():
        table = table.drop_columns(["rating"])
    return {run.record.evaluated_on: table.add_column(2, "grade", [grades(ratings, dataset.relevant_from)])}


def _refuse_existing(folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise ConfigError(
            f"--out: {folder} has {listed(there, most=3)} already. Name another folder, or add --overwrite."
        )


def _ties(run: RunFolder, exporter: Exporter) -> list[str]:
    """Say how many lists other tools may order in another way, or would."""
    import pandas as pd

    lists = run.recommended()
    tied = (lists["user_id"] == lists["user_id"].shift()) & (lists["score"] == lists["score"].shift())
    if not (n_tied := int(pd.Series(lists["user_id"][tied]).nunique())):
        return []
    told = "each tool orders them in its own way; --scores rank writes scores that fall with the rank"
    if exporter.scores == "rank":
        told = "those written fall with the rank, so that tools agree; --scores model keeps the model's"
        policy = next((name for name in _OWN_ORDER if f"ties={name}" in run.record.policies), None)
        if policy is not None:
            told += f", and with them this run's own numbers, which are of ties={policy}"
    return [f"{n_tied:,} of {lists['user_id'].nunique():,} lists have equal scores: {told}"]


def _about_page(name: str, record: RunRecord, files: Files, exporter: Exporter) -> str:
    """Return about.md: what the files hold, and how to evaluate them."""
    low = record.dataset.relevant_from
    grade = "1 for every row" if low is None else f"the rating if that is at least {low:g}, else 0"
    text = f"""# {record.names["model"]} on {record.dataset.name}

Files of the run {name}, written by `recgauge export` {__version__}. The run was: `{record.command}`

- Ids are the publisher's. A user without a list has no row among the lists; lists may be short.
- `grade` is what an item counted as in the run: {grade}. Rows with grade 0 are judged and not relevant.
- `rank` is the place in the list, from 1. `score` is the model's, where equal scores may be.
"""
    if any(path.startswith("lists.trec") for path in files):
        told = "falls with the rank" if exporter.scores == "rank" else "is the model's, ties included"
        relevant = "; a relevant item has the grade 1" if exporter.grades == "binary" else ""
        if (factor := exporter.grade_factor) != 1:
            relevant = f"; grades are {factor} times the rating, to be whole numbers"
        text += f"- For TREC the score {told}{relevant}; a pair that repeats is there once.\n"
    if record.incomparable:
        text += f"- Numbers of these lists are not those of the whole catalogue: {record.incomparable}.\n"
    counts = {path: "" if file.n_rows is None else f"{file.n_rows:,}" for path, file in files.items()}
    rows = "".join(f"| `{path}` | {counts[path]} | {file.about} |\n" for path, file in files.items())
    text += f"\n| file | rows | columns |\n| --- | ---: | --- |\n{rows}"
    usage = _usage(record, files)
    return text + (f"\nIn this folder, the run's numbers again: `{usage}`\n" if usage else "")


def _usage(record: RunRecord, files: Files) -> str:
    """Return the command that evaluates the files here again; an empty text if there is nothing to judge."""
    names = {name.removesuffix(".gz"): name for name in files}
    part, convention = record.evaluated_on, get_convention(record.names["conventions"])
    known = convention.known()
    entries = [(entry, known[entry.name]) for entry in record.results if entry.name in known]
    keys = [f"{e.name}@{e.k}" for e, metric in entries if e.k and metric.needs_relevant and not metric.needs]
    rated = [entry.name for entry, metric in entries if metric.kind == "ratings"]
    kinds = (("csv", "csv"), ("trec", "qrels"), ("parquet", "parquet"))
    of_lists = [(f"lists.{kind}", f"{part}.{of_truth}", keys) for kind, of_truth in kinds]
    of_ratings = [(f"predictions.{kind}", f"{part}.{kind}", rated) for kind in ("csv", "parquet")]
    for rows, truth, metrics in of_lists + of_ratings:
        if rows in names and truth in names and metrics:
            words = f"--run {names[rows]} --truth {names[truth]} --metrics {','.join(metrics)}"
            return f"recgauge evaluate {words} --conventions {convention.name}"
    return ""
