"""The formats of files, how each is recognised, and the one way to read a file of rows.

A new format is a function that returns `RawRows`, and an entry of `FORMATS`; nothing else
names formats.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from recgauge.errors import ConfigError, SchemaError, said
from recgauge.files.columns import Columns, Role, Wanted
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.lists import one_row_per_item
from recgauge.files.nested import read_id_lines, read_json_lines, read_json_users
from recgauge.files.opening import Source, TableFile
from recgauge.files.parquet import read_arrow, read_parquet, read_stored
from recgauge.files.plausible import check_plausible, check_unused
from recgauge.files.rows import RawRows, Rows, check
from recgauge.files.stored import PARQUET, StoredTable
from recgauge.files.text import Layout, TextFormat, not_utf8, read_text
from recgauge.utils.resources import check_memory, memory_named


@dataclass(frozen=True)
class Format:
    """A kind of file.

    `read` takes a file, the wanted columns and what is known of text, and returns `RawRows`, or raises a
    SchemaError where that cannot be.
    """

    read: Callable[[TableFile, Wanted, TextFormat], RawRows] = read_text
    endings: tuple[str, ...] = ()  # of names of such files
    begins: Callable[[Sequence[Sequence[str]]], bool] | None = None  # the first lines, split at blanks
    of_lists: bool = False  # whether they tell so only where lists are read, not tables


def _trec(columns: Sequence[Role | None], file: TableFile, wanted: Wanted, _: TextFormat) -> Layout:
    """Return the layout of columns between blanks, without a header."""
    roles = {role: at for at, role in enumerate(columns) if role is not None and role in wanted.names}
    if missing := [" or ".join(some) for some in wanted.needed if not {*roles} & set(some)]:
        raise SchemaError(f"{file} is no file of lists: it has no {missing[0]}. A qrels file is a truth.")
    return Layout(Columns(tuple(map(str, range(len(columns)))), roles, header=False), "", False, 0)


def _tabs(file: TableFile, wanted: Wanted, how: TextFormat) -> RawRows:
    return read_text(file, wanted, replace(how, separator="\t"))


def _recbole(file: TableFile, wanted: Wanted, _: TextFormat) -> RawRows:
    return read_text(file, wanted, TextFormat("\t", header=True, quotes=False))


FORMATS: Mapping[str, Format] = {
    "text": Format(),
    "csv": Format(),
    "tsv": Format(_tabs),
    "parquet": Format(read_parquet, PARQUET, lambda rows: rows[0][0].startswith("PAR1")),
    "arrow": Format(
        read_arrow,
        (".feather", ".arrow", ".arrows", ".ipc"),
        lambda rows: rows[0][0].startswith("ARROW1"),
    ),
    "json_users": Format(read_json_users),
    "jsonl": Format(
        read_json_lines,
        (".json", ".jsonl", ".ndjson"),
        lambda rows: rows[0][0].lstrip("\ufeff").startswith("{"),
    ),
    "recbole": Format(_recbole, (".inter",)),
    "user_lines": Format(read_id_lines),
    "count_lines": Format(partial(read_id_lines, counted=True)),
    "trec_run": Format(
        partial(read_text, find=partial(_trec, ("user", None, "item", "rank", "score", "tag"))),
        (".run", ".trec"),
        lambda rows: len(rows[0]) == 6 and rows[0][1].upper() == "Q0",
        of_lists=True,
    ),
    "trec_qrels": Format(
        partial(read_text, find=partial(_trec, ("user", None, "item", "rating"))),
        (".qrels", ".qrel"),
        lambda rows: all(len(row) == 4 and row[1] in ("0", "Q0") for row in rows[: max(1, len(rows) - 1)]),
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
        with _named_errors(file, form):
            return checked(FORMATS[form].read(file, wanted, how or TextFormat()), form, wanted)


def read_cells(file: TableFile, how: TextFormat | None = None) -> RawRows:
    """Return the rows of a file with all its columns, in `RawRows.others`."""
    every = Wanted({}, needed=())
    form = format_of(file, every)
    with _named_errors(file, form):
        part = FORMATS["jsonl" if form == "json_users" else form].read(file, every, how or TextFormat())
        part = part.again() if part.lines is None and part.again else part
    if part.broken:
        first = part.broken[0]
        raise SchemaError(f"{part.place(first.lines[0])}: {first.reason}: {first.example}. Correct the file.")
    return part


def checked(part: RawRows, form: str, wanted: Wanted) -> Rows:
    """Return the good rows of a part, a row for each item, and what is wrong with the others."""
    check_unused(part, wanted)
    whole = one_row_per_item(part, wanted) if "items" in part.columns else part
    rows = check(whole, form, wanted)
    if part.again is not None and (rows.problems or (part.lines is None and wanted.of_lists)):
        return checked(part.again(), form, wanted)
    check_plausible(rows, wanted)
    return rows


@contextmanager
def _named_errors(file: TableFile, form: str) -> Iterator[None]:
    """Name the file in errors of Arrow and of the system."""
    try:
        yield
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except (pa.ArrowException, UnicodeError, OSError) as error:
        if "UTF" in str(error).upper() and form not in ("parquet", "arrow"):
            raise not_utf8(file) from error
        raise SchemaError(f"{file} cannot be read as {form}: {said(error)}. Check the file.") from error
