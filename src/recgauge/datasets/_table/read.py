"""Reads one file of a table in its format: fast if all is well, line by line if something is not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from recgauge.datasets._table.check import CheckedPart, check_part
from recgauge.datasets._table.encodings import EncodedFile
from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.layout import TextFormat
from recgauge.datasets._table.part import Part
from recgauge.datasets._table.roles import Roles
from recgauge.datasets._table.text import read_text
from recgauge.datasets._table.typed import read_json_lines, read_parquet
from recgauge.datasets._table.user_lines import read_user_lines
from recgauge.datasets._table.values import TimeUnit
from recgauge.errors import SchemaError, said

Format = Literal["text", "parquet", "jsonl", "recbole", "user_lines"]
FORMATS: tuple[Format, ...] = get_args(Format)

_BY_ENDING: Mapping[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".inter": "recbole",
}


@dataclass(frozen=True)
class TableReader:
    """How the files of a table are read.

    Parameters
    ----------
    format : str or None
        None: told by each file's ending.
    roles : Roles
    text : TextFormat
    unit : str
        What times count.
    encoding : str
        Of text and JSON, as `check_encoding` returns it.
    """

    format: Format | None
    roles: Roles
    text: TextFormat
    unit: TimeUnit
    encoding: str = "utf-8"

    def read(self, file: TableFile) -> CheckedPart:
        """Return the rows of a file, checked.

        Raises
        ------
        SchemaError
            If the file is not of its format, or its columns cannot be told.
        """
        from pyarrow import ArrowException

        try:
            checked = check_part(self._read(file, careful=False), self.unit)
            if not checked.problems or checked.part.lines is not None or checked.part.unit == "row":
                return checked
        except ArrowException:
            pass  # a cell or row is bad: read again, in a way that can say which
        try:
            return check_part(self._read(file, careful=True), self.unit)
        except ArrowException as error:
            raise SchemaError(
                f"{file} cannot be read: {said(error)}. Check dataset.format, dataset.encoding, "
                "dataset.separator and dataset.quotes."
            ) from error

    def _read(self, file: TableFile, *, careful: bool) -> Part:
        kind = self.format or _BY_ENDING.get(file.ending, "text")
        if kind == "parquet":
            return read_parquet(file, self.roles)
        if self.encoding != "utf-8":
            file = EncodedFile(file.path, file.member, self.encoding)
        if kind == "jsonl":
            return read_json_lines(file, self.roles, careful=careful)
        if kind == "user_lines":
            return read_user_lines(file, self.text.separator)
        how = self.text
        if kind == "recbole":
            how = replace(how, separator="\t", header=True, quotes=False, atomic=True)
        return read_text(file, self.roles, how, careful=careful)
