"""Turns the id columns of one or several files into codes, keeping ids of any type as they were given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge._checks import BoolArray, IntArray
from recgauge.datasets._arrow import to_numpy
from recgauge.errors import SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

# Text is read as numbers only if that loses nothing: "007" and "7" are two ids.
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_BLOCK = 1 << 18  # rows coded at a time: numpy makes 8 bytes of each code, which should not leave the cache


@dataclass(frozen=True)
class Ids:
    """Ids of rows, in the pieces in which they were read: work on distinct ids saves passes over rows.

    Parameters
    ----------
    pieces : tuple of ndarray of int32
        A number for each row; -1 where an id is missing.
    places : tuple of ndarray of int32
        For each piece, where in `distinct` a number stands; -1 if it is no id. The last one is -1, so that
        the number -1 finds it.
    distinct : ndarray
        Text may repeat in it.
    whole : bool
        Whether all ids are whole numbers, or text that can become such without loss.
    complete : bool
        Whether every row is known to have an id.
    """

    pieces: tuple[IntArray, ...]
    places: tuple[IntArray, ...]
    distinct: npt.NDArray[Any]
    whole: bool
    complete: bool

    @property
    def n_rows(self) -> int:
        """Rows, with or without an id."""
        return sum(map(len, self.pieces))

    @property
    def present(self) -> BoolArray | None:
        """Which rows have an id; None if all have."""
        return None if self.complete else self._codes() >= 0

    def take(self, rows: BoolArray | slice) -> "Ids":
        """Return the rows of a mask, each of which has an id; or all, for a slice."""
        if isinstance(rows, slice):
            return self
        every = np.arange(-1, len(self.distinct), dtype=np.int32)
        return Ids((self._codes()[rows],), (np.roll(every, -1),), self.distinct, self.whole, complete=True)

    def _codes(self) -> IntArray:
        codes = [place[piece] for piece, place in zip(self.pieces, self.places, strict=True)]
        return joined(codes) if codes else np.empty(0, np.int32)


def read_ids(column: "pa.ChunkedArray") -> Ids:
    """Return the ids of a column; text loses the blanks around it, and empty text is no id."""
    import pyarrow as pa

    shared = not pa.types.is_dictionary(column.type)
    if shared:
        column = column.dictionary_encode().unify_dictionaries()
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    if not chunks:
        return Ids((), (), np.empty(0, np.int64), whole=True, complete=True)
    dictionaries = [chunk.dictionary for chunk in (chunks[:1] if shared else chunks)]
    values = pa.concat_arrays(dictionaries).dictionary_encode()
    place = to_numpy(_indices(values), np.int32)
    distinct, missing, whole = _distinct(values.dictionary)
    if missing.any():
        every = np.where(missing, -1, np.arange(len(distinct)))
        place = np.where(place >= 0, every[place], -1).astype(np.int32)
    ends = np.cumsum([len(dictionary) for dictionary in dictionaries])[:-1]
    places = [np.append(part, np.int32(-1)) for part in np.split(place, ends)]
    complete = not any(chunk.null_count for chunk in chunks) and bool((place >= 0).all())
    return Ids(
        tuple(to_numpy(_indices(chunk), np.int32) for chunk in chunks),
        tuple(places * len(chunks) if shared else places),
        distinct,
        whole,
        complete,
    )


def _distinct(dictionary: "pa.Array") -> tuple[npt.NDArray[Any], BoolArray, bool]:
    """Return distinct ids, which of them are none, and whether the others are whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(dictionary.type) or pa.types.is_large_string(dictionary.type)):
        distinct = dictionary.to_numpy(zero_copy_only=False)
        # Only NaN differs from itself.
        return distinct, np.asarray(distinct != distinct), distinct.dtype.kind in "iu"
    texts = pc.utf8_trim_whitespace(dictionary)
    numbers = to_numpy(pc.match_substring_regex(texts, _WHOLE).cast(pa.uint8()), np.uint8) == 1
    distinct = np.array(texts.to_pylist(), dtype=np.str_)
    missing = distinct == ""
    return distinct, missing, bool((numbers | missing).all())


def _indices(chunk: "pa.DictionaryArray") -> "pa.Array":
    import pyarrow as pa

    indices = chunk.indices.cast(pa.int32())
    return indices.fill_null(-1) if indices.null_count else indices


def joined(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return one array after the other; a single one as it is."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


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
    kinds = {"text" if column.dtype.kind == "U" else "numbers" for column in columns if len(column)}
    if len(kinds) > 1:
        raise SchemaError(
            f"Table: the {name} ids are numbers in some files and text in others, so that they cannot be "
            "matched. Make them one type."
        )
    ids, inverse = np.unique(np.concatenate(columns), return_inverse=True)
    places = np.split(inverse, np.cumsum([len(column) for column in columns])[:-1])
    used = np.zeros(len(ids), dtype=np.bool_)
    for part, where in zip(parts, places, strict=True):
        used[where[_used(part)]] = True
    code_of = np.cumsum(used, dtype=np.int32) - np.int32(1)
    codes = np.empty(sum(part.n_rows for part in parts), dtype=np.int32)
    end = 0
    for part, where in zip(parts, places, strict=True):
        code_of_place = np.append(code_of[where], np.int32(-1))
        for piece, place in zip(part.pieces, part.places, strict=True):
            code = code_of_place[place]
            for block in _blocks(piece):
                codes[end : end + len(block)] = code[block]
                end += len(block)
    return codes, ids[used]


def _used(part: Ids) -> BoolArray:
    """Return which distinct ids have rows; a dictionary may hold more."""
    used = np.zeros(len(part.distinct), dtype=np.bool_)
    for piece, place in zip(part.pieces, part.places, strict=True):
        counts = np.zeros(len(place) - 1, dtype=np.int64)
        for block in _blocks(piece):
            counts += np.bincount(block, minlength=len(counts))
        used[place[:-1][counts > 0]] = True
    return used


def _blocks(rows: IntArray) -> Iterator[IntArray]:
    return (rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK))


def _as_numbers(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if distinct.dtype.kind != "U":
        return distinct
    # Empty text is no id: the number it becomes is one that no row refers to.
    return np.where(distinct == "", "0", distinct).astype(np.int64)
