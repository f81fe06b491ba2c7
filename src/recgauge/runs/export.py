"""A run's lists and rows as files of other tools, so that every value reads back exactly."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions, at_least
from recgauge.data.split import Split
from recgauge.errors import ConfigError, MissingDataError, SchemaError, listed
from recgauge.runs.export_page import ExportFile, Files, about_page
from recgauge.runs.finished import FinishedRun
from recgauge.runs.stored import LISTS, PREDICTIONS, TEST, grades, listed_items, read_table
from recgauge.utils.checks import shown
from recgauge.utils.files import text_writer, write_files

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["trec", "csv", "parquet", "recbole", "user-lines", "train-test"]
FORMS: tuple[Form, ...] = get_args(Form)
NEED_LISTS: tuple[Form, ...] = ("trec", "csv", "parquet")
Scores = Literal["rank", "model"]
Grades = Literal["rating", "binary"]

ABOUT = "about.md"
Load = Callable[[FinishedRun], tuple[Dataset, Split]]
"""Loads data and split of a run again."""

_MISSING = frozenset((
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
))  # fmt: skip
"""Ids that pandas, with which RecBole reads, takes for missing."""
_TYPES = {"user_id": "token", "item_id": "token"}  # of atomic files; all other columns are floats
_BLOCK = 1 << 20  # rows that are text in memory at a time

_RECBOLE = """\
# run_recbole(model=..., dataset="{name}", config_file_list=["recbole.yaml"]) in this folder
data_path: .
benchmark_filename: [train, valid, test]
USER_ID_FIELD: user_id
ITEM_ID_FIELD: item_id
RATING_FIELD: rating
TIME_FIELD: timestamp
load_col: {{inter: [{columns}]}}
eval_args: {{split: {{RS: [0.8, 0.1, 0.1]}}, order: RO, group_by: user, mode: full}}  # the files decide
"""


@dataclass(frozen=True, eq=False)
class Exporter:
    """What a run has to export, turned into files."""

    dataset: str
    model: str
    evaluated: str  # the part that the run was evaluated on: test or validation
    judged: pa.Table  # user_id, item_id, grade: each pair of that part once, grade 0 if it is not relevant
    parts: Mapping[str, pa.Table]  # user_id, item_id and, where there are, grade, rating and timestamp
    lists: pa.Table | None = None
    predictions: pa.Table | None = None
    # of TREC: whole numbers that fall with the rank, so that every tool has the list's order; or the model's,
    # whose ties each tool orders in its own way
    scores: Scores = "rank"
    grades: Grades = "rating"  # of relevant items in TREC: the rating times `grade_factor`, or 1

    def files(self, form: Form) -> Files:
        """Return the files of a format."""
        match form:
            case "trec":
                return self._trec()
            case "recbole":
                return self._recbole()
            case "user-lines":
                return self._user_lines()
            case "train-test":
                return _tables(self.parts, form)
        stored = {"lists": self.lists, "predictions": self.predictions}
        tables = {name: table for name, table in stored.items() if table is not None}
        return _tables(tables | dict(self.parts), form)

    def _trec(self) -> Files:
        self._check_ids("trec", _is_parted, "has a blank, which separates the columns of TREC files")
        lists, score = self._run()
        return {
            **_text("lists.trec", lists, f"user Q0 item rank score tag{score}", " "),
            **_text(f"{self.evaluated}.qrels", self._qrels(), "user 0 item grade", " "),
        }

    def _recbole(self) -> Files:
        wrong = "has a quote, a tab or a line end, or is a word that RecBole takes for a missing value"
        self._check_ids("recbole", lambda text: text in _MISSING or bool(set('"\t\r\n') & set(text)), wrong)
        if "fold_in" in self.parts:
            raise SchemaError(
                "--as recbole: the run's test users have rows that models see after training (fold-in), and "
                "RecBole has no file for these. Use --as csv or --as parquet."
            )
        name = "_".join(self.dataset.split())
        files: Files = {}
        empty = _relevant(self.parts[self.evaluated]).slice(0, 0)
        for part, ending in (("train", "train"), ("validation", "valid"), ("test", "test")):
            rows = self.parts.get(part, empty)  # RecBole wants three files; one may have no rows
            about = "all" if part == "train" else "relevant ones: to RecBole every held-out row is relevant"
            files |= _atomic(f"{name}/{name}.{ending}.inter", _relevant(rows), about)
        if self.lists is not None:
            about = "the lists; RecBole itself reads none"
            files |= _atomic(f"{name}/{name}.lists.inter", self.lists, about)
        text = _RECBOLE.format(name=name, columns=", ".join(empty.column_names))
        files["recbole.yaml"] = ExportFile(None, "settings of RecBole", text_writer(text))
        return files

    def _user_lines(self) -> Files:
        self._check_ids("user-lines", _is_parted, "has a blank, which separates the ids of a line")
        files: Files = {}
        for part, table in self.parts.items():
            files |= _text(f"{part}.txt", _lines_of_users(table), "a user, then the user's items", "\t")
        return files

    def _run(self) -> tuple[pa.Table, str]:
        """Return user, item, rank and score as TREC has them, and what the score is."""
        lists = self.lists
        if lists is None:
            raise SchemaError("the run has no lists.")
        score, meaning = lists["score"].cast(pa.float64()), ""
        if self.scores == "rank":
            longest = 1 + (pc.max(lists["rank"]).as_py() or 0)
            score = pc.subtract(longest, lists["rank"].cast(pa.int64()))
            meaning = f"; score is {longest} - rank, so that no tool orders equal scores in its own way"
        columns = {
            "user": lists["user_id"],
            "Q0": pa.repeat("Q0", len(lists)),
            "item": lists["item_id"],
            "rank": lists["rank"],
            "score": score,
            "tag": pa.repeat("_".join(self.model.split()), len(lists)),
        }
        return pa.table(columns), meaning

    def _qrels(self) -> pa.Table:
        """Return the judged pairs with whole numbers as grades."""
        judged, factor = self.judged, self.grade_factor
        if factor is None:
            raise SchemaError(
                "--as trec: its tools read whole numbers as grades, and the ratings are fractions. With "
                "--grades binary every relevant item has the grade 1; --as csv keeps all grades."
            )
        grade = pc.greater(judged["grade"], 0.0) if self.grades == "binary" else judged["grade"]
        columns = {
            "user": judged["user_id"],
            "0": pa.repeat("0", len(judged)),
            "item": judged["item_id"],
            "grade": pc.multiply(grade.cast(pa.float64()), float(factor)).cast(pa.int64()),
        }
        return pa.table(columns)

    @property
    def grade_factor(self) -> int | None:
        """What makes whole numbers of all grades: 1, or 2 for half stars; None: nothing does."""
        if self.grades == "binary":
            return 1
        distinct = [grade.as_py() for grade in pc.unique(self.judged["grade"])]
        return next((n for n in (1, 2, 4) if all((grade * n).is_integer() for grade in distinct)), None)

    def _check_ids(self, form: Form, is_wrong: Callable[[str], bool], reason: str) -> None:
        """Refuse texts as ids that a format cannot hold."""
        tables = [self.judged, *self.parts.values()]
        if self.lists is not None:
            tables.append(self.lists)
        for name in ("user_id", "item_id"):
            for table in tables:
                if pa.types.is_integer(table[name].type):
                    continue
                for text in pc.unique(table[name]).to_pylist():
                    if is_wrong(str(text)):
                        raise SchemaError(
                            f"--as {form}: the {name.removesuffix('_id')} id {shown(text)} {reason}. Use "
                            "--as csv or --as parquet."
                        )


def _tables(tables: Mapping[str, pa.Table], form: Form) -> Files:
    files: Files = {}
    for name, table in tables.items():
        about = ", ".join(table.column_names)
        if form == "parquet":
            write = partial(pq.write_table, table, compression="zstd")
            files[f"{name}.parquet"] = ExportFile(len(table), about, write)
        else:
            files |= _text(f"{name}.csv", table, about, ",", header=True)
    return files


def _text(name: str, rows: pa.Table, about: str, separator: str, *, header: bool = False) -> Files:
    write = partial(_write_text, rows, separator=separator, header=header)
    return {name: ExportFile(len(rows), about, write)}


def _atomic(name: str, rows: pa.Table, about: str) -> Files:
    typed = rows.rename_columns([f"{column}:{_TYPES.get(column, 'float')}" for column in rows.column_names])
    return _text(name, typed, about, "\t", header=True)


def _write_text(rows: pa.Table, path: Path, *, separator: str, header: bool) -> None:
    """Write floats with as many digits as it takes to read the same number back."""
    style = "needed" if _needs_quotes(rows) else "none"
    with path.open("wb") as file:
        if header:
            file.write((separator.join(rows.column_names) + "\n").encode())
        if separator == ",":
            csv.write_csv(rows, file, csv.WriteOptions(include_header=False, quoting_style=style))
            return
        for block in rows.to_batches(_BLOCK):
            texts = [column.cast(pa.string()) for column in block.columns]
            lines = pc.binary_join_element_wise(*texts, separator).to_pylist()
            file.writelines(f"{line}\n".encode() for line in lines)


def _needs_quotes(rows: pa.Table) -> bool:
    texts = (column for column in rows.columns if not pa.types.is_primitive(column.type))
    return any(pc.any(pc.match_substring_regex(pc.unique(text), '[",\r\n]')).as_py() for text in texts)


def _relevant(rows: pa.Table) -> pa.Table:
    """Return the rows that are relevant, without their grades; training rows have none."""
    if "grade" not in rows.column_names:
        return rows
    return rows.filter(pc.greater(rows["grade"], 0.0)).drop_columns(["grade"])


def _is_parted(text: str) -> bool:
    return len(text.split()) != 1


def _lines_of_users(table: pa.Table) -> pa.Table:
    """Return a line per user, in the order in which they appear: the user, then the user's items."""
    items: dict[Any, list[str]] = {}
    for user, item in zip(table["user_id"].to_pylist(), table["item_id"].to_pylist(), strict=True):
        items.setdefault(user, [str(user)]).append(str(item))
    return pa.table({"line": pa.array(map(" ".join, items.values()), pa.string())})


def export_run(  # noqa: PLR0913 - what a command asks, by name
    run: FinishedRun,
    name: str,
    folder: Path,
    forms: Sequence[Form],
    *,
    scores: Scores = "rank",
    grades: Grades = "rating",
    load: Load | None = None,
    overwrite: bool = False,
) -> tuple[dict[Path, int | None], list[str]]:
    """Write a run's files for other tools, and about.md, which says what is in them.

    Training and validation rows are among them if there is a function that loads them again. Returned are the
    number of rows of each file, where it has rows, and notes for the user.
    """
    if (unknown := [form for form in forms if form not in FORMS]) or not forms:
        raise ConfigError(f"--as: {listed(unknown)} is none of {', '.join(FORMS)}.")
    if load is None and "recbole" in forms:
        raise ConfigError("--no-train: RecBole needs training rows; leave out one of the two.")
    record, parts = run.record, {}
    if set(forms) != {"trec"}:
        parts = _stored_part(run) if load is None else _all_parts(run, forms, load)
    paths = [run.folder / name for name in (LISTS, PREDICTIONS)]
    lists, predictions = (read_table(path) if path.is_file() else None for path in paths)
    lists = None if lists is None else listed_items(lists)
    judged = pa.Table.from_pandas(_judged(run, forms, grades), preserve_index=False)
    exporter = Exporter(
        record.dataset.name,
        record.names["model"],
        record.evaluated_on,
        judged.replace_schema_metadata(),
        parts,
        lists,
        predictions,
        scores,
        grades,
    )
    files = {path: file for form in forms for path, file in exporter.files(form).items()}
    there = [file for file in [*files, ABOUT] if (folder / file).exists()]
    if there and not overwrite:
        raise ConfigError(
            f"--out: {folder} has {listed(there, most=3)} already. Name another folder, or add --overwrite."
        )
    notes = []
    if lists is None and "recbole" in forms:
        notes.append("the run has stored no lists, so that there are none in RecBole's files")
    if "trec" in forms and (factor := exporter.grade_factor) != 1:
        notes.append(
            f"grades for tools of TREC, which read whole numbers, are {factor} times the rating: "
            "precision, recall, MAP, MRR and nDCG stay as they are, DCG and exponential gains do not"
        )
    about = about_page(name, record, files, notes)
    writers = {folder / file: each.write for file, each in files.items()}
    write_files(writers | {folder / ABOUT: text_writer(about)})
    return {folder / file: each.n_rows for file, each in files.items()}, notes


def _judged(run: FinishedRun, forms: Sequence[Form], grades: Grades) -> "pd.DataFrame":
    """Return the judged pairs, with grades that tools of TREC understand if the files are for them."""
    low = run.record.dataset.relevant_from
    rows = run.judged(low)
    if low is None or low >= 0 or "trec" not in forms:
        return rows
    if grades != "binary":
        raise ConfigError(
            f"--as trec: its tools take no grade of 0 or less as relevant, and the run does, from {low:g} "
            "on. With --grades binary every relevant item has the grade 1; --as csv keeps all grades."
        )
    return rows.assign(grade=at_least(rows["grade"].to_numpy(), low).astype(float))


def _all_parts(run: FinishedRun, forms: Sequence[Form], load: Load) -> dict[str, pa.Table]:
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


def _stored_part(run: FinishedRun) -> dict[str, pa.Table]:
    table = read_table(run.folder / TEST)
    ratings, dataset = table["rating"].to_numpy(), run.record.dataset
    if dataset.feedback == "implicit" and (ratings == 1).all():
        table = table.drop_columns(["rating"])
    return {run.record.evaluated_on: table.add_column(2, "grade", [grades(ratings, dataset.relevant_from)])}
