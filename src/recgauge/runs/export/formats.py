"""The lists and rows of a run in the formats of other tools, so that every value reads back exactly."""

import gzip
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from recgauge.errors import SchemaError
from recgauge.utils.checks import shown
from recgauge.utils.files import text_writer

Form = Literal["trec", "csv", "parquet", "recbole", "user-lines", "train-test"]
FORMS: tuple[Form, ...] = get_args(Form)
NEED_LISTS: tuple[Form, ...] = ("trec", "csv", "parquet")
NEED_PARTS: tuple[Form, ...] = ("csv", "parquet", "recbole", "user-lines", "train-test")
PACKED: tuple[Form, ...] = ("trec", "csv", "user-lines", "train-test")
"""Formats that may be gzip files: parquet is compressed, and RecBole reads no others than plain ones."""

Scores = Literal["rank", "model"]
Grades = Literal["rating", "binary"]

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
class Content:
    """What a run has to export."""

    dataset: str
    model: str
    evaluated: str  # the part that the run was evaluated on: test or validation
    judged: pa.Table  # user_id, item_id, grade: each pair of that part once, grade 0 if it is not relevant
    parts: Mapping[str, pa.Table]  # user_id, item_id and, where there are, grade, rating and timestamp
    lists: pa.Table | None = None
    predictions: pa.Table | None = None


@dataclass(frozen=True, eq=False)
class ExportFile:
    """A file that is to be written: its rows, what they are, and the function that takes its path."""

    n_rows: int | None
    about: str
    write: Callable[[Path], object]


Files = dict[str, ExportFile]
"""By their paths inside the folder of an export."""


@dataclass(frozen=True)
class Exporter:
    """Turns the content of a run into files."""

    content: Content
    # of TREC: whole numbers that fall with the rank, so that every tool has the list's order; or the model's,
    # whose ties each tool orders in its own way
    scores: Scores = "rank"
    grades: Grades = "rating"  # of relevant items in TREC: the rating times `grade_factor`, or 1
    packed: bool = False  # whether text files are gzip files

    def files(self, form: Form) -> Files:
        """Return the files of a format."""
        content = self.content
        match form:
            case "trec":
                return self._trec()
            case "recbole":
                return self._recbole()
            case "user-lines":
                return self._user_lines()
            case "train-test":
                return self._tables(content.parts, form)
        stored = {"lists": content.lists, "predictions": content.predictions}
        tables = {name: table for name, table in stored.items() if table is not None}
        return self._tables(tables, form) | self._tables(content.parts, form)

    def _tables(self, tables: Mapping[str, pa.Table], form: Form) -> Files:
        files: Files = {}
        for name, table in tables.items():
            about = ", ".join(table.column_names)
            if form == "parquet":
                write = partial(pq.write_table, table, compression="zstd")
                files[f"{name}.parquet"] = ExportFile(len(table), about, write)
            else:
                files |= self._text(f"{name}.csv", table, about, ",", header=True)
        return files

    def _trec(self) -> Files:
        self._check_ids("trec", _is_parted, "has a blank, which separates the columns of TREC files")
        qrels = self._qrels()
        qrels = qrels.add_column(1, "0", _constant("0", len(qrels)))
        lists, told = self._run()
        lists = lists.add_column(1, "Q0", _constant("Q0", len(lists)))
        lists = lists.append_column("tag", _constant("_".join(self.content.model.split()), len(lists)))
        return {
            **self._text("lists.trec", lists, f"user Q0 item rank score tag{told}", " "),
            **self._text(f"{self.content.evaluated}.qrels", qrels, "user 0 item grade", " "),
        }

    def _recbole(self) -> Files:
        wrong = "has a quote, a tab or a line end, or is a word that RecBole takes for a missing value"
        self._check_ids("recbole", lambda text: text in _MISSING or bool(set('"\t\r\n') & set(text)), wrong)
        if "fold_in" in self.content.parts:
            raise SchemaError(
                "--as recbole: the run's test users have rows that models see after training (fold-in), and "
                "RecBole has no file for these. Use --as csv or --as parquet."
            )
        name = "_".join(self.content.dataset.split())
        files: Files = {}
        empty = _relevant(self.content.parts[self.content.evaluated]).slice(0, 0)
        for part, ending in (("train", "train"), ("validation", "valid"), ("test", "test")):
            rows = self.content.parts.get(part, empty)  # RecBole wants three files; one may have no rows
            about = "all" if part == "train" else "relevant ones: to RecBole every held-out row is relevant"
            files |= _atomic(f"{name}/{name}.{ending}.inter", _relevant(rows), about)
        if self.content.lists is not None:
            about = "the lists; RecBole itself reads none"
            files |= _atomic(f"{name}/{name}.lists.inter", self.content.lists, about)
        text = _RECBOLE.format(name=name, columns=", ".join(empty.column_names))
        files["recbole.yaml"] = ExportFile(None, "settings of RecBole", text_writer(text))
        return files

    def _user_lines(self) -> Files:
        self._check_ids("user-lines", _is_parted, "has a blank, which separates the ids of a line")
        files: Files = {}
        for part, table in self.content.parts.items():
            files |= self._text(f"{part}.txt", _lines_of_users(table), "a user, then the user's items", "\t")
        return files

    def _run(self) -> tuple[pa.Table, str]:
        """Return user, item, rank and score as TREC has them, and what the score is."""
        lists = self.content.lists
        if lists is None:
            raise SchemaError("the run has no lists.")
        user, item = (lists[name].cast(pa.string()) for name in ("user_id", "item_id"))
        score, told = lists["score"].cast(pa.float64()), ""
        if self.scores == "rank":
            longest = 1 + (pc.max(lists["rank"]).as_py() or 0)
            score = pc.subtract(longest, lists["rank"].cast(pa.int64()))
            told = f"; score is {longest} - rank, so that no tool orders equal scores in its own way"
        return pa.table({"user": user, "item": item, "rank": lists["rank"], "score": score}), told

    def _qrels(self) -> pa.Table:
        """Return the judged pairs with whole numbers as grades."""
        judged, factor = self.content.judged, self.grade_factor
        if factor is None:
            raise SchemaError(
                "--as trec: its tools read whole numbers as grades, and the ratings are fractions. With "
                "--grades binary every relevant item has the grade 1; --as csv keeps all grades."
            )
        user, item = (judged[name].cast(pa.string()) for name in ("user_id", "item_id"))
        grade = pc.greater(judged["grade"], 0.0) if self.grades == "binary" else judged["grade"]
        grade = pc.multiply(grade.cast(pa.float64()), float(factor)).cast(pa.int64())
        return pa.table({"user_id": user, "item_id": item, "grade": grade})

    @property
    def grade_factor(self) -> int | None:
        """What makes whole numbers of all grades: 1, or 2 for half stars; None: nothing does."""
        if self.grades == "binary":
            return 1
        distinct = [grade.as_py() for grade in pc.unique(self.content.judged["grade"])]
        return next((n for n in (1, 2, 4) if all((grade * n).is_integer() for grade in distinct)), None)

    def _check_ids(self, form: Form, is_wrong: Callable[[str], bool], reason: str) -> None:
        """Refuse texts as ids that a format cannot hold."""
        tables = [self.content.judged, *self.content.parts.values()]
        if self.content.lists is not None:
            tables.append(self.content.lists)
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

    def _text(self, name: str, rows: pa.Table, about: str, separator: str, *, header: bool = False) -> Files:
        write = partial(_write_text, rows, separator=separator, header=header, packed=self.packed)
        return {name + ".gz" * self.packed: ExportFile(len(rows), about, write)}


def _atomic(name: str, rows: pa.Table, about: str) -> Files:
    typed = rows.rename_columns([f"{column}:{_TYPES.get(column, 'float')}" for column in rows.column_names])
    write = partial(_write_text, typed, separator="\t", header=True, packed=False)
    return {name: ExportFile(len(rows), about, write)}


def _write_text(rows: pa.Table, path: Path, *, separator: str, header: bool, packed: bool) -> None:
    """Write floats with as many digits as it takes to read the same number back."""
    style = "needed" if _needs_quotes(rows) else "none"
    with path.open("wb") as plain, _packed(plain) if packed else nullcontext(plain) as file:
        if header:
            file.write((separator.join(rows.column_names) + "\n").encode())
        if separator == ",":
            csv.write_csv(rows, file, csv.WriteOptions(include_header=False, quoting_style=style))
            return
        for block in rows.to_batches(_BLOCK):
            texts = [column.cast(pa.string()) for column in block.columns]
            lines = pc.binary_join_element_wise(*texts, separator).to_pylist()
            file.writelines(f"{line}\n".encode() for line in lines)


def _packed(file: IO[bytes]) -> gzip.GzipFile:
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


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


def _constant(value: object, n_rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), n_rows)


def _lines_of_users(table: pa.Table) -> pa.Table:
    """Return a line per user, in the order in which they appear: the user, then the user's items."""
    items: dict[Any, list[str]] = {}
    for user, item in zip(table["user_id"].to_pylist(), table["item_id"].to_pylist(), strict=True):
        items.setdefault(user, [str(user)]).append(str(item))
    return pa.table({"line": pa.array(map(" ".join, items.values()), pa.string())})
