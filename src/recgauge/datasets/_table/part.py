"""What a reader hands on: the columns of one file as they were written, and which line each row is in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.roles import Role
from recgauge.utils.checks import LongArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Problem:
    """Rows that are bad for the same reason.

    Parameters
    ----------
    reason : str
        Such as "the rating is not a finite number".
    lines : ndarray of int64, shape (n,)
        Where they are, ascending.
    example : str
        What stands in the first.
    """

    reason: str
    lines: LongArray
    example: str


@dataclass(frozen=True)
class Part:
    """The rows of one file.

    Parameters
    ----------
    file : TableFile
    columns : mapping of role to pyarrow.ChunkedArray
        The cells, as text or as the type that the file gives them.
    labels : mapping of role to str
        What the columns are called.
    lines : ndarray of int64, shape (n_rows,), or None
        The line of each row; None if nobody has counted yet.
    unit : str
        "line", or "row" where rows and lines differ.
    broken : tuple of Problem
        Rows that could not be split into columns; they are not in `columns`.
    remark : str
        What the user should know about the way the file was read.
    """

    file: TableFile
    columns: Mapping[Role, "pa.ChunkedArray"]
    labels: Mapping[Role, str]
    lines: LongArray | None = None
    unit: str = "line"
    broken: tuple[Problem, ...] = ()
    remark: str = ""

    @property
    def n_rows(self) -> int:
        """Rows that could be split into columns."""
        return len(self.columns["user"])

    def lines_of(self, rows: LongArray) -> LongArray:
        """Return the lines of rows; their numbers, counted from 1, if lines are not known."""
        return rows + 1 if self.lines is None else np.asarray(self.lines[rows])
