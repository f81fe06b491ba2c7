"""The formats of files, how each is recognised, and the one way to read a file of rows.

A new format is a function that returns `RawRows` or a `Layout`, and an entry of `FORMATS`; nothing else
names formats.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from recgauge.errors import ConfigError, SchemaError, said
from recgauge.files.columns import Role, Wanted
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.lists import one_row_per_item
from recgauge.files.nested import read_id_lines, read_json_cells, read_json_lines, read_json_users
from recgauge.files.opening import Source, TableFile
from recgauge.files.parquet import arrow_cells, read_arrow, read_parquet, read_stored
from recgauge.files.plausible import check_plausible, check_unused
from recgauge.files.rows import RawRows, Rows, check
from recgauge.files.stored import PARQUET, StoredTable
from recgauge.files.text import (
    Layout,
    TextFormat,
    find_layout,
    not_utf8,
    read_carefully,
    read_fast,
    read_texts,
)
from recgauge.utils.resources import check_memory, memory_named

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Format:
    """A kind of file; of its functions, either `read` or `layout` is needed.

    `read` takes a file, the wanted columns and what is known of text, and returns `RawRows`; `layout` returns
    the `Layout` of text whose columns are between separators. Both raise a SchemaError where that cannot be.
    """

    read: Callable[[TableFile, Wanted, TextFormat], RawRows] | None = None
    endings: tuple[str, ...] = ()  # of names of such files
    begins: Callable[[Sequence[Sequence[str]]], bool] | None = None  # the first lines, split at blanks
    of_lists: bool = False  # whether they tell so only where lists are read, not tables
    layout: Callable[[TableFile, Wanted, TextFormat], Layout] = find_layout


def _trec(columns: Sequence[Role | None], file: TableFile, wanted: Wanted, _: TextFormat) -> Layout:
    """Return the layout of columns between blanks, without a header."""
    roles = {role: at for at, role in enumerate(columns) if role is not None and role in wanted.names}
    if missing := [" or ".join(some) for some in wanted.needed if not {*roles} & set(some)]:
        raise SchemaError(f"{file} is no file of lists: it has no {missing[0]}. A qrels file is a truth.")
    return Layout("", False, (), len(columns), 0, roles)


FORMATS: Mapping[str, Format] = {
    "text": Format(),
    "csv": Format(),
    "tsv": Format(layout=lambda file, wanted, how: find_layout(file, wanted, replace(how, separator="\t"))),
    "parquet": Format(read_parquet, endings=PARQUET, begins=lambda rows: rows[0][0].startswith("PAR1")),
    "arrow": Format(
        read_arrow,
        endings=(".feather", ".arrow", ".arrows", ".ipc"),
        begins=lambda rows: rows[0][0].startswith("ARROW1"),
    ),
    "json_users": Format(read_json_users),
    "jsonl": Format(
        read_json_lines,
        endings=(".json", ".jsonl", ".ndjson"),
        begins=lambda rows: rows[0][0].lstrip("\ufeff").startswith("{"),
    ),
    "recbole": Format(
        layout=lambda file, wanted, _: find_layout(file, wanted, TextFormat("\t", header=True, quotes=False)),
        endings=(".inter",),
    ),
    "user_lines": Format(read_id_lines),
    "count_lines": Format(partial(read_id_lines, counted=True)),
    "trec_run": Format(
        layout=partial(_trec, ("user", None, "item", "rank", "score", "tag")),
        endings=(".run", ".trec"),
        begins=lambda rows: len(rows[0]) == 6 and rows[0][1].upper() == "Q0",
        of_lists=True,
    ),
    "trec_qrels": Format(
        layout=partial(_trec, ("user", None, "item", "rating")),
        endings=(".qrels", ".qrel"),
        begins=lambda rows: all(
            len(row) == 4 and row[1] in ("0", "Q0") for row in rows[: max(1, len(rows) - 1)]
        ),
        of_lists=True,
    ),
}
_USER = re.compile(r'\ufeff?\s*\{\s*"([^"]*)"\s*:\s*[\[{]')
_HEAD, _HEAD_LINES = 1 << 16, 100  # bytes and lines by which a format is recognised


def format_of(file: TableFile, wanted: Wanted) -> str:
    """Return the name of a file's format, by its ending, else by its first lines."""
    with file.open() as stream:
        head = stream.read(_HEAD).decode("utf-8", "replace")
    form = next((name for name, known in FORMATS.items() if file.ending in known.endings), None)
    lines = [line.split() for line in head.splitlines()[:_HEAD_LINES] if line.strip()]
    for name, known in FORMATS.items() if form is None else ():
        if lines and known.begins and known.of_lists <= wanted.of_lists and known.begins(lines):
            form = name
            break
    if form == "jsonl" and _has_users(head, wanted):
        return "json_users"
    return form or "text"


def _has_users(head: str, wanted: Wanted) -> bool:
    """Whether JSON begins with a user and the items, and not with a row of names and cells."""
    begin = _USER.match(head)
    if begin is None or wanted.is_name(begin[1]):
        return False
    try:
        row = json.loads(head.strip().partition("\n")[0])
    except ValueError:
        return True
    return all(isinstance(cell, (list, dict)) for cell in row.values())


def read(
    file: Source,
    wanted: Wanted,
    how: TextFormat | None = None,
    *,
    form: str | None = None,
) -> Rows:
    """Return the rows of a file, or of a folder's or address's Parquet files, checked.

    `how` is what is known of text, and `form` a key of `FORMATS`; both are recognised otherwise.
    """
    if not isinstance(file, StoredTable):
        form = form or format_of(file, wanted)
        n_lines, n_ids = file.size()
        n_rows = n_ids if form in ("user_lines", "count_lines") else n_lines
    elif form in (None, "parquet"):
        form, n_rows = "parquet", file.n_rows
    else:
        raise ConfigError(
            f"{wanted.setting.format('format', form)}: files in folders and at addresses are Parquet. "
            "Leave it out, or name files or a pattern."
        )
    needed = 100 if wanted.of_lists else 130 if form == "jsonl" else BYTES_PER_ROW
    check_memory(file, n_rows, needed)
    with memory_named(file, n_rows, needed):
        if isinstance(file, StoredTable):
            return checked(read_stored(file), form, wanted)
        return _read_file(file, wanted, how or TextFormat(), form)


def read_cells(file: TableFile) -> tuple["pa.Table", range, str]:
    """Return all columns of a file by their names, the number of each row, and whether that is a line."""
    from pyarrow import ArrowException, parquet

    form = format_of(file, Wanted({}, needed=()))
    try:
        if form not in ("parquet", "arrow", "jsonl", "json_users"):
            return read_texts(file, TextFormat("\t") if form in ("tsv", "recbole") else TextFormat())
        if form == "arrow":
            cells = arrow_cells(file)
        elif form != "parquet":
            cells = read_json_cells(file)
        else:
            with file.unpacked() as stream:
                cells = parquet.ParquetFile(stream).read()
    except (ArrowException, UnicodeError) as error:
        if "UTF" in str(error).upper() and form != "parquet":
            raise not_utf8(file) from error
        raise SchemaError(f"{file} cannot be read as {form}: {said(error)}. Check the file.") from error
    return cells, range(1, len(cells) + 1), "row"


def checked(part: RawRows, form: str, wanted: Wanted) -> Rows:
    """Return the good rows of a part, a row for each item, and what is wrong with the others."""
    check_unused(part, wanted)
    if "items" in part.columns:
        part = one_row_per_item(part, wanted)
    rows = check(part, form, wanted)
    check_plausible(rows, wanted)
    return rows


def _read_file(file: TableFile, wanted: Wanted, how: TextFormat, form: str) -> Rows:
    from pyarrow import ArrowException

    known = FORMATS[form]
    try:
        if known.read is not None:
            return checked(known.read(file, wanted, how), form, wanted)
        return _read_text(file, known.layout(file, wanted, how), wanted, form)
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except (ArrowException, UnicodeError, OSError) as error:
        if "UTF" in str(error).upper() and form not in ("parquet", "arrow"):
            raise not_utf8(file) from error
        raise SchemaError(f"{file} cannot be read as {form}: {said(error)}. Check the file.") from error


def _read_text(file: TableFile, layout: Layout, wanted: Wanted, form: str) -> Rows:
    """Read fast, and if that shows bad rows, or lines of lists are not known, again in a way that can."""
    from pyarrow import ArrowException

    try:
        part = read_fast(file, layout, wanted)
        rows = checked(part, form, wanted)
        if not rows.problems and (part.lines is not None or not wanted.of_lists):
            return rows
    except MemoryError:
        raise
    except ArrowException:
        pass  # a cell or row is bad
    return checked(read_carefully(file, layout), form, wanted)
