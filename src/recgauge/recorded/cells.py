"""Reads the cells of one file of rows, whatever its format: text, TREC, JSON lines or parquet."""

import codecs
import csv
import io
import json
import re
from collections.abc import Generator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.formats import open_parquet
from recgauge.errors import SchemaError, said
from recgauge.recorded.columns import BadRows, Cells, Kind, ListFormat, Role, require_roles, roles_of
from recgauge.recorded.per_user import one_row_per_item
from recgauge.utils.checks import shown

if TYPE_CHECKING:
    import pyarrow as pa
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
_GRADED: tuple[Role, ...] = ("user", "item", "grade")
_UNNAMED: Mapping[Kind, tuple[Role, ...]] = {"relevant": _GRADED, "ratings": _GRADED, "train": _GRADED[:2]}


def read_cells(file: TableFile, kind: Kind, form: ListFormat, third: Role | None) -> Cells:
    """Return the columns of a file that are recognised, a row per user and item.

    Parameters
    ----------
    file : TableFile
    kind : {"lists", "relevant", "train"}
    form : str
    third : {"rank", "score"} or None
        What the third column of lists without a header is; None: such a file is refused.

    Raises
    ------
    SchemaError
        If the file is not of its format, or its columns cannot be recognised.
    """
    if form == "parquet":
        cells = _parquet(file, kind)
    elif form == "jsonl":
        cells = _json_lines(file, kind)
    else:
        cells = _text(file, kind, form, third)
    return one_row_per_item(file, cells) if "items" in cells.columns else cells


def format_of(file: TableFile) -> ListFormat:
    """Return the format of a file by its ending, else by its first lines."""
    return _BY_ENDING.get(file.ending) or _sniffed(file)


def _sniffed(file: TableFile) -> ListFormat:
    """Return the format of a text file by its first lines."""
    head = first_bytes(file)
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


def _parquet(file: TableFile, kind: Kind) -> Cells:
    import pyarrow as pa

    try:
        with file.open() as stream:
            table = open_parquet(file, stream)
            names = table.schema_arrow.names
            roles = roles_of(names, kind)
            require_roles(file, roles, names, kind)
            rows = table.read(columns=[names[at] for at in roles.values()])
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except pa.ArrowException as error:
        raise SchemaError(f"{file} cannot be read as parquet: {said(error)}.") from error
    columns = {role: rows.column(names[at]) for role, at in roles.items()}
    return Cells(columns, range(1, len(rows) + 1), "row")


def _json_lines(file: TableFile, kind: Kind) -> Cells:
    rows, lines, wrong = [], [], []
    for number, text in _lines(file):
        try:
            row = json.loads(text)
            if "\\ud" in text.lower():  # half of a character is no text
                json.dumps(row, ensure_ascii=False).encode()
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
    roles = roles_of(names, kind)
    require_roles(file, roles, names, kind)
    columns: dict[Role, Any] = {role: [row.get(names[at]) for row in rows] for role, at in roles.items()}
    bad = [BadRows("the line is no JSON object", np.array(wrong))] if wrong else []
    return Cells(columns, np.array(lines, np.int64), bad=bad)


def _lines(file: TableFile) -> Generator[tuple[int, str], None, None]:
    """Yield the lines that are not blank, with their numbers."""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            if text.strip():
                yield number, text.rstrip("\r\n")


def _text(file: TableFile, kind: Kind, form: ListFormat, third: Role | None) -> Cells:
    try:
        with closing(_lines(file)) as lines:
            first = next(lines, None)
        if first is None:
            raise SchemaError(f"{file} is empty.")
        if form in _TREC:
            roles = {role: at for at, role in enumerate(_TREC[form]) if role is not None}
            wanted = roles if kind == "lists" else {r: at for r, at in roles.items() if r in _UNNAMED[kind]}
            if kind == "lists" and form == "trec_qrels":
                raise SchemaError(f"{file} is a qrels file; lists need a rank or score. Name it as --truth.")
            return _split_rows(file, wanted, len(_TREC[form]), None, 0)
        sign = "\t" if form == "tsv" else _delimiter(first[1])
        file.limits.check_fields(first[1], sign, file, quotes=True)
        names = next(csv.reader([first[1]], delimiter=sign))
        roles = roles_of(names, kind)
        header = bool({"user", "item", "items"} & set(roles))
        if len(names) == 1:
            raise SchemaError(
                f"{file}, line {first[0]}: {shown(first[1])} is a single column. Separate columns by "
                "commas, tabs, semicolons, | or blanks."
            )
        if not header:
            roles = _by_position(file, kind, len(names), third)
        require_roles(file, roles, names, kind)
        return _split_rows(file, roles, len(names), sign, first[0] if header else 0)
    except UnicodeDecodeError as error:
        raise _not_utf8(file) from error
    except csv.Error as error:
        hint = "End lines with line feeds" if b"\r" in first_bytes(file) else "Correct the file"
        raise SchemaError(f"{file} cannot be read: {said(error).partition(' - ')[0]}. {hint}.") from error


def first_bytes(file: TableFile) -> bytes:
    """Return the begin of a file."""
    with file.open() as stream:
        return stream.read(1 << 16)


def _not_utf8(file: TableFile) -> SchemaError:
    """Return the error that names the first line that is not UTF-8."""
    start, wrong = first_bytes(file), 1
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                wrong = number
                break
    likely = "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "iso-8859-1"
    return SchemaError(f"{file}, line {wrong} is not utf-8 text. Convert the file, perhaps from {likely}.")


def _by_position(file: TableFile, kind: Kind, n_columns: int, third: Role | None) -> dict[Role, int]:
    """Return the columns of a file without a header."""
    order = _UNNAMED.get(kind, ())
    if kind == "lists":
        if third is None:
            raise SchemaError(
                f"{file} has no header, so nobody knows whether its third column is a rank or a score. Add "
                "the line user,item,rank or user,item,score, or say what orders the lists (--order)."
            )
        order = ("user", "item", third)
    return dict(zip(order, range(n_columns), strict=False))


def _delimiter(line: str) -> str:
    counts = {sign: line.count(sign) for sign in ("\t", ",", ";", "|")}
    return max(counts, key=lambda sign: counts[sign]) if any(counts.values()) else " "


def _split_rows(
    file: TableFile, roles: Mapping[Role, int], n_columns: int, sign: str | None, n_skipped: int
) -> Cells:
    """Return the columns of delimited text; `sign` None is any blank space, without quotes."""
    table = _arrow_rows(file, n_columns, sign, n_skipped)
    if table is not None:
        columns: dict[Role, Any] = {role: table.column(at) for role, at in roles.items()}
        return Cells(columns, range(n_skipped + 1, n_skipped + 1 + len(table)))
    cells: dict[Role, list[str]] = {role: [] for role in roles}
    lines, wrong, quoted = [], [], False
    with file.open() as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
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
    return Cells(dict(cells), np.array(lines, np.int64), bad=bad)


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
    except MemoryError:
        raise
    except pa.ArrowException:
        return None
