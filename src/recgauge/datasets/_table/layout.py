"""Finds out from the first line how the text of a table is laid out."""

import codecs
import csv
from dataclasses import dataclass

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.roles import Role, Roles, columns_by_name, columns_by_position
from recgauge.errors import SchemaError
from recgauge.utils.checks import shown

_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")


@dataclass(frozen=True)
class TextFormat:
    """How text is to be read; None means: found out from the first line.

    Parameters
    ----------
    separator : str or None
        One or more signs.
    header : bool or None
        Whether the first line names the columns.
    quotes : bool or None
        Whether fields may stand in double quotes; None: with commas and semicolons only.
    atomic : bool
        Whether names carry a type, as in RecBole's ``user_id:token``.
    dates : bool
        Whether times are dates and not numbers.
    """

    separator: str | None = None
    header: bool | None = None
    quotes: bool | None = None
    atomic: bool = False
    dates: bool = False


@dataclass(frozen=True)
class Layout:
    """How a file is laid out.

    Parameters
    ----------
    separator : str
    quotes : bool
    n_columns : int
    n_skipped : int
        Lines before the first row.
    positions : mapping of role to int
        Where the columns are.
    labels : mapping of role to str
        What they are called.
    """

    separator: str
    quotes: bool
    n_columns: int
    n_skipped: int
    positions: dict[Role, int]
    labels: dict[Role, str]


def find_layout(file: TableFile, roles: Roles, how: TextFormat) -> Layout:
    """Return the layout of a text file.

    Raises
    ------
    SchemaError
        If the file is empty, or separator or columns cannot be told.
    """
    number, line = _first_line(file)
    separator = how.separator or _guess_separator(file, line)
    quotes = separator in _QUOTED if how.quotes is None else how.quotes
    names = _quoted_fields(file, line, separator) if quotes else line.split(separator)
    if how.atomic:
        names = [name.partition(":")[0] for name in names]
    header = roles.match_names(names) if how.header is None else how.header
    if header:
        positions = columns_by_name(roles, names, str(file))
    else:
        positions = columns_by_position(roles, len(names), f"{file}, first line {shown(line)}")
    labels = {role: names[at] if header else f"column {at}" for role, at in positions.items()}
    return Layout(separator, quotes, len(names), number if header else 0, positions, labels)


def _first_line(file: TableFile) -> tuple[int, str]:
    """Return the number of the first line that is not blank, and the line."""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                likely = (
                    "utf-16" if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "iso-8859-1"
                )
                raise SchemaError(
                    f"{file}, line {number} is not utf-8 text. Set dataset.encoding, for example to {likely}."
                ) from error
            if text.strip("\r\n"):
                return number, text.strip("\r\n")
    raise SchemaError(f"{file} is empty. Correct dataset.path.")


def _quoted_fields(file: TableFile, line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error as error:
        raise SchemaError(
            f"{file}: its first line {shown(line)} cannot be read: {error}. If lines end in a single "
            "carriage return, write them anew with line feeds; if quotes are ordinary signs, "
            "set dataset.quotes=false."
        ) from error


def _guess_separator(file: TableFile, line: str) -> str:
    counts = {separator: line.count(separator) for separator in _SEPARATORS}
    for certain in ("::", "\t"):
        if counts[certain]:
            return certain
    best = max(counts, key=lambda separator: counts[separator])
    if counts[best]:
        return best
    raise SchemaError(
        f"{file}: cannot tell what parts the fields of its first line {shown(line)}. Set dataset.separator, "
        "or dataset.format=user_lines if each line is a user followed by items."
    )
