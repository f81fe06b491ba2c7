"""Options of commands that read lists: roles of columns and the format of cells."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, get_args

from recgauge.errors import ConfigError
from recgauge.files.columns import CellFormat, Choice, Role
from recgauge.judging import NoList, Repeats, Seen, Unknown

if TYPE_CHECKING:
    from recgauge.conventions import Convention

ROLES: tuple[Role, ...] = ("user", "item", "items", "rank", "score", "rating", "tag")
_COLUMN = "name or position of the column of the {}; by default recognised by usual names"
_COLUMNS: Mapping[Role, str] = {
    "items": "name or position of a column that holds lists of items",
    "tag": "name or position of a column whose values are runs",
}


_POLICIES: Mapping[str, tuple[Any, str]] = {
    "unknown": (Unknown, "items in no row of --train and --truth"),
    "seen": (Seen, "items that the user has in --train"),
    "repeats": (Repeats, "items that the list has already"),
    "no_list": (NoList, "users of the truth without a list"),
}


class Reading(TypedDict):
    """What `recgauge.recorded.read_recorded` takes of these options."""

    columns: Mapping[Role, Choice]
    header: bool | None
    separator: str | None
    cells: CellFormat


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add them to a command."""
    add, default = parser.add_argument_group("columns of the files").add_argument, "(default: %(default)s)"
    for role in ROLES:
        add(f"--{role}", type=_column, metavar="COLUMN", help=_COLUMNS.get(role, _COLUMN.format(role)))
    add("--header", choices=("true", "false"), help="whether text begins with the names of columns")
    add("--separator", metavar="TEXT", help="what separates the columns of text; by default recognised")
    add("--missing", metavar="CELL", nargs="+", default=[], help="cells that are missing, such as NA")
    add("--unused", metavar="COLUMN", nargs="+", default=[], help="columns that are left out on purpose")
    sign = f'decimal sign of numbers in text: "." or "," {default}'
    add("--decimal", metavar="SIGN", choices=(".", ","), default=".", help=sign)
    implausible = "do not refuse contents that are hardly meant, such as ids that are dates"
    add("--implausible", choices=("refuse", "keep"), default="refuse", help=implausible)


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Add what becomes of items that no list should hold, and of users without a list."""
    default = "(default: as the convention says, mostly"
    for name, (choices, subject) in _POLICIES.items():
        usual = "zero" if name == "no_list" else "miss"
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, choices=get_args(choices), help=f"{subject} {default} {usual})")
    longest = "items of a list that are looked at, before any is dropped"
    parser.add_argument("--longest", metavar="N", type=int, help=longest)


def convention_of(options: argparse.Namespace) -> "Convention":
    """Return the convention with the policies that the command line names."""
    from recgauge.conventions import get_convention  # takes long to import

    for name in ("unknown", "seen"):
        if getattr(options, name) is not None and not options.train:
            raise ConfigError(f"--{name}: such items are known from training rows alone. Give --train FILE.")
    chosen = {name: getattr(options, name) for name in (*_POLICIES, "longest")}
    return get_convention(options.conventions).with_policies(chosen)


def refused_findings(options: argparse.Namespace) -> list[str]:
    """Return the findings that the command line refuses."""
    refused = list(getattr(options, "refuse", ()))
    return [*refused, "repeats"] if options.repeats == "refuse" else refused


def reading_of(options: argparse.Namespace) -> Reading:
    """Return what the command line says of columns and cells."""
    return {
        "columns": {role: getattr(options, role) for role in ROLES},
        "header": None if options.header is None else options.header == "true",
        "separator": options.separator,
        "cells": CellFormat.of(options),
    }


def _column(text: str) -> Choice:
    """Return a column's name, or its position."""
    return int(text) if text.isdecimal() else text
