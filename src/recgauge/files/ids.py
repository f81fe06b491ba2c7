"""Turns the id columns of one or several files into codes, keeping ids of any type as they were given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recgauge.errors import SchemaError
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import BoolArray, IntArray, LongArray, text_array
from recgauge.utils.grouped import encode_sorted, run_starts

# Text is read as numbers only if that loses nothing: "007" and "7" are two ids.
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
LONGEST_ID = 4096  # characters; a web address, the longest id in use, has about 2,000
_NEAR = 1 << 18  # so many numbers are never far apart
_BLOCK = 1 << 18  # rows at a time: numpy makes 8 bytes of each code that it looks up

# Why a cell is not an id, by the code that represents it.
NO_ID = {
    -1: "{} is missing",
    -2: f"{{}} is longer than {LONGEST_ID:,} characters",
    -3: "{} holds a NUL or begins with a byte order mark",
}


@dataclass(frozen=True)
class Ids:
    """The ids of rows: work on distinct ids saves passes over rows."""

    codes: IntArray  # (n_rows,) positions in `distinct`; a key of `NO_ID` where a cell is no id
    distinct: npt.NDArray[Any]  # text may repeat in it, and some may have no row
    whole: bool  # whether all ids are whole numbers, or text that can become such without loss

    def lacking(self) -> Iterator[tuple[str, BoolArray]]:
        """Yield why rows have no id, and which rows do not lack one for this reason."""
        if self.codes.min(initial=0) < 0:
            yield from ((reason, self.codes != code) for code, reason in NO_ID.items())

    def take(self, rows: BoolArray) -> "Ids":
        """Return the rows of a mask; none, if ids were not read."""
        return replace(self, codes=self.codes[rows]) if len(self.codes) else self

    def by_runs(self) -> tuple["Ids", LongArray | None]:
        """Return a row for each run of rows with one id, and how many rows each run has.

        All rows, and None, where hardly any rows with one id are side by side.
        """
        if 2 * np.count_nonzero(self.codes[1:] != self.codes[:-1]) > len(self.codes):
            return self, None
        start = run_starts(self.codes)
        return replace(self, codes=self.codes[start]), np.diff(start, append=len(self.codes))

    def texts(self) -> list[str]:
        """Return the id of each row as text."""
        return [str(text) for text in self.distinct[self.codes].tolist()]


NO_IDS = Ids(np.empty(0, np.int32), np.empty(0, np.int64), whole=True)


def read_ids(column: pa.ChunkedArray) -> Ids:
    """Return the ids of a column; text loses blanks around it, and what is empty is none."""
    if pa.types.is_integer(column.type) and (numbers := _numbers_near(column)) is not None:
        return numbers
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.cast(pa.dictionary(pa.int32(), column.type.value_type)).unify_dictionaries()
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    if not chunks:
        return NO_IDS
    codes = np.concatenate([to_numpy(filled(chunk.indices, np.int32(-1))) for chunk in chunks])
    distinct, gaps, whole = _distinct(chunks[0].dictionary)
    if gaps.any():
        codes = np.append(np.where(gaps < 0, gaps, np.arange(len(gaps), dtype=np.int32)), np.int32(-1))[codes]
    return Ids(codes, distinct, whole)


def _numbers_near(column: pa.ChunkedArray) -> Ids | None:
    """Return whole numbers as codes, by their distance from the least: no hashing; None where far apart."""
    if column.null_count or not len(column):
        return None
    chunks = [to_numpy(chunk) for chunk in column.chunks if len(chunk)]
    least, greatest = min(chunk.min() for chunk in chunks), max(chunk.max() for chunk in chunks)
    if (span := int(greatest) - int(least) + 1) > min(max(len(column), _NEAR), 1 << 31):
        return None
    codes, ends = np.empty(len(column), np.int32), np.cumsum([0, *map(len, chunks)]).tolist()
    for chunk, begin, end in zip(chunks, ends, ends[1:], strict=False):
        # what a type of 32 bits cannot hold wraps around, and the difference is right
        np.subtract(chunk, least, out=codes[begin:end], dtype=np.int32, casting="unsafe")
    return Ids(codes, np.arange(span).astype(least.dtype) + least, whole=True)


def _distinct(dictionary: pa.Array) -> tuple[npt.NDArray[Any], IntArray, bool]:
    """Return distinct ids, which are none (keys of `NO_ID`), and whether the others are whole numbers."""
    import pyarrow.compute as pc

    if pa.types.is_string_view(dictionary.type):
        dictionary = dictionary.cast(pa.large_string())
    if not (pa.types.is_string(dictionary.type) or pa.types.is_large_string(dictionary.type)):
        distinct = to_numpy(dictionary)
        gaps = -np.asarray(distinct != distinct, np.int32)  # only NaN differs from itself
        return distinct, gaps, distinct.dtype.kind in "iu"
    texts = pc.utf8_trim_whitespace(dictionary)
    gaps = np.zeros(len(texts), np.int32)
    lengths = to_numpy(pc.utf8_length(texts))
    gaps[lengths == 0] = -1
    gaps[lengths > LONGEST_ID] = -2
    gaps[_matches(texts, r"\x00|^\x{feff}")] = -3
    ids = texts.to_pylist()
    whole = _matches(texts, _WHOLE) | (gaps < 0)
    if gaps.any():
        ids = ["" if gap else text for text, gap in zip(ids, gaps.tolist(), strict=True)]
    return text_array(ids), gaps, bool(whole.all())


def _matches(texts: pa.Array, pattern: str) -> BoolArray:
    import pyarrow.compute as pc

    matches: BoolArray = to_numpy(pc.match_substring_regex(texts, pattern).cast(pa.uint8())) == 1
    return matches


def join_ids(parts: Sequence[Ids], name: str) -> tuple[list[IntArray], npt.NDArray[Any]]:
    """Return the codes of each part's rows, each with an id, and the ids that they have, ascending."""
    columns = [part.distinct for part in parts]
    if all(part.whole for part in parts):
        columns = [_as_numbers(column) for column in columns]
    kinds = {"text" if column.dtype.kind in "UO" else "numbers" for column in columns if len(column)}
    if len(kinds) > 1:
        raise SchemaError(
            f"Table: the {name} ids are numbers in some files and text in others, so that they cannot be "
            "matched. Make them one type."
        )
    ids, inverse = encode_sorted(_joined(columns, name))
    positions = np.split(inverse, np.cumsum([len(column) for column in columns])[:-1])
    used = np.zeros(len(ids), np.bool_)
    for part, position in zip(parts, positions, strict=True):
        seen = np.zeros(len(position), np.bool_)
        for rows in _blocks(part):
            seen[part.codes[rows]] = True
        used[position[seen]] = True
    code_of = np.cumsum(used, dtype=np.int32) - np.int32(1)
    codes = [_moved(part, code_of[position]) for part, position in zip(parts, positions, strict=True)]
    return codes, ids[used]


def _joined(columns: Sequence[npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    """Return all ids; of signed and unsigned numbers together numpy would make fractions."""
    filled = [column for column in columns if len(column)]
    if {column.dtype.kind for column in filled} == {"i", "u"}:
        large = max(int(column.max()) for column in filled) >= 1 << 63
        if large and min(int(column.min()) for column in filled) < 0:
            raise SchemaError(
                f"Table: some {name} ids are below 0 and others above {(1 << 63) - 1}, which no type "
                "of whole numbers holds. Store them as text."
            )
        return np.concatenate([column.astype(np.uint64 if large else np.int64) for column in filled])
    return np.concatenate(filled or columns)


def _moved(part: Ids, code: IntArray) -> IntArray:
    """Return the code of each row; those that stay as they are need no pass."""
    if np.array_equal(code, np.arange(len(code))):
        return part.codes
    codes = np.empty(len(part.codes), np.int32)
    for rows in _blocks(part):
        code.take(part.codes[rows], out=codes[rows], mode="wrap")  # which looks for no wrong positions
    return codes


def _blocks(part: Ids) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, len(part.codes), _BLOCK))


def _as_numbers(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if distinct.dtype.kind not in "UO":
        return distinct
    # Empty text is no id: the number it becomes is one that no row refers to.
    return np.where(distinct == "", "0", distinct).astype(np.int64)
