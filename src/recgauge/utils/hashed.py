"""Numbers that depend on an id alone: the same on every machine, in every part and in every order."""

from typing import TYPE_CHECKING

import numpy as np

from recgauge.utils.arrow import to_numpy
from recgauge.utils.randomness import GOLDEN, Words, mix

if TYPE_CHECKING:
    import pyarrow as pa


def hash_ids(column: "pa.ChunkedArray", *, as_text: bool) -> Words:
    """Return 64 bits for each id, 0 for a missing one, shape (n,).

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Whole numbers or text; blanks around text do not count.
    as_text : bool
        Whether whole numbers are hashed as their digits, where other tables write them as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers, texts = pa.chunked_array([[7, 12]]), pa.chunked_array([[" 7", "12"]])
    >>> bool((hash_ids(numbers, as_text=True) == hash_ids(texts, as_text=True)).all())
    True
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole = pa.types.is_integer(column.type)
    if whole and not as_text:
        known = (pc.fill_null(column, 0) if column.null_count else column).cast(pa.int64(), safe=False)
        words = mix(to_numpy(known).view(np.uint64) * GOLDEN + GOLDEN)
    else:
        texts = column.cast(pa.large_string())
        chunks = (pc.utf8_trim_whitespace(pc.fill_null(chunk, "")) for chunk in texts.chunks)
        words = np.concatenate([np.empty(0, np.uint64), *map(_hash_texts, chunks)])
    if column.null_count:
        words = words.copy()
        words[to_numpy(column.is_null().cast(pa.uint8())) == 1] = 0
    return words


def _hash_texts(texts: "pa.Array") -> Words:
    """Mix each text, eight bytes at a time, beginning with its length."""
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    size = 0 if content is None else content.size
    padded = np.zeros(size + 8, np.uint8)
    if size:
        padded[:size] = np.frombuffer(content, np.uint8)
    every = np.ndarray((size + 1,), "<u8", padded, strides=(1,))  # the eight bytes from each place on
    start, length = ends[:-1], np.diff(ends)
    words = mix(length.astype(np.uint64) * GOLDEN + GOLDEN)
    for first in range(0, int(length.max(initial=0)), 8):
        rows = np.flatnonzero(length > first)
        left = np.minimum(length[rows] - first, 8).astype(np.uint64)
        mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - np.uint64(8) * left)
        words[rows] = mix(words[rows] ^ (every[start[rows] + first] & mask))
    return words
