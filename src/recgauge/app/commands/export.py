"""``recgauge export RUN_ID --as FORMAT --out FOLDER``: a run's lists and rows as files of other tools."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from recgauge.app.commands.options import ALLOWED, RUN, add_store, store_uri
from recgauge.app.commands.run_data import data_of
from recgauge.app.commands.run_files import require_stored, run_folder
from recgauge.app.compare.writing import text_writer, write_files
from recgauge.app.files.export_about import about_page
from recgauge.app.files.export_formats import (
    FORMS,
    NEED_LISTS,
    NEED_PARTS,
    PACKED,
    Content,
    Exporter,
    Form,
    Grades,
    Scores,
)
from recgauge.app.terminal.messages import print_note
from recgauge.app.terminal.printing import output
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, MissingDataError, listed
from recgauge.runs.stored import LISTS, TEST, RunFolder
from recgauge.utils.files import user_path

if TYPE_CHECKING:
    import pyarrow as pa

    from recgauge.app.files.export_writing import ExportFile

ABOUT = "about.md"
_PREDICTIONS = "predictions.parquet"
_OWN_ORDER = ("id_descending", "average", "expected")
"""Policies of equal scores under which a run's numbers are not those of the stored order."""


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``export``."""
    default = "(default: %(default)s)"
    parser.add_argument("run", metavar="RUN_ID", help=RUN)
    known = ", ".join(FORMS)
    parser.add_argument(
        "--as", dest="forms", metavar="FORMAT", nargs="+", required=True, help=f"one or several of {known}"
    )
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help="made if missing")
    told = "of trec and ranx: falling with the rank, or the model's, whose ties tools order on their own"
    parser.add_argument("--scores", choices=get_args(Scores), default="rank", help=f"{told} {default}")
    told = "of relevant items in trec and ranx"
    parser.add_argument("--grades", choices=get_args(Grades), default="rating", help=f"{told} {default}")
    parser.add_argument("--gzip", action="store_true", help=f"pack text files, of {', '.join(PACKED)}")
    told = "leave out training and validation rows, for which the data set is loaded again"
    parser.add_argument("--no-train", action="store_true", help=told)
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    parser.add_argument("--allow", metavar="PACKAGE", action="append", default=[], help=ALLOWED)
    add_store(parser)


def carry_out(asked: Namespace) -> None:
    """Export what the command line asks for."""
    export_run(asked, store_uri(asked))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be exported, checked.

    Parameters
    ----------
    forms : tuple of str
        At least one, each once.
    folder : Path
    train : bool
        Whether training and validation rows are wanted.
    """

    forms: tuple[Form, ...]
    folder: Path
    train: bool

    @classmethod
    def of(cls, asked: Namespace) -> Self:
        """Check the words of a command line.

        Raises
        ------
        ConfigError
            If a format is unknown, or options do not go together.
        """
        forms = list(dict.fromkeys(word for part in asked.forms for word in part.split(",") if word))
        unknown = [form for form in forms if form not in FORMS]
        if unknown or not forms:
            raise ConfigError(f"--as: {listed(unknown)} is none of {', '.join(FORMS)}.")
        if asked.gzip and (plain := [form for form in forms if form not in PACKED]):
            raise ConfigError(
                f"--gzip: files of {listed(plain)} are compressed already or must be plain; it works with "
                f"{', '.join(PACKED)}."
            )
        if asked.no_train and "recbole" in forms:
            raise ConfigError("--no-train: RecBole needs training rows; leave out one of the two.")
        return cls(tuple(forms), user_path(str(asked.out)), not asked.no_train)


def export_run(asked: Namespace, uri: str) -> None:
    """Write the files that were asked for, and about.md, which says what is in them.

    Parameters
    ----------
    asked : Namespace
        As of `add_options`.
    uri : str
        The tracking store.

    Raises
    ------
    RecgaugeError
        If the run is unknown or has not stored what a format needs, the format cannot hold it, or a file is
        there already or cannot be written.
    """
    wanted = _Asked.of(asked)
    run = _run(asked.run, uri, wanted.forms)
    content = _content(run, wanted, asked.allow)
    exporter = Exporter(content, asked.scores, asked.grades, asked.gzip)
    files: dict[str, ExportFile] = {}
    for form in wanted.forms:
        files |= exporter.files(form)
    _refuse_existing(wanted.folder, [*files, ABOUT], overwrite=asked.overwrite)
    if set(wanted.forms) & {"trec", "ranx"}:
        _note_ties(run, exporter)
        if (factor := exporter.grade_factor) != 1:
            print_note(
                f"grades for trec_eval and ranx, which read whole numbers, are {factor} times the rating: "
                "precision, recall, MAP, MRR and nDCG stay as they are, DCG and exponential gains do not"
            )
    about = about_page(asked.run, run.record, files, exporter)
    writers = {wanted.folder / name: file.write for name, file in files.items()}
    write_files(writers | {wanted.folder / ABOUT: text_writer(about)})
    console = output()
    for name, file in files.items():
        rows = "" if file.n_rows is None else f": {file.n_rows:,} rows"
        console.print(f"{wanted.folder / name}{rows}", soft_wrap=True)
    console.print(f"{wanted.folder / ABOUT} says what they hold, and how to evaluate them", soft_wrap=True)


def _run(run: str, uri: str, forms: Sequence[Form]) -> RunFolder:
    folder = run_folder(run, uri, ["record.json", LISTS, TEST, _PREDICTIONS])
    if not (folder / "record.json").is_file():
        raise MissingDataError(
            f"{run}: has no record.json, so it is no finished run. Name a run's id or its output folder; "
            "that of a sweep has a folder for each of its runs."
        )
    needs_lists = any(form in NEED_LISTS for form in forms)
    rated = (folder / _PREDICTIONS).is_file() and not set(forms) & {"trec", "ranx"}
    require_stored(run, folder, ("record.json", *([LISTS] if needs_lists and not rated else []), TEST))
    return RunFolder.read(folder)


def _content(run: RunFolder, wanted: _Asked, packages: Sequence[str]) -> Content:
    import pyarrow as pa

    record, parts = run.record, {}
    if any(form in NEED_PARTS for form in wanted.forms):
        parts = _all_parts(run, wanted, packages) if wanted.train else _stored_part(run)
    files = {name: run.folder / name for name in (LISTS, _PREDICTIONS) if (run.folder / name).is_file()}
    if LISTS not in files and "recbole" in wanted.forms:
        print_note("the run has stored no lists, so that there are none in RecBole's files")
    judged = pa.Table.from_pandas(run.judged(record.dataset.relevant_from), preserve_index=False)
    return Content(
        record.dataset.name,
        record.names["model"],
        record.evaluated_on,
        judged.replace_schema_metadata(),
        parts,
        files.get(LISTS),
        files.get(_PREDICTIONS),
    )


def _all_parts(run: RunFolder, wanted: _Asked, packages: Sequence[str]) -> dict[str, "pa.Table"]:
    try:
        return _parts(run, packages)
    except MissingDataError as error:
        without = "" if "recbole" in wanted.forms else " Or export lists and test rows alone: --no-train."
        raise MissingDataError(f"{error}{without}") from error


def _parts(run: RunFolder, packages: Sequence[str]) -> dict[str, "pa.Table"]:
    """Load and split the data again, and return the rows of each part."""
    dataset, split = data_of(run, packages)
    found: dict[str, Interactions | None] = {
        "train": split.train,
        "fold_in": split.fold_in,
        "validation": split.validation,
        run.record.evaluated_on: split.test,
    }
    parts = {name: rows for name, rows in found.items() if rows is not None}
    rated = dataset.feedback == "explicit" or any((rows.value != 1).any() for rows in parts.values())
    return {
        name: _table(rows, rated, dataset.relevant_from, held_out=name in ("validation", "test"))
        for name, rows in parts.items()
    }


def _table(rows: Interactions, rated: bool, relevant_from: float | None, *, held_out: bool) -> "pa.Table":
    import pyarrow as pa

    columns: dict[str, Any] = {
        "user_id": rows.user_ids[rows.user],
        "item_id": rows.item_ids[rows.item],
    }
    if held_out:
        columns["grade"] = _grades(rows.value, relevant_from)
    if rated:
        columns["rating"] = rows.value
    if rows.timestamp is not None:
        columns["timestamp"] = rows.timestamp
    return pa.table(columns)


def _grades(ratings: Any, relevant_from: float | None) -> Any:
    """Return what each row counts as in an evaluation, as float64: 0 is not relevant."""
    values = np.asarray(ratings, np.float64)
    return np.ones(len(values)) if relevant_from is None else np.where(values >= relevant_from, values, 0.0)


def _stored_part(run: RunFolder) -> dict[str, "pa.Table"]:
    import pyarrow.parquet as pq

    table = pq.read_table(run.folder / TEST)
    ratings, dataset = table["rating"].to_numpy(), run.record.dataset
    grades = _grades(ratings, dataset.relevant_from)
    if dataset.feedback == "implicit" and (ratings == 1).all():
        table = table.drop_columns(["rating"])
    return {run.record.evaluated_on: table.add_column(2, "grade", [grades])}


def _refuse_existing(folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise ConfigError(
            f"--out: {folder} has {listed(there, most=3)} already. Name another folder, or add --overwrite."
        )


def _note_ties(run: RunFolder, exporter: Exporter) -> None:
    """Say how many lists other tools may order in another way, or would."""
    import pandas as pd

    lists = run.recommended()
    tied = (lists["user_id"] == lists["user_id"].shift()) & (lists["score"] == lists["score"].shift())
    if not (n_tied := int(pd.Series(lists["user_id"][tied]).nunique())):
        return
    told = "each tool orders them in its own way; --scores rank writes scores that fall with the rank"
    if exporter.scores == "rank":
        told = "those written fall with the rank, so that tools agree; --scores model keeps the model's"
        policy = next((name for name in _OWN_ORDER if f"ties={name}" in run.record.policies), None)
        if policy is not None:
            told += f", and with them this run's own numbers, which are of ties={policy}"
    print_note(f"{n_tied:,} of {lists['user_id'].nunique():,} lists have equal scores: {told}")
