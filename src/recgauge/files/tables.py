"""Tables with columns of the user's own: of users, of items, of users' values; from files and data frames."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.files.cells import numbers_of, require_ids, without
from recgauge.files.columns import Role, column_of
from recgauge.files.formats import read_cells
from recgauge.files.frames import as_arrow, is_frame
from recgauge.files.ids import NO_ID, read_ids
from recgauge.files.opening import find_list_files
from recgauge.files.rows import Lines
from recgauge.utils.checks import BoolArray, DoubleArray, shown


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Columns by their names; a cell is what the file has until its column is asked for ids or numbers.

    Attributes
    ----------
    subject : str
        What messages call the table.
    cells : pyarrow.Table
        Of text files texts, an empty one null; of others the types that they have.
    lines : range or array of int
        The line of each row of text; of others its number, from 1.
    unit : {"line", "row"}
    missing : collection of str
        Cells that are missing beside empty ones.
    """

    subject: str
    cells: pa.Table
    lines: Lines
    unit: str = "row"
    missing: Collection[str] = ()

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return list(self.cells.column_names)

    def __len__(self) -> int:
        return int(self.cells.num_rows)

    def key(self, role: Role, choice: str | int | None = None, option: str = "") -> str:
        """Return the name of the column with users (or items): `choice`, or one with a usual name.

        Parameters
        ----------
        role : {"user", "item"}
        choice : str or int, optional
            A name, or a position from 0.
        option : str
            How a user chooses the column, such as ``--user COLUMN``, for messages.

        Raises
        ------
        SchemaError
            If there is none, or several could be meant; the message names the columns.
        """
        return column_of(role, self.names, self.subject, choice, option)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return the cells of a column; what is missing is null.

        Raises
        ------
        SchemaError
            If there is no such column.
        """
        if name not in self.names:
            raise SchemaError(
                f"{self.subject}: there is no column {shown(name)}; it has {listed(self.names)}."
            )
        return without(self.cells.column(name), ("", *self.missing))[0]

    def ids(self, name: str) -> npt.NDArray[Any]:
        """Return a column as ids: whole numbers where that loses nothing (``007`` stays text), else texts.

        Raises
        ------
        SchemaError
            If a cell is missing or no id; the message names its row.
        """
        cells = self.column(name)
        require_ids(cells.type, f"{self.subject}: the column {shown(name)}")
        ids = read_ids(cells)
        self._refuse(ids.codes < 0, name, NO_ID.get(int(ids.codes.min(initial=0)), "").format("the id"))
        distinct = ids.distinct
        if ids.whole and distinct.dtype.kind in "UO":
            distinct = distinct.astype(np.int64)
        return distinct[ids.codes]

    def numbers(self, name: str) -> DoubleArray:
        """Return a column as numbers, NaN where a cell is missing.

        Raises
        ------
        SchemaError
            If a cell is no number; the message names its row and says what it holds.
        """
        import pyarrow.compute as pc

        cells = self.column(name)
        numbers = numbers_of(cells)
        absent = np.asarray(pc.is_null(cells, nan_is_null=True).to_pylist(), np.bool_)
        self._refuse(~np.isfinite(numbers) & ~absent, name, "it is no finite number")
        return numbers

    def place(self, row: int) -> str:
        """Return what messages call a row."""
        return f"{self.subject}, {self.unit} {self.lines[row]}"

    def _refuse(self, bad: BoolArray, name: str, reason: str) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            cell = self.cells.column(name)[row].as_py()
            more = f" ({int(bad.sum()):,} such rows)" if bad.sum() > 1 else ""
            content = "empty" if cell is None else shown(cell)
            raise SchemaError(
                f"{self.place(row)}: column {shown(name)}: {reason}: {content}{more}. Correct the table."
            )


def read_table(source: Any, option: str, *, missing: Collection[str] = ()) -> OwnTable:
    r"""Return a table with columns of the user's own.

    Parameters
    ----------
    source : str, path or data frame
        A file, plain or compressed: text with the names of its columns in the first line, JSON lines or
        Parquet. Or a data frame, see `recgauge.files.frames.as_arrow`.
    option : str
        What messages call it, such as ``--users``.
    missing : collection of str
        Cells that are missing, beside empty ones, such as ``NA``.

    Raises
    ------
    DataError
        If it cannot be read, or a text file does not begin with the names of columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "users.csv")
    >>> _ = path.write_text("userId,region,age\n007,NA,31\n7,,1e1\n")
    >>> table = read_table(path, "--users")
    >>> table.ids(table.key("user")).tolist(), table.column("region").to_pylist()
    (['007', '7'], ['NA', None])
    >>> table.numbers("age").tolist()
    [31.0, 10.0]
    """
    if isinstance(missing, str):
        raise ConfigError(f"missing must be a list of cells, got {missing!r}. Write [{missing}].")
    if is_frame(source):
        cells = as_arrow(source, option)
        return OwnTable(option, cells, range(1, len(cells) + 1), missing=missing)
    (file,) = find_list_files([str(source)], option, pattern=False)
    rows = read_cells(file)
    cells = pa.table(dict(rows.further))
    if not len(cells):
        raise SchemaError(f"{file} has no rows.")
    return OwnTable(str(file), cells, rows.lines, rows.unit, missing)
