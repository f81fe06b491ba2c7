"""The formats of files, how each is recognised, and the one way to read a file of rows.

A new format is a function that returns `Rows`, and an entry of `FORMATS`; nothing else names formats.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from recgauge.errors import ConfigError, SchemaError, said
from recgauge.files.columns import Columns, Role, Roles
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.lists import item_rows
from recgauge.files.nested import read_id_lines, read_json_lines
from recgauge.files.opening import Source, TableFile
from recgauge.files.parquet import read_parquet, read_stored
from recgauge.files.plausible import check_plausible, check_unused
from recgauge.files.rows import Rows, check
from recgauge.files.stored import PARQUET, StoredTable
from recgauge.files.text import Layout, TextFormat, read_text
from recgauge.utils.resources import check_memory


@dataclass(frozen=True)
class Format:
    """A kind of file.

    `read` takes a file, the roles of columns and how text is written, and returns `Rows`, or raises a
    SchemaError where that cannot be.
    """

    read: Callable[[TableFile, Roles, TextFormat], Rows] = read_text
    endings: tuple[str, ...] = ()  # of names of such files
    begins: Callable[[Sequence[Sequence[str]]], bool] | None = None  # the first lines, split at blanks
    of_lists: bool = False  # whether they tell so only where lists are read, not tables


def _trec(columns: Sequence[Role | None], file: TableFile, roles: Roles, _: TextFormat) -> Layout:
    """Return the layout of columns between blanks, without a header."""
    positions = {role: at for at, role in enumerate(columns) if role is not None and role in roles.names}
    if missing := [" or ".join(group) for group in roles.needed if not {*positions} & {*group}]:
        raise SchemaError(f"{file} is no file of lists: it has no {missing[0]}. A qrels file is a truth.")
    return Layout(Columns(tuple(map(str, range(len(columns)))), positions, header=False), "", 0)


FORMATS: Mapping[str, Format] = {
    "text": Format(),
    "parquet": Format(read_parquet, PARQUET, lambda rows: rows[0][0].startswith("PAR1")),
    "jsonl": Format(
        read_json_lines,
        (".json", ".jsonl", ".ndjson"),
        lambda rows: rows[0][0].lstrip("\ufeff").startswith("{"),
    ),
    "user_lines": Format(read_id_lines),
    "count_lines": Format(partial(read_id_lines, by_count=True)),
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
_HEAD, _HEAD_LINES = 1 << 16, 100  # bytes and lines by which a format is recognised


def _format_of(file: TableFile, roles: Roles) -> str:
    """Return the name of a file's format, by its ending, else by its first lines."""
    if by_ending := [name for name, form in FORMATS.items() if file.ending in form.endings]:
        return by_ending[0]
    with file.open() as stream:
        head = stream.read(_HEAD).decode("utf-8", "replace")
    lines = [line.split() for line in head.splitlines()[:_HEAD_LINES] if line.strip()]
    for name, form in FORMATS.items():
        if lines and form.begins and form.of_lists <= roles.of_lists and form.begins(lines):
            return name
    return "text"


def read(file: Source, roles: Roles, how: TextFormat | None = None, *, form: str | None = None) -> Rows:
    """Return the rows of a file, or of a folder's or address's Parquet files, checked.

    `how` is how text is written, and `form` a key of `FORMATS`; both are recognised otherwise.

    Raises
    ------
    SchemaError
        If the file cannot be read in its format; ColumnsError if nobody says which columns are which.
    ConfigError
        If files in a folder or at an address are to be anything but Parquet.
    """
    if isinstance(file, StoredTable):
        if form not in (None, "parquet"):
            raise ConfigError(
                f"{roles.setting.format('format', form)}: files in folders and at addresses are Parquet. "
                "Leave it out, or name files or a pattern."
            )
        check_memory(file, file.n_rows, 100 if roles.of_lists else BYTES_PER_ROW)
        return checked(read_stored(file), "parquet", roles)
    form = form or _format_of(file, roles)
    n_lines, n_ids = file.size()
    is_wide = form in ("user_lines", "count_lines")
    needed = 130 if is_wide or form == "jsonl" else 100 if roles.of_lists else BYTES_PER_ROW
    check_memory(file, n_ids if is_wide else n_lines, needed)
    return checked(_read_as(form, file, roles, how), form, roles)


def read_cells(file: TableFile, how: TextFormat | None = None, *, skip: bool = False) -> Rows:
    """Return the rows of a file with all its columns, in `Rows.further`; `skip` leaves out bad ones.

    Raises
    ------
    SchemaError
        If the file cannot be read in its format, or a row is bad.
    """
    roles = Roles({}, needed=())
    rows = _read_as(_format_of(file, roles), file, roles, how)
    if rows.problems and not skip:
        raise SchemaError(f"{rows.first_bad()}. Correct the file.")
    return rows


def _read_as(form: str, file: TableFile, roles: Roles, how: TextFormat | None) -> Rows:
    """Return the rows of a file; errors of Arrow and of the system name it."""
    try:
        return FORMATS[form].read(file, roles, how or TextFormat())
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except (pa.ArrowException, UnicodeError, OSError) as error:
        raise SchemaError(f"{file} cannot be read as {form}: {said(error)}. Check the file.") from error


def checked(rows: Rows, form: str, roles: Roles) -> Rows:
    """Return the good rows of a file, a row for each item, and what is wrong with the others."""
    check_unused(rows, roles)
    good = check(item_rows(rows, roles) if "items" in rows.cells else rows, form, roles)
    check_plausible(good, roles)
    return good
