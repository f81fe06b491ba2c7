"""The lists and rows of a run in the formats of other tools."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recgauge.errors import SchemaError
from recgauge.runs.export.writing import ExportFile, ExportRows, write_parquet, write_text
from recgauge.utils.checks import shown
from recgauge.utils.output_files import text_writer

Form = Literal["trec", "csv", "parquet", "ranx", "recbole", "user-lines", "train-test"]
FORMS: tuple[Form, ...] = get_args(Form)
NEED_LISTS: tuple[Form, ...] = ("trec", "csv", "parquet", "ranx")
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
    lists: Path | None = None
    predictions: Path | None = None


@dataclass(frozen=True)
class Exporter:
    """Turns the content of a run into files."""

    content: Content
    # of TREC and ranx: whole numbers that fall with the rank, so that every tool has the list's order; or the
    # model's, whose ties each tool orders in its own way
    scores: Scores = "rank"
    grades: Grades = "rating"  # of relevant items in TREC and ranx: the rating times `grade_factor`, or 1
    packed: bool = False  # whether text files are gzip files

    def files(self, form: Form) -> dict[str, ExportFile]:
        """Return the files of a format by their path inside the folder of the export."""
        make: Mapping[Form, Callable[[], dict[str, ExportFile]]] = {
            "trec": self._trec,
            "csv": lambda: self._tables(self._csv) | self._parts(self._csv),
            "parquet": lambda: self._tables(_parquet) | self._parts(_parquet),
            "ranx": self._ranx,
            "recbole": self._recbole,
            "user-lines": self._user_lines,
            "train-test": lambda: self._parts(self._csv),
        }
        return make[form]()

    def _trec(self) -> dict[str, ExportFile]:
        self._check_ids("trec", _is_parted, "has a blank, which separates the columns of TREC files")
        tag = "_".join(self.content.model.split())
        qrels = self._qrels("trec")
        qrels = qrels.add_column(1, "0", _constant("0", len(qrels)))
        return {
            **self._text("lists.trec", self._run("user Q0 item rank score tag", tag), " "),
            **self._text(f"{self.content.evaluated}.qrels", ExportRows.of(qrels, "user 0 item grade"), " "),
        }

    def _ranx(self) -> dict[str, ExportFile]:
        names = ["q_id", "doc_id", "score"]
        qrels = self._qrels("ranx").rename_columns(names)
        return _parquet("run", self._run(", ".join(names), None)) | _parquet(
            "qrels", ExportRows.of(qrels, ", ".join(names))
        )

    def _tables(self, write: Callable[[str, ExportRows], dict[str, ExportFile]]) -> dict[str, ExportFile]:
        files = {"lists": self.content.lists, "predictions": self.content.predictions}
        found: dict[str, ExportFile] = {}
        for name, path in files.items():
            if path is not None:
                found |= write(name, ExportRows.stored(path, ", ".join(pq.read_schema(path).names)))
        return found

    def _parts(self, write: Callable[[str, ExportRows], dict[str, ExportFile]]) -> dict[str, ExportFile]:
        found: dict[str, ExportFile] = {}
        for part, table in self.content.parts.items():
            found |= write(part, ExportRows.of(table, ", ".join(table.column_names)))
        return found

    def _recbole(self) -> dict[str, ExportFile]:
        wrong = "has a quote, a tab or a line end, or is a word that RecBole takes for a missing value"
        self._check_ids("recbole", lambda text: text in _MISSING or bool(set('"\t\r\n') & set(text)), wrong)
        if "fold_in" in self.content.parts:
            raise SchemaError(
                "--as recbole: the run's test users have rows that models see after training (fold-in), and "
                "RecBole has no file for these. Use --as csv or --as parquet."
            )
        name = "_".join(self.content.dataset.split())
        found: dict[str, ExportFile] = {}
        empty = _relevant(self.content.parts[self.content.evaluated]).slice(0, 0)
        for part, ending in (("train", "train"), ("validation", "valid"), ("test", "test")):
            rows = self.content.parts.get(part, empty)  # RecBole wants three files; one may have no rows
            about = "all" if part == "train" else "relevant ones: to RecBole every held-out row is relevant"
            found |= self._atomic(f"{name}/{name}.{ending}.inter", ExportRows.of(_relevant(rows), about))
        if self.content.lists is not None:
            about = "the lists; RecBole itself reads none"
            found |= self._atomic(f"{name}/{name}.lists.inter", ExportRows.stored(self.content.lists, about))
        text = _RECBOLE.format(name=name, columns=", ".join(empty.column_names))
        found["recbole.yaml"] = ExportFile(None, "settings of RecBole", text_writer(text))
        return found

    def _user_lines(self) -> dict[str, ExportFile]:
        self._check_ids("user-lines", _is_parted, "has a blank, which separates the ids of a line")
        found: dict[str, ExportFile] = {}
        for part, table in self.content.parts.items():
            lines = _lines_of_users(table)
            found |= self._text(f"{part}.txt", ExportRows.of(lines, "a user, then the user's items"), "\t")
        return found

    def _run(self, about: str, tag: str | None) -> ExportRows:
        """Return the lists as rows of a TREC run file, or without a tag as those of a table of ranx."""
        path = self.content.lists
        if path is None:
            raise SchemaError("the run has no lists.")
        longest = 1
        if self.scores == "rank":
            longest = 1 + (pc.max(pq.read_table(path, columns=["rank"])["rank"]).as_py() or 0)
            about += f"; score is {longest} - rank, so that no tool orders equal scores in its own way"

        def change(rows: pa.Table) -> pa.Table:
            rank = rows["rank"].cast(pa.int64())
            score = pc.subtract(longest, rank) if self.scores == "rank" else rows["score"].cast(pa.float64())
            user, item = rows["user_id"].cast(pa.string()), rows["item_id"].cast(pa.string())
            if tag is None:
                return pa.table({"q_id": user, "doc_id": item, "score": score.cast(pa.float64())})
            q0, name = _constant("Q0", len(rows)), _constant(tag, len(rows))
            return pa.table([user, q0, item, rank, score, name], names=list("abcdef"))

        return ExportRows.stored(path, about, change)

    def _qrels(self, form: Form) -> pa.Table:
        """Return the judged pairs with whole numbers as grades."""
        judged, factor = self.content.judged, self.grade_factor
        if factor is None:
            raise SchemaError(
                f"--as {form}: its tools read whole numbers as grades, and the ratings are fractions. With "
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
            tables.append(pq.read_table(self.content.lists, columns=["user_id", "item_id"]))
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

    def _csv(self, name: str, rows: ExportRows) -> dict[str, ExportFile]:
        return self._text(f"{name}.csv", rows, ",", header=True)

    def _text(
        self, name: str, rows: ExportRows, separator: str, *, header: bool = False
    ) -> dict[str, ExportFile]:
        name += ".gz" if self.packed else ""
        write = partial(write_text, rows, separator=separator, header=header, packed=self.packed)
        return {name: ExportFile(rows.n_rows, rows.about, write)}

    def _atomic(self, name: str, rows: ExportRows) -> dict[str, ExportFile]:
        def typed() -> Iterator[pa.Table]:
            for block in rows.blocks():
                names = [f"{one}:{_TYPES.get(one, 'float')}" for one in block.column_names]
                yield block.rename_columns(names)

        write = partial(
            write_text, ExportRows(rows.n_rows, typed, ""), separator="\t", header=True, packed=False
        )
        return {name: ExportFile(rows.n_rows, rows.about, write)}


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


def _parquet(name: str, rows: ExportRows) -> dict[str, ExportFile]:
    return {f"{name}.parquet": ExportFile(rows.n_rows, rows.about, partial(write_parquet, rows))}
