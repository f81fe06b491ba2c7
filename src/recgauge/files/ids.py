"""Turns the id columns of one or several files into codes, keeping ids of any type as they were given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import BoolArray, IntArray, LongArray, text_array
from recgauge.utils.grouped import run_starts

if TYPE_CHECKING:
    import pyarrow as pa

# Text is read as numbers only if that loses nothing: "007" and "7" are two ids.
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
LONGEST_ID = 4096  # characters; a web address, the longest id in use, has about 2,000
_BLOCK = 1 << 18  # rows coded at a time: numpy makes 8 bytes of each code, which should not leave the cache

# Why a cell is not an id, by the position that represents it.
NO_ID = {
    -1: "{} is missing",
    -2: f"{{}} is longer than {LONGEST_ID:,} characters",
    -3: "{} holds a NUL or begins with a byte order mark",
}


@dataclass(frozen=True)
class Ids:
    """Ids of rows, in the pieces in which they were read: work on distinct ids saves passes over rows.

    Parameters
    ----------
    pieces : tuple of ndarray of whole numbers
        A number for each row; -1 where an id is missing.
    positions : tuple of ndarray of int32
        For each piece, positions in `distinct`; if a cell is no id, a key of `NO_ID`. The last one is
        -1, so that the number -1 finds it.
    distinct : ndarray
        Text may repeat in it.
    whole : bool
        Whether all ids are whole numbers, or text that can become such without loss.
    complete : bool
        Whether every row is known to have an id.
    """

    pieces: tuple[npt.NDArray[Any], ...]
    positions: tuple[IntArray, ...]
    distinct: npt.NDArray[Any]
    whole: bool
    complete: bool

    @property
    def n_rows(self) -> int:
        """Rows, with or without an id."""
        return sum(map(len, self.pieces))

    def lacking(self) -> Iterator[tuple[str, BoolArray]]:
        """Yield why rows have no id, and which rows do not lack one for this reason."""
        if not self.complete:
            codes = self._codes()
            yield from ((reason, codes != code) for code, reason in NO_ID.items())

    def take(self, rows: BoolArray | slice) -> "Ids":
        """Return the rows of a mask, each of which has an id; or all, for a slice."""
        if isinstance(rows, slice) or not self.pieces:
            return self
        every = np.arange(-1, len(self.distinct), dtype=np.int32)
        return Ids((self._codes()[rows],), (np.roll(every, -1),), self.distinct, self.whole, complete=True)

    def by_runs(self) -> tuple["Ids", LongArray]:
        """Return a row for each run of rows with one number, and how many rows each run has."""
        firsts, lengths = [], [np.empty(0, np.int64)]
        for piece in self.pieces:
            start = run_starts(piece)
            firsts.append(piece[start])
            lengths.append(np.diff(start, append=len(piece)))
        return replace(self, pieces=tuple(firsts)), np.concatenate(lengths)

    def texts(self) -> list[str]:
        """Return the id of each row as text."""
        texts = np.append(self.distinct.astype(object), "")[self._codes()]
        return [str(text) for text in texts.tolist()]

    def _codes(self) -> IntArray:
        codes = [position[piece] for piece, position in zip(self.pieces, self.positions, strict=True)]
        return np.concatenate(codes) if codes else np.empty(0, np.int32)


NO_IDS = Ids((), (), np.empty(0, np.int64), whole=True, complete=True)


def read_ids(column: "pa.ChunkedArray") -> Ids:
    """Return the ids of a column; text loses the blanks around it, and empty text is no id."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and (found := _small_numbers(column)) is not None:
        return found
    shared = not pa.types.is_dictionary(column.type)
    if shared:
        column = column.dictionary_encode().unify_dictionaries()
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    if not chunks:
        return NO_IDS
    dictionaries = [chunk.dictionary for chunk in (chunks[:1] if shared else chunks)]
    values = pa.concat_arrays(dictionaries).dictionary_encode()
    position = _indices(values)
    distinct, gaps, whole = _distinct(values.dictionary)
    if gaps.any():
        every = np.where(gaps < 0, gaps, np.arange(len(distinct)))
        position = np.where(position >= 0, every[position], -1).astype(np.int32)
    ends = np.cumsum([len(dictionary) for dictionary in dictionaries])[:-1]
    positions = [np.append(part, np.int32(-1)) for part in np.split(position, ends)]
    complete = not any(chunk.null_count for chunk in chunks) and bool((position >= 0).all())
    return Ids(
        tuple(map(_indices, chunks)),
        tuple(positions * len(chunks) if shared else positions),
        distinct,
        whole,
        complete,
    )


def _small_numbers(column: "pa.ChunkedArray") -> Ids | None:
    """Return whole numbers as their own positions: no hashing; None where they are missing or far apart."""
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks if len(chunk) and not chunk.null_count]
    if sum(map(len, chunks)) < len(column) or not chunks:
        return None
    # numbers below 0 become the largest: one pass finds both ends
    kind = chunks[0].dtype
    n_positions = int(max(chunk.view(f"u{kind.itemsize}").max() for chunk in chunks)) + 1
    if n_positions > min(len(column), np.iinfo(np.int32).max, np.iinfo(kind.name).max + 1):
        return None
    position = np.append(np.arange(n_positions, dtype=np.int32), np.int32(-1))
    distinct = np.arange(n_positions, dtype=chunks[0].dtype)
    return Ids(tuple(chunks), (position,) * len(chunks), distinct, whole=True, complete=True)


def _distinct(dictionary: "pa.Array") -> tuple[npt.NDArray[Any], IntArray, bool]:
    """Return distinct ids, which are none (keys of `NO_ID`), and whether the others are whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string_view(dictionary.type):
        dictionary = dictionary.cast(pa.large_string())
    if not (pa.types.is_string(dictionary.type) or pa.types.is_large_string(dictionary.type)):
        distinct = to_numpy(dictionary)
        # Only NaN differs from itself.
        return distinct, -np.asarray(distinct != distinct, np.int32), distinct.dtype.kind in "iu"
    texts = pc.utf8_trim_whitespace(dictionary)
    gaps = np.zeros(len(texts), np.int32)
    lengths = to_numpy(pc.utf8_length(texts))
    for code, found in (
        (-1, lengths == 0),
        (-2, lengths > LONGEST_ID),
        (-3, _matches(texts, r"\x00|^\x{feff}")),
    ):
        gaps[found] = code
    whole = _matches(texts, _WHOLE) | (gaps < 0)
    ids = texts.to_pylist()
    if gaps.any():
        ids = ["" if gap else text for text, gap in zip(ids, gaps.tolist(), strict=True)]
    return text_array(ids), gaps, bool(whole.all())


def _matches(texts: "pa.Array", pattern: str) -> BoolArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    matches: BoolArray = to_numpy(pc.match_substring_regex(texts, pattern).cast(pa.uint8())) == 1
    return matches


def _indices(chunk: "pa.DictionaryArray") -> IntArray:
    import pyarrow as pa

    positions: IntArray = to_numpy(filled(chunk.indices.cast(pa.int32()), np.int32(-1)))
    return positions


def join_ids(parts: Sequence[Ids], name: str) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return the codes of the rows of all parts, and the ids that these rows have, ascending.

    Parameters
    ----------
    parts : sequence of Ids
        One for each file; every row has an id.
    name : str
        What the ids are, for errors.

    Returns
    -------
    codes : ndarray of int32, shape (n_rows,)
    ids : ndarray, shape (n_ids,)
        Whole numbers if all text can be written so without loss.

    Raises
    ------
    SchemaError
        If some files have numbers and others text.
    """
    columns = [part.distinct for part in parts]
    if all(part.whole for part in parts):
        columns = [_as_numbers(column) for column in columns]
    kinds = {"text" if column.dtype.kind in "UO" else "numbers" for column in columns if len(column)}
    if len(kinds) > 1:
        raise SchemaError(
            f"Table: the {name} ids are numbers in some files and text in others, so that they cannot be "
            "matched. Make them one type."
        )
    ids, inverse = np.unique(np.concatenate(columns), return_inverse=True)
    positions = np.split(inverse, np.cumsum([len(column) for column in columns])[:-1])
    used = np.zeros(len(ids), dtype=np.bool_)
    for part, where in zip(parts, positions, strict=True):
        used[where[_used(part)]] = True
    code_of = np.cumsum(used, dtype=np.int32) - np.int32(1)
    codes = np.empty(sum(part.n_rows for part in parts), dtype=np.int32)
    end = 0
    for part, where in zip(parts, positions, strict=True):
        code_of_position = np.append(code_of[where], np.int32(-1))
        for piece, position in zip(part.pieces, part.positions, strict=True):
            code = code_of_position[position]
            for block in _blocks(piece):
                # "wrap" reads -1 as the last one, and needs no pass that looks for wrong positions
                code.take(block, out=codes[end : end + len(block)], mode="wrap")
                end += len(block)
    return codes, ids[used]


def _used(part: Ids) -> BoolArray:
    """Return which distinct ids have rows; a dictionary may hold more."""
    used = np.zeros(len(part.distinct), dtype=np.bool_)
    for piece, position in zip(part.pieces, part.positions, strict=True):
        has_rows = np.zeros(len(position), dtype=np.bool_)
        for block in _blocks(piece):
            has_rows[block] = True
        used[position[:-1][has_rows[:-1]]] = True
    return used


def _blocks(rows: IntArray) -> Iterator[IntArray]:
    return (rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK))


def _as_numbers(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if distinct.dtype.kind not in "UO":
        return distinct
    # Empty text is no id: the number it becomes is one that no row refers to.
    return np.where(distinct == "", "0", distinct).astype(np.int64)
