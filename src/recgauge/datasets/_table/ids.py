"""Turns the id columns of one or several files into codes, keeping ids of any type as they were given."""

from collections.abc import Sequence
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
    """Ids of rows: positions in `distinct`, -1 where an id is missing. Text in `distinct` may repeat.

    `whole` tells whether all ids are whole numbers, or text that can become such without loss.
    """

    codes: IntArray
    distinct: npt.NDArray[Any]
    whole: bool

    def take(self, rows: BoolArray | slice) -> "Ids":
        """Return the chosen rows."""
        return Ids(self.codes[rows], self.distinct, self.whole)

    @property
    def present(self) -> BoolArray | None:
        """Which rows have an id; None if all have."""
        return None if not len(self.codes) or self.codes.min() >= 0 else self.codes >= 0


def read_ids(column: "pa.ChunkedArray") -> Ids:
    """Return the ids of a column; text loses the blanks around it, and empty text is no id."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return Ids(np.empty(0, np.int32), np.empty(0, np.int64), whole=True)
    codes = joined([to_numpy(_indices(chunk), np.int32) for chunk in column.chunks])
    distinct = column.chunk(0).dictionary
    if pa.types.is_string(distinct.type) or pa.types.is_large_string(distinct.type):
        texts = pc.utf8_trim_whitespace(distinct)
        numbers = to_numpy(pc.match_substring_regex(texts, _WHOLE).cast(pa.uint8()), np.uint8) == 1
        distinct = np.array(texts.to_pylist(), dtype=np.str_)
        missing = distinct == ""
        whole = bool((numbers | missing).all())
    else:
        distinct = distinct.to_numpy(zero_copy_only=False)
        missing = distinct != distinct  # only NaN differs from itself
        whole = distinct.dtype.kind in "iu"
    if missing.any():
        codes = np.where(codes >= 0, np.where(missing, -1, np.arange(len(distinct)))[codes], -1)
    return Ids(codes.astype(np.int32, copy=False), distinct, whole)


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
    ids, place = np.unique(np.concatenate(columns), return_inverse=True)
    places = np.split(place, np.cumsum([len(column) for column in columns])[:-1])
    used = np.zeros(len(ids), dtype=np.bool_)
    for part, where in zip(parts, places, strict=True):
        used[where[_used(part)]] = True
    code_of = np.cumsum(used, dtype=np.int32) - np.int32(1)
    # One pass over the rows: what their ids become is found out for the distinct ids before.
    codes = np.empty(sum(len(part.codes) for part in parts), dtype=np.int32)
    end = 0
    for part, where in zip(parts, places, strict=True):
        codes_of_part = code_of[where]
        for start in range(0, len(part.codes), _BLOCK):
            block = part.codes[start : start + _BLOCK]
            codes[end : end + len(block)] = codes_of_part[block]
            end += len(block)
    return codes, ids[used]


def _used(part: Ids) -> BoolArray:
    """Return which distinct ids have rows; a dictionary may hold more."""
    counts = np.zeros(len(part.distinct), dtype=np.int64)
    for start in range(0, len(part.codes), _BLOCK):
        counts += np.bincount(part.codes[start : start + _BLOCK], minlength=len(counts))
    return counts > 0


def _as_numbers(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if distinct.dtype.kind != "U":
        return distinct
    # Empty text is no id: the number it becomes is one that no row refers to.
    return np.where(distinct == "", "0", distinct).astype(np.int64)
