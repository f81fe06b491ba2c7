"""Reads files of recorded lists, relevance and histories as rows with their lines, whatever their format."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recgauge.datasets._table.files import TableFile, find_files
from recgauge.datasets._table.ids import Ids, read_ids
from recgauge.errors import MissingDataError, RecgaugeError, SchemaError, listed, said, shortened
from recgauge.utils.checks import DoubleArray, LongArray

if TYPE_CHECKING:
    import pyarrow as pa

ListFormat = Literal["csv", "tsv", "parquet", "jsonl", "trec_run", "trec_qrels"]
FORMATS: tuple[ListFormat, ...] = get_args(ListFormat)

Role = Literal["user", "item", "rank", "score", "grade", "time", "tag", "items", "scores"]

_KNOWN: Mapping[Role, frozenset[str]] = {
    "user": frozenset({"user", "userid", "uid", "userids", "qid", "query", "queryid", "reviewerid"}),
    "item": frozenset(
        {"item", "itemid", "iid", "movieid", "docid", "docno", "doc", "bookid", "productid", "asin"}
    ),
    "rank": frozenset({"rank", "position"}),
    "score": frozenset({"score", "prediction", "estimate", "est"}),
    "grade": frozenset({"grade", "rating", "relevance", "rel", "label", "stars"}),
    "time": frozenset({"timestamp", "time"}),
    "tag": frozenset({"tag", "run", "runid", "system"}),
    "items": frozenset({"items", "itemids", "recommendations", "list"}),
    "scores": frozenset({"scores"}),
}
_BY_ENDING: Mapping[str, ListFormat] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".run": "trec_run",
    ".trec": "trec_run",
    ".qrels": "trec_qrels",
    ".qrel": "trec_qrels",
}
_TREC: Mapping[ListFormat, tuple[Role | None, ...]] = {
    "trec_run": ("user", None, "item", "rank", "score", "tag"),
    "trec_qrels": ("user", None, "item", "grade"),
}
_UNNAMED: Mapping[str, tuple[Role, ...]] = {
    "lists": ("user", "item", "score"),
    "relevant": ("user", "item", "grade", "time"),
    "train": ("user", "item", "grade", "time"),
}
_NUMBERS: tuple[Role, ...] = ("rank", "score", "grade")
Kind = Literal["lists", "relevant", "train"]


@dataclass(frozen=True)
class BadRows:
    """Rows that cannot be used, for one reason.

    Parameters
    ----------
    reason : str
        Such as "the score is not a finite number".
    lines : ndarray of int64, shape (n,)
        Where they are, ascending, counted from 1.
    """

    reason: str
    lines: LongArray


@dataclass(frozen=True, eq=False)
class Rows:
    """The usable rows of one file, or of one of its runs.

    Parameters
    ----------
    file : TableFile
    kind : str
        Format of the file.
    user, item : Ids
        Each row has one.
    numbers : mapping of role to ndarray of float64, shape (n,)
        ``rank``, ``score`` and ``grade``, as far as the file has them.
    lines : ndarray of int64, shape (n,)
        The line of each row, or its row where `unit` says so.
    unit : str
        "line" or "row".
    bad : tuple of BadRows
        What is wrong with the other rows.
    tags : ndarray of str, shape (n,), or None
        The run that a row belongs to, in TREC run files.
    """

    file: TableFile
    kind: ListFormat
    user: Ids
    item: Ids
    numbers: Mapping[Role, DoubleArray]
    lines: LongArray
    unit: str
    bad: tuple[BadRows, ...] = ()
    tags: npt.NDArray[Any] | None = None

    @property
    def n_bad(self) -> int:
        """Rows that cannot be used."""
        return sum(len(one.lines) for one in self.bad)

    def where(self, row: int) -> str:
        """Return the file and line of a row, for messages."""
        return f"{self.file}, {self.unit} {self.lines[row]}"


@dataclass
class _Cells:
    """Columns as texts or as the types of the file, with the line of each row."""

    columns: dict[Role, Any]
    lines: LongArray
    unit: str = "line"
    bad: list[BadRows] = field(default_factory=list)


def find_list_files(paths: Sequence[str], option: str) -> tuple[TableFile, ...]:
    """Return the files that paths or patterns name.

    Raises
    ------
    MissingDataError
        If there is none.
    """
    try:
        return find_files(paths, None)
    except RecgaugeError as error:
        text = str(error).replace("dataset.path", option).removeprefix("Table: ").replace("path=", "", 1)
        raise type(error)(f"{option}: {text}") from error


def read_rows(file: TableFile, kind: Kind, form: ListFormat | None = None) -> Rows:
    """Return the rows of a file with an item of a user each; one row per user becomes one row per item.

    Parameters
    ----------
    file : TableFile
    kind : {"lists", "relevant", "train"}
        What the rows are.
    form : str, optional
        By default taken from the file's ending, then from its first lines.

    Raises
    ------
    SchemaError
        If the file is empty, not of its format, or its columns cannot be recognised.
    IntegrityError
        If the file cannot be unpacked.
    """
    form = form or _BY_ENDING.get(file.ending) or _sniffed(file)
    if form == "parquet":
        cells = _parquet(file, kind)
    elif form == "jsonl":
        cells = _json_lines(file, kind)
    else:
        cells = _text(file, kind, form)
    if "items" in cells.columns:
        cells = _exploded(file, cells)
    if not len(cells.lines) and not cells.bad:
        raise SchemaError(f"{file} has no rows.")
    return _checked(file, form, cells)


def _sniffed(file: TableFile) -> ListFormat:
    """Return the format of a text file by its first lines."""
    with file.open() as stream:
        head = stream.read(1 << 16)
    if head[:4] == b"PAR1":
        return "parquet"
    lines = [line for line in head.decode("utf-8", "replace").lstrip("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise SchemaError(f"{file} is empty.")
    if lines[0].lstrip().startswith("{"):
        return "jsonl"
    fields = [line.split() for line in lines[:100]]
    if all(len(row) == 6 and row[1].upper() == "Q0" for row in fields[:1]):
        return "trec_run"
    if all(len(row) == 4 and row[1] in ("0", "Q0") for row in fields[: max(1, len(fields) - 1)]):
        return "trec_qrels"
    return "tsv" if "\t" in lines[0] else "csv"


def _plain(name: str) -> str:
    return "".join(sign for sign in name.partition(":")[0].lower() if sign.isalnum())


def _roles(names: Sequence[str], kind: Kind) -> dict[Role, int]:
    """Return the columns that are recognised by their names; the first of each role."""
    found: dict[Role, int] = {}
    for role, known in _KNOWN.items():
        at = [position for position, name in enumerate(names) if _plain(name) in known]
        if at:
            found[role] = at[0]
    if kind == "lists" and "score" not in found and "grade" in found:
        found["score"] = found["grade"]  # predicted ratings
    if kind != "lists" and "grade" not in found and "score" in found:
        found["grade"] = found["score"]
    unused = {"lists": ("grade", "time"), "relevant": ("rank", "score", "time", "tag")}
    drop = unused.get(kind, ("rank", "score", "grade", "time", "tag"))
    return {role: at for role, at in found.items() if role not in drop}


def _require(file: TableFile, roles: Mapping[Role, int], names: Sequence[str], kind: Kind) -> None:
    needed = ("user", "items") if "items" in roles and "item" not in roles else ("user", "item")
    missing = [role for role in needed if role not in roles]
    if kind == "lists" and not missing and "items" not in roles and not {"rank", "score"} & set(roles):
        missing = ["rank or score"]
    if missing:
        raise SchemaError(
            f"{file}: no column is known as the {missing[0]}. The columns are: {listed(names)}. Expected "
            "user, item and rank or score; or user and items, best first, in one row per user."
        )


def _parquet(file: TableFile, kind: Kind) -> _Cells:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with file.open() as stream:
            plain = file.member is None and file.path.suffix != ".gz"
            table = parquet.ParquetFile(stream if plain else pa.BufferReader(stream.read()))
            names = table.schema_arrow.names
            roles = _roles(names, kind)
            _require(file, roles, names, kind)
            rows = table.read(columns=[names[at] for at in roles.values()])
    except pa.ArrowException as error:
        raise SchemaError(f"{file} cannot be read as parquet: {said(error)}.") from error
    columns = {role: rows.column(names[at]) for role, at in roles.items()}
    return _Cells(columns, np.arange(1, len(rows) + 1), "row")


def _json_lines(file: TableFile, kind: Kind) -> _Cells:
    rows, lines, wrong = [], [], []
    for number, text in _lines(file):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            rows.append(row)
            lines.append(number)
        else:
            wrong.append(number)
    if not rows:
        raise SchemaError(f"{file}: no line is a JSON object. Write one object per line.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    roles = _roles(names, kind)
    _require(file, roles, names, kind)
    columns: dict[Role, Any] = {role: [row.get(names[at]) for row in rows] for role, at in roles.items()}
    bad = [BadRows("the line is no JSON object", np.array(wrong))] if wrong else []
    return _Cells(columns, np.array(lines, np.int64), bad=bad)


def _lines(file: TableFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    with file.open() as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig", newline="\n"), start=1):
            if line.strip():
                yield number, line.rstrip("\r\n")


def _text(file: TableFile, kind: Kind, form: ListFormat) -> _Cells:
    try:
        first = next(_lines(file), None)
        if first is None:
            raise SchemaError(f"{file} is empty.")
        if form in _TREC:
            roles = {role: at for at, role in enumerate(_TREC[form]) if role is not None}
            wanted = roles if kind == "lists" else {r: at for r, at in roles.items() if r in _UNNAMED[kind]}
            if kind == "lists" and form == "trec_qrels":
                raise SchemaError(f"{file} is a qrels file; lists need a rank or score. Name it as --truth.")
            return _split_rows(file, wanted, len(_TREC[form]), None, 0)
        sign = "\t" if form == "tsv" else _delimiter(first[1])
        names = next(csv.reader([first[1]], delimiter=sign))
        roles = _roles(names, kind)
        header = "user" in roles and ("item" in roles or "items" in roles)
        if not header:
            roles = dict(zip(_UNNAMED[kind], range(len(names)), strict=False))
            roles = {role: at for role, at in roles.items() if role != "time" and at < len(names)}
            if kind == "train":
                roles.pop("grade", None)
            names = [f"(no header) {name}" for name in names]
        _require(file, roles, names, kind)
        return _split_rows(file, roles, len(names), sign, first[0] if header else 0)
    except UnicodeDecodeError as error:
        raise SchemaError(f"{file} is not utf-8 text. Convert it to utf-8.") from error
    except csv.Error as error:
        raise SchemaError(f"{file} cannot be read: {said(error)}. Correct the file.") from error


def _delimiter(line: str) -> str:
    counts = {sign: line.count(sign) for sign in ("\t", ",", ";", "|")}
    return max(counts, key=lambda sign: counts[sign]) if any(counts.values()) else " "


def _split_rows(
    file: TableFile, roles: Mapping[Role, int], n_columns: int, sign: str | None, n_skipped: int
) -> _Cells:
    """Return the columns of delimited text; `sign` None is any blank space, without quotes."""
    table = _arrow_rows(file, n_columns, sign, n_skipped)
    if table is not None:
        columns: dict[Role, Any] = {role: table.column(at) for role, at in roles.items()}
        return _Cells(columns, np.arange(n_skipped + 1, n_skipped + 1 + len(table)))
    cells: dict[Role, list[str]] = {role: [] for role in roles}
    lines, wrong, quoted = [], [], False
    with file.open() as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        reader: Any = (line.split() for line in text) if sign is None else csv.reader(text, delimiter=sign)
        end = 0
        for row in reader:
            begin, end = end + 1, reader.line_num if sign is not None else end + 1
            quoted |= end > begin
            if begin <= n_skipped or not any(cell.strip() for cell in row):
                continue
            if len(row) != n_columns:
                wrong.append(begin)
                continue
            lines.append(begin)
            for role, at in roles.items():
                cells[role].append(row[at])
    bad = [BadRows(f"the row does not have {n_columns} columns", np.array(wrong))] if wrong else []
    return _Cells(dict(cells), np.array(lines, np.int64), bad=bad)


def _arrow_rows(file: TableFile, n_columns: int, sign: str | None, n_skipped: int) -> "pa.Table | None":
    """Read fast; None where a quote, a blank line or a broken row needs a reader that knows lines."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with file.open() as stream:
        text = stream.read()
    text = text.removeprefix(b"\xef\xbb\xbf")
    if b'"' in text or re.search(rb"(^|\n)[ \t\r]*\n", text):
        return None
    if sign is None:
        text = re.sub(rb"[ \t]+(?=\r?\n|\Z)", b"", re.sub(rb"[ \t]+", b"\t", text))
    names = [str(position) for position in range(n_columns)]
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(text),
            arrow_csv.ReadOptions(column_names=names, skip_rows=n_skipped, block_size=1 << 22),
            arrow_csv.ParseOptions(delimiter=sign or "\t", quote_char=False),
            arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None


def _exploded(file: TableFile, cells: _Cells) -> _Cells:
    """Turn a row per user into a row per item; the order in the row is the rank."""
    lists = [_listed_cell(cell) for cell in _python(cells.columns["items"])]
    scores = [_listed_cell(cell) for cell in _python(cells.columns["scores"])] if "scores" in cells.columns else None
    for row, items in enumerate(lists):
        if scores is not None and len(scores[row]) != len(items):
            raise SchemaError(
                f"{file}, {cells.unit} {cells.lines[row]}: {len(items)} items and {len(scores[row])} scores. "
                "Give one score for every item."
            )
    lengths = np.array([len(items) for items in lists], np.int64)
    users = _python(cells.columns["user"])
    columns: dict[Role, Any] = {
        "user": [user for user, n in zip(users, lengths.tolist(), strict=True) for _ in range(n)],
        "item": list(chain.from_iterable(lists)),
        "rank": [rank for n in lengths.tolist() for rank in range(1, n + 1)],
    }
    if scores is not None:
        columns["score"] = list(chain.from_iterable(scores))
    return _Cells(columns, np.repeat(cells.lines, lengths), cells.unit, cells.bad)


def _python(column: Any) -> list[Any]:
    cells: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column
    return cells


def _listed_cell(cell: Any) -> list[Any]:
    """Return the items of a cell: a list, a JSON list, or ids with blanks, commas, ``|`` or ``;`` between."""
    if cell is None:
        return []
    if isinstance(cell, list):
        return cell
    text = str(cell).strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
            if isinstance(found, list):
                return found
        except ValueError:
            text = text.strip("[]").replace("'", "")
    return [part for part in re.split(r"[\s,;|]+", text) if part]


def _checked(file: TableFile, form: ListFormat, cells: _Cells) -> Rows:
    """Keep the rows with user, item and finite numbers; list the others."""
    kept, bad = np.ones(len(cells.lines), bool), list(cells.bad)

    def require(good: npt.NDArray[np.bool_], reason: str) -> None:
        wrong = kept & ~good
        if wrong.any():
            bad.append(BadRows(reason, cells.lines[wrong]))
            np.logical_and(kept, good, out=kept)

    ids = {role: read_ids(_arrow(file, role, cells.columns[role], cells)) for role in ("user", "item")}
    for role in ("user", "item"):
        for reason, good in ids[role].lacking():
            require(good, reason.format(f"the {role}"))
    numbers: dict[Role, DoubleArray] = {}
    for role in _NUMBERS:
        if role in cells.columns:
            numbers[role] = _as_numbers(cells.columns[role])
            require(np.isfinite(numbers[role]), f"the {role} is not a finite number")
    tags = None
    if "tag" in cells.columns:
        tags = np.array([str(tag) for tag in _python(cells.columns["tag"])], object)[kept]
    some = slice(None) if kept.all() else kept
    return Rows(
        file,
        form,
        ids["user"].take(some),
        ids["item"].take(some),
        {role: values[some] for role, values in numbers.items()},
        cells.lines[some],
        cells.unit,
        tuple(bad),
        tags,
    )


def _arrow(file: TableFile, role: str, column: Any, cells: _Cells) -> "pa.ChunkedArray":
    import pyarrow as pa

    if hasattr(column, "type"):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return column.cast(pa.large_string())
        if pa.types.is_nested(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            raise SchemaError(f"{file}: the {role} has the type {kind}; ids must be whole numbers or text.")
        return column
    odd = [n for n, c in enumerate(column) if c is not None and (isinstance(c, bool) or not isinstance(c, (int, str)))]
    if odd:
        raise SchemaError(
            f"{file}, {cells.unit} {cells.lines[odd[0]]}: the {role} {shortened(repr(column[odd[0]]))} is no id; "
            "ids must be whole numbers or text."
        )
    if any(isinstance(cell, str) for cell in column):
        column = [None if cell is None else str(cell) for cell in column]
    try:
        return pa.chunked_array([pa.array(column)])
    except (pa.ArrowException, OverflowError):
        return pa.chunked_array([pa.array([None if cell is None else str(cell) for cell in column])])


def _as_numbers(column: Any) -> DoubleArray:
    """Return cells as float64, NaN where a cell is empty or no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not hasattr(column, "type"):
        return np.array([_number(cell) for cell in column], np.float64)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        try:
            return np.asarray(trimmed.cast(pa.float64()).to_numpy(), np.float64)
        except pa.ArrowException:
            return np.array([_number(cell) for cell in trimmed.to_pylist()], np.float64)
    try:
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)
    except pa.ArrowException:
        return np.full(len(column), np.nan)


def _number(cell: Any) -> float:
    if isinstance(cell, bool):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")


__all__ = ["FORMATS", "BadRows", "Kind", "ListFormat", "MissingDataError", "Rows", "find_list_files", "read_rows"]
