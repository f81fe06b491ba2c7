"""Finds the columns of a table: by their names or positions, and for text by its first line."""

import codecs
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

from recgauge.datasets._table.files import TableFile
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.utils.checks import shown

Role = Literal["user", "item", "rating", "time"]
Choice = str | int | bool | None
ROLES: tuple[Role, ...] = ("user", "item", "rating", "time")

_KNOWN: Mapping[Role, frozenset[str]] = {
    "user": frozenset({"user", "userid", "uid", "reviewerid"}),
    "item": frozenset({"item", "itemid", "iid", "movieid", "bookid", "productid", "asin"}),
    "rating": frozenset({"rating", "score", "stars", "overall"}),
    "time": frozenset({"timestamp", "time", "unixreviewtime"}),
}


# What the user said about the column of every role: a name, a position counted from 0, False for a rating or
# time that must not be used, or None: the column is recognised by a usual name; if there is no header and no
# column is chosen, columns are taken in the order of `ROLES`.
Roles = Mapping[Role, Choice]


def check_roles(roles: Roles) -> None:
    """Refuse what can be no column with a ConfigError."""
    for role, choice in roles.items():
        may_be_off = role in ("rating", "time")
        usable = (isinstance(choice, str) and choice) or (_is_position(choice) and choice >= 0)
        if not (usable or choice is None or (choice is False and may_be_off)):
            off = ", false" if may_be_off else ""
            raise ConfigError(
                f"Table: {role} must be a column's name, its position from 0{off} or null, got {choice!r}."
            )


def _is_header(names: Sequence[str], roles: Roles) -> bool:
    """Whether `names` must be a header, since a name was chosen, or hold usual ones of user and item."""
    if any(isinstance(choice, str) for choice in roles.values()):
        return True
    return all(any(_plain(name) in _KNOWN[role] for name in names) for role in ("user", "item"))


def columns_by_name(roles: Roles, names: Sequence[str], location: str) -> dict[Role, int]:
    """Return the position of each role's column among `names`; rating and time may be absent.

    Raises
    ------
    SchemaError
        If a column is absent, or several columns fit.
    """
    chosen: dict[Role, int] = {}
    for role, choice in roles.items():
        if choice is False:
            continue
        if choice is None:
            found = [position for position, name in enumerate(names) if _plain(name) in _KNOWN[role]]
        else:
            found = [position for position, name in enumerate(names) if choice in (name, position)]
        if len(found) == 1:
            chosen[role] = found[0]
        elif len(found) > 1 or choice is not None or role in ("user", "item"):
            raise SchemaError(
                _unclear(role, choice, names, [names[position] for position in found], location)
            )
    return _distinct(chosen, names, location)


def columns_by_position(roles: Roles, n_columns: int, location: str) -> dict[Role, int]:
    """Return the position of each role's column where there is no header.

    Raises
    ------
    SchemaError
        If a column is absent.
    """
    names = [str(position) for position in range(n_columns)]
    if any(_is_position(choice) or isinstance(choice, str) for choice in roles.values()):
        chosen = {role: choice for role, choice in roles.items() if _is_position(choice)}
    else:
        unsaid = [role for role in ROLES if roles[role] is None]
        chosen = dict(zip(unsaid, range(n_columns), strict=False))
    for role, choice in roles.items():
        needed = role in ("user", "item") or isinstance(choice, str)
        if chosen.get(role, n_columns if needed else 0) >= n_columns:
            raise SchemaError(_unclear(role, choice, names, [], f"{location} (no header)"))
    return _distinct(chosen, names, location)


def _distinct(chosen: dict[Role, int], names: Sequence[str], location: str) -> dict[Role, int]:
    for position in chosen.values():
        doubled = [role for role in chosen if chosen[role] == position]
        if len(doubled) > 1:
            raise SchemaError(
                f"{location}: column {names[position]} is taken as {' and as '.join(doubled)}. Set "
                "dataset.user, item, rating and time to different columns."
            )
    return chosen


def _unclear(role: Role, choice: Choice, names: Sequence[str], found: Sequence[str], location: str) -> str:
    if found:
        problem = f"several columns could be the {role}: {listed(found)}"
    elif choice is None:
        problem = f"no column is known as the {role}"
    else:
        problem = f"there is no column {choice!r} for the {role}"
    return f"{location}: {problem}. The columns are: {listed(names)}. Choose with dataset.{role}=COLUMN."


def _is_position(choice: Choice) -> TypeGuard[int]:
    return isinstance(choice, int) and not isinstance(choice, bool)


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")


@dataclass(frozen=True)
class TextFormat:
    """How text is to be read; None means: found out from the first line.

    Parameters
    ----------
    separator : str or None
        One or more characters.
    header : bool or None
        Whether the first line names the columns.
    quotes : bool or None
        Whether fields may be in double quotes; None: with commas and semicolons only.
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
        If the file is empty, or separator or columns cannot be recognised.
    """
    number, line = first_line(file)
    separator = how.separator or _guess_separator(file, line)
    quotes = separator in _QUOTED if how.quotes is None else how.quotes
    file.limits.check_fields(line, separator, file, quotes=quotes)
    names = _quoted_fields(file, line, separator) if quotes else line.split(separator)
    if how.atomic:
        names = [name.partition(":")[0] for name in names]
    header = _is_header(names, roles) if how.header is None else how.header
    if header:
        positions = columns_by_name(roles, names, str(file))
    else:
        positions = columns_by_position(roles, len(names), f"{file}, first line {shown(line[:200])}")
    labels = {role: names[at] if header else f"column {at}" for role, at in positions.items()}
    return Layout(separator, quotes, len(names), number if header else 0, positions, labels)


def first_line(file: TableFile) -> tuple[int, str]:
    """Return the number of the first line that is not blank, and the line.

    Raises
    ------
    SchemaError
        If the file is empty, no UTF-8 text, or the line too long.
    """
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
            f"{file}: its first line {shown(line[:200])} cannot be read: {error}. If lines end in a single "
            "carriage return, write them again with line feeds; if quotes are ordinary characters, "
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
        f"{file}: cannot tell what separates the fields of its first line {shown(line[:200])}. Set "
        "dataset.separator, or dataset.format=user_lines if each line is a user followed by items."
    )
