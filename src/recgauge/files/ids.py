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


NO_IDS = Ids(np.empty(0, np.int32), np.empty(0, np.int64), whole=True)


def read_ids(column: pa.ChunkedArray) -> Ids:
    """Return the ids of a column; text loses blanks around it, and what is empty is none."""
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


def _distinct(dictionary: pa.Array) -> tuple[npt.NDArray[Any], IntArray, bool]:
    """Return distinct ids, which are none (keys of `NO_ID`), and whether the others are whole numbers."""
    import pyarrow.compute as pc

    gaps = np.zeros(len(dictionary), np.int32)
    if pa.types.is_integer(dictionary.type):
        numbers = to_numpy(dictionary)
        if not len(numbers) or int(numbers.max()) < 1 << 63:
            return numbers.astype(np.int64), gaps, True
    texts = pc.utf8_trim_whitespace(dictionary.cast(pa.large_string()))
    lengths = to_numpy(pc.utf8_length(texts))
    gaps[lengths == 0] = -1
    gaps[lengths > LONGEST_ID] = -2
    gaps[_matches(texts, r"\x00|^\x{feff}")] = -3
    ids = ["" if gap else text for text, gap in zip(texts.to_pylist(), gaps.tolist(), strict=True)]
    return text_array(ids), gaps, bool((_matches(texts, _WHOLE) | (gaps < 0)).all())


def _matches(texts: pa.Array, pattern: str) -> BoolArray:
    import pyarrow.compute as pc

    matches: BoolArray = to_numpy(pc.match_substring_regex(texts, pattern).cast(pa.uint8())) == 1
    return matches


def join_ids(parts: Sequence[Ids], name: str) -> tuple[list[IntArray], npt.NDArray[Any]]:
    """Return the codes of each part's rows, each with an id, and the ids that they have, ascending."""
    columns = [part.distinct for part in parts]
    if all(part.whole for part in parts):
        columns = [_as_numbers(column) for column in columns]
    filled_columns = [column for column in columns if len(column)]
    if len({column.dtype.kind in "UO" for column in filled_columns}) > 1:
        raise SchemaError(
            f"Table: the {name} ids are numbers in some files and text in others, so that they cannot be "
            "matched. Make them one type."
        )
    ids, inverse = encode_sorted(np.concatenate(filled_columns or columns))
    positions = np.split(inverse, np.cumsum([len(column) for column in columns])[:-1])
    used = np.zeros(len(ids), np.bool_)
    for part, position in zip(parts, positions, strict=True):
        used[position[np.bincount(part.codes, minlength=len(position)) > 0]] = True
    code_of = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return [code_of[at][part.codes] for part, at in zip(parts, positions, strict=True)], ids[used]


def _as_numbers(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if distinct.dtype.kind not in "UO":
        return distinct
    # Empty text is no id: the number it becomes is one that no row refers to.
    return np.where(distinct == "", "0", distinct).astype(np.int64)
