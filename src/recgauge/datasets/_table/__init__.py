"""Reads one file of a table in its format, says what was found, and joins files into interactions."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.datasets._table.columns import Roles, TextFormat, find_layout, first_line
from recgauge.datasets._table.files import EncodedFile, TableFile
from recgauge.datasets._table.formats import read_json_lines, read_parquet, read_user_lines
from recgauge.datasets._table.ids import join_ids
from recgauge.datasets._table.limits import BYTES_PER_ROW
from recgauge.datasets._table.rows import CheckedPart, Part, TimeUnit, check_part, describe_skipped
from recgauge.datasets._table.text import read_text
from recgauge.errors import SchemaError, listed, said
from recgauge.utils.memory import check_memory, memory_named
from recgauge.utils.progress import Progress

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
        None: taken from each file's ending.
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
            If the file is not of its format, or its columns cannot be recognised.
        DataError
            If it needs more memory than there is.
        """
        kind = self._format_of(file)
        size = file.size()
        n_rows = size.n_fields if kind == "user_lines" else size.n_rows
        check_memory(file, n_rows, BYTES_PER_ROW[kind])
        with memory_named(file, n_rows, BYTES_PER_ROW[kind]):
            return self._read_twice(file)

    def check_columns(self, file: TableFile) -> None:
        """Refuse a text with too many columns before anything else is done.

        Raises
        ------
        SchemaError
            If it has, or the columns of so long a first line cannot be recognised.
        """
        file = self._decoded(file)
        if self._format_of(file) in ("text", "recbole") and len(first_line(file)[1]) > file.limits.columns:
            find_layout(file, self.roles, self.text)

    def _decoded(self, file: TableFile) -> TableFile:
        if self.encoding == "utf-8":
            return file
        return EncodedFile(file.path, file.member, file.limits, self.encoding)

    def _format_of(self, file: TableFile) -> Format:
        return self.format or _BY_ENDING.get(file.ending, "text")

    def _read_twice(self, file: TableFile) -> CheckedPart:
        """Read fast, and if that shows bad rows, again in a way that can say which."""
        from pyarrow import ArrowException

        try:
            checked = check_part(self._read(file, careful=False), self.unit)
            if not checked.problems or checked.part.lines is not None or checked.part.unit == "row":
                return checked
        except MemoryError:  # Arrow's is an ArrowException, too
            raise
        except ArrowException:
            pass  # a cell or row is bad
        try:
            return check_part(self._read(file, careful=True), self.unit)
        except MemoryError:
            raise
        except ArrowException as error:
            raise SchemaError(
                f"{file} cannot be read: {said(error)}. Check dataset.format, dataset.encoding, "
                "dataset.separator and dataset.quotes."
            ) from error

    def _read(self, file: TableFile, *, careful: bool) -> Part:
        kind = self._format_of(file)
        if kind == "parquet":
            return read_parquet(file, self.roles)
        file = self._decoded(file)
        if kind == "jsonl":
            return read_json_lines(file, self.roles, careful=careful)
        if kind == "user_lines":
            return read_user_lines(file, self.text.separator)
        how = self.text
        if kind == "recbole":
            how = replace(how, separator="\t", header=True, quotes=False, atomic=True)
        return read_text(file, self.roles, how, careful=careful)


def facts_of(parts: Sequence[CheckedPart]) -> dict[str, Any]:
    """Return the columns' labels, remarks by the number of their file, and how many rows were left out."""
    remarks: list[list[int | str]] = []
    for number, checked in enumerate(parts):
        if checked.problems:
            remarks.append([number, describe_skipped(checked)])
        if checked.part.remark:
            remarks.append([number, checked.part.remark])
    return {
        "labels": dict(parts[0].part.labels),
        "remarks": remarks,
        "n_bad": sum(checked.n_bad for checked in parts),
    }


def tell(
    facts: Mapping[str, Any], files: Sequence[TableFile], rows: Interactions, name: str, progress: Progress
) -> None:
    """Say which columns were taken, so that a wrong guess is seen, and what was left out."""
    for number, remark in facts["remarks"]:
        progress.note(f"{files[number]}: {remark}.")
    labels = facts["labels"]
    texts = [f"{role} = {label}" for role, label in labels.items()]
    if "rating" in labels:
        texts.append(f"ratings from {rows.value.min():g} to {rows.value.max():g}")
    texts += [f"no {role}" for role in ("rating", "time") if role not in labels]
    progress.note(f"{name}: {', '.join(texts)}.")


def join(parts: Sequence[CheckedPart]) -> Interactions:
    """Return the good rows of all files, in order.

    Raises
    ------
    SchemaError
        If no row is left, or only some files have a rating or a time.
    """
    for role in ("rating", "time"):
        have = [str(part.part.file) for part in parts if role in part.part.columns]
        if 0 < len(have) < len(parts):
            raise SchemaError(
                f"Table: {listed(have)} has a {role} column, other files have none. Choose the columns, "
                f"or set dataset.{role}=false."
            )
    if not any(part.user.n_rows for part in parts):
        files = listed(part.part.file for part in parts)
        raise SchemaError(f"Table: no row is left of {files}. Correct dataset.path or the options.")
    with ThreadPoolExecutor(2) as threads:
        users = threads.submit(join_ids, [part.user for part in parts], "user")
        items = threads.submit(join_ids, [part.item for part in parts], "item")
    (user, user_ids), (item, item_ids) = users.result(), items.result()
    ratings = [part.rating for part in parts if part.rating is not None]
    times = [part.time for part in parts if part.time is not None]
    return Interactions(
        user,
        item,
        np.concatenate(ratings) if ratings else np.ones(len(user), np.float32),
        np.concatenate(times) if times else None,
        user_ids,
        item_ids,
    )
