"""Reads one file of a table in its format, says what was found, and joins files into interactions."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.datasets._table.columns import Roles, TextFormat
from recgauge.datasets._table.files import EncodedFile, TableFile
from recgauge.datasets._table.formats import read_json_lines, read_parquet, read_user_lines
from recgauge.datasets._table.ids import join_ids
from recgauge.datasets._table.rows import CheckedPart, Part, TimeUnit, check_part, describe_skipped
from recgauge.datasets._table.text import read_text
from recgauge.errors import SchemaError, listed, said
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
