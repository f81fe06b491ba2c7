"""Reads JSON lines: fast with Arrow, or line by line where Arrow cannot, or would end the process."""

import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recgauge.errors import SchemaError, shortened
from recgauge.files.columns import Role, Wanted
from recgauge.files.limits import BLOCK
from recgauge.files.opening import TableFile, lines_read
from recgauge.files.rows import Lines, Part, Problem
from recgauge.files.text import TextFormat, not_utf8
from recgauge.utils.arrow import cells_to_arrow
from recgauge.utils.checks import shown

if TYPE_CHECKING:
    import pyarrow as pa

_LINES_LOOKED_AT = 20_000  # for their names: twice as many as columns may be
MOST = 500
"""Brackets that may be open at once in a line; Arrow's parser ends the process somewhere above 10,000."""


def read_json_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, careful: bool) -> Part:  # noqa: ARG001 - a format
    """Return the rows of a file that holds one JSON object per line.

    Raises
    ------
    SchemaError
        If a field is absent, or mixes numbers and texts where that is not wanted.
    pyarrow.ArrowInvalid
        If a line is broken.
    """
    if careful:
        return _read_line_by_line(file, wanted)
    _check_names(file)
    import pyarrow as pa
    from pyarrow import json as arrow_json

    with file.open() as stream:
        table = arrow_json.read_json(io.BufferedReader(_Shallow(stream), BLOCK))
        n_lines = lines_read(stream)
    file.limits.check_columns(table.num_columns, file)
    positions = wanted.by_name(table.column_names, str(file))
    labels = {role: table.column_names[position] for role, position in positions.items()}
    columns = {role: table.column(label) for role, label in labels.items()}

    def plain(kind: "pa.DataType") -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_null(kind))

    if (
        not all(plain(columns[role].type) for role in ("user", "item") if role in columns)
        or "items" in columns
    ):
        # Arrow takes text that looks like a date for one, and whole numbers that are too large for fractions.
        return _read_line_by_line(file, wanted)
    return Part(file, columns, labels, range(1, n_lines + 1) if n_lines == len(table) else None)


def _check_names(file: TableFile) -> None:
    """Refuse a file whose first lines have too many names; Arrow would make a column of each."""
    names: set[str] = set()
    for number, text in _lines(file):
        with suppress(ValueError):
            names.update(_object(text))
        file.limits.check_columns(len(names), file)
        if number >= _LINES_LOOKED_AT:
            return


def _read_line_by_line(file: TableFile, wanted: Wanted) -> Part:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    broken: dict[str, list[tuple[int, str]]] = {}
    for number, text in _lines(file):
        try:
            rows.append(_object(text))
            lines.append(number)
        except UnicodeDecodeError as error:
            raise not_utf8(file, number, text) from error
        except ValueError as error:
            example = shortened(text.decode("utf-8", "replace").strip(), 60)
            broken.setdefault(str(error), []).append((number, example))
    problems = tuple(
        Problem(reason, np.array([number for number, _ in found], dtype=np.int64), found[0][1])
        for reason, found in broken.items()
    )
    if not rows:
        first = min(problems, key=lambda problem: int(problem.lines[0]), default=None)
        if first is None:
            raise SchemaError(f"{file} is empty. Name a file with rows.")
        raise SchemaError(
            f"{file}, line {first.lines[0]}: no line is a JSON object that can be read: {first.reason}: "
            f"{first.example}. Write one object per line, without brackets and commas around them, or name "
            "the format of the file."
        )
    names = list(dict.fromkeys(name for row in rows for name in row))
    file.limits.check_columns(len(names), file)
    labels = {role: names[position] for role, position in wanted.by_name(names, str(file)).items()}
    columns: dict[Role, Any] = {role: [row.get(label) for row in rows] for role, label in labels.items()}
    for role in {*columns} - {"items", "scores"}:
        ids = role in ("user", "item")
        cells = columns[role]
        columns[role] = as_ids(cells, file, lines, role, mixed=wanted.mixed_ids) if ids else as_texts(cells)
    return Part(file, columns, labels, np.array(lines, dtype=np.int64), broken=problems)


def _object(text: bytes) -> dict[str, Any]:
    """Return the object of a line, or raise a ValueError that says why it is missing."""
    try:
        row = json.loads(text)
    except UnicodeDecodeError:
        raise
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError("the line is no JSON object")
    if b"\\u" in text:
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError(
                "the line is no JSON object: it has half of a character (a lone surrogate)"
            ) from None
    return row


def _lines(file: TableFile) -> Iterator[tuple[int, bytes]]:
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf")


def as_texts(cells: Sequence[Any]) -> "pa.ChunkedArray":
    """Return cells as text; the checks say which of them are no numbers or times."""
    import pyarrow as pa

    return pa.chunked_array([cells_to_arrow([None if cell is None else str(cell) for cell in cells])])


def as_ids(
    cells: Sequence[Any], file: TableFile, lines: "Lines | Sequence[int]", role: Role, *, mixed: bool
) -> "pa.ChunkedArray":
    """Return cells as ids; `mixed`: numbers become text where there is text.

    Raises
    ------
    SchemaError
        If one is neither a whole number nor text, or of another type than the others.
    """
    import pyarrow as pa

    kinds = Counter(type(cell).__name__ for cell in cells if cell is not None)
    odd_kinds = set(kinds) - {"int", "str"}
    if odd_kinds or (len(kinds) > 1 and not mixed):
        usual = next((kind for kind, _ in kinds.most_common() if kind in ("int", "str")), "int")
        fine = ("int", "str") if mixed else (usual,)
        odd = next(n for n, cell in enumerate(cells) if cell is not None and type(cell).__name__ not in fine)
        raise SchemaError(
            f"{file}, line {lines[odd]}: the {role} must be whole numbers everywhere or text everywhere, got "
            f"{', '.join(sorted(kinds))}; this line is the first with {type(cells[odd]).__name__}. "
            "Make them one type."
        )
    too_large = (n for n, cell in enumerate(cells) if isinstance(cell, int) and not -(2**63) <= cell < 2**63)
    odd = next(too_large, -1)
    if len(kinds) > 1 or (odd >= 0 and mixed):
        return as_texts(cells)
    if odd >= 0:
        raise SchemaError(
            f"{file}, line {lines[odd]}: the {role} {shown(cells[odd])} is not in -2**63..2**63 - 1. "
            "Write such ids as text, in quotes, on every line."
        )
    return pa.chunked_array([cells_to_arrow(cells)])


class _Shallow(io.RawIOBase):
    """Hands bytes on, and raises a pyarrow.ArrowInvalid at a line of JSON that is nested too deeply.

    Brackets in texts count, too: such a file may be refused here and must then be read in another way.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._depth = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        if block:
            self._check(np.frombuffer(block, np.uint8))
        return len(block)

    def _check(self, signs: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
        import pyarrow as pa

        folded = signs | 32  # makes { of [ and } of ]
        steps = (folded == ord("{")).view(np.int8) - (folded == ord("}")).view(np.int8)
        depth = np.cumsum(steps, dtype=np.int32) + self._depth
        ends = np.flatnonzero(signs == ord("\n"))
        before = np.concatenate(([0], depth[ends]))  # what is open where a line begins, in text perhaps
        highest = np.maximum.reduceat(depth, np.concatenate(([0], ends)))
        if (highest - before).max() > MOST:
            raise pa.ArrowInvalid("nested too deeply")
        self._depth = int(depth[-1] - before[-1])
