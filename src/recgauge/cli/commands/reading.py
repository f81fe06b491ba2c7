"""Options of commands that read lists: roles of columns and the format of cells."""

import argparse
from collections.abc import Mapping
from typing import TypedDict

from recgauge.files.columns import CellFormat, Choice, Role

ROLES: tuple[Role, ...] = ("user", "item", "items", "rank", "score", "rating", "tag")
_COLUMN = "name or position of the column of the {}; by default recognised by usual names"
_COLUMNS: Mapping[Role, str] = {
    "items": "name or position of a column that holds lists of items",
    "tag": "name or position of a column whose values are runs",
}


class Reading(TypedDict):
    """What `recgauge.recorded.read_recorded` takes of these options."""

    columns: Mapping[Role, Choice]
    header: bool | None
    separator: str | None
    cells: CellFormat


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add them to a command."""
    add, default = parser.add_argument, "(default: %(default)s)"
    for role in ROLES:
        add(f"--{role}", type=_column, metavar="COLUMN", help=_COLUMNS.get(role, _COLUMN.format(role)))
    add("--header", choices=("true", "false"), help="whether text begins with the names of columns")
    add("--separator", metavar="TEXT", help="what separates the columns of text; by default recognised")
    add("--missing", metavar="CELL", nargs="+", default=[], help="cells that are missing, such as NA")
    add("--unused", metavar="COLUMN", nargs="+", default=[], help="columns that are left out on purpose")
    add("--decimal", choices=(".", ","), default=".", help=f"decimal sign of numbers in text {default}")
    add("--thousands", choices=(".", ",", " ", "'"), default="", help="sign between thousands in text")
    implausible = "do not refuse contents that are hardly meant, such as ids that are dates"
    add("--implausible", choices=("refuse", "keep"), default="refuse", help=implausible)


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
