"""Chance: a random stream for each stage of a run, and numbers that depend on codes or ids alone."""

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import numpy.typing as npt

from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

Words = npt.NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio as a 64-bit fraction: the distance of successive words of SplitMix64."""


def stream(seed: int, stage: str) -> "np.random.Generator":
    """Return the generator of a stage of a run.

    Each stage draws from a stream of its own, so another model never changes the split, and another
    split never changes how a model starts.

    Parameters
    ----------
    seed : int
        The run's seed, >= 0.
    stage : str
        Name of the stage, such as ``"split"`` or ``"fit"``.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> int(stream(0, "split").integers(100)) == int(stream(0, "split").integers(100))
    True
    >>> stream(0, "split").random() == stream(0, "fit").random()
    False
    """
    return np.random.default_rng([seed, crc32(stage.encode())])


def mix(words: Words) -> Words:
    """Scramble 64-bit words; every input bit changes every output bit with probability near one half.

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
       (the finaliser of SplitMix64).

    Examples
    --------
    >>> hex(mix(np.array([GOLDEN]))[0])
    '0xe220a8397b1dcdaf'
    """
    words = words ^ (words >> np.uint64(30))  # a copy; what follows takes no more memory
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def pair_bits(key: np.uint64, users: IntArray, items: IntArray) -> Words:
    """Return 64 random bits for each pair; users and items broadcast against one another.

    Notes
    -----
    Each code is hashed with `mix`, the user's first.

    Examples
    --------
    >>> key, users, items = np.uint64(7), np.array([3, 4]), np.array([5, 5])
    >>> both = pair_bits(key, users, items)
    >>> bool(both[1] == pair_bits(key, users[1:], items[1:])[0]), bool(both[0] == both[1])
    (True, False)
    """
    return mix(user_words(key, users) + item_words(items))


def user_words(key: np.uint64, users: IntArray) -> Words:
    """Return the users' share of `pair_bits`."""
    return mix(users.astype(np.uint64) * GOLDEN + key)


def item_words(items: IntArray) -> Words:
    """Return the items' share of `pair_bits`."""
    return (items.astype(np.uint64) + np.uint64(1)) * GOLDEN


def hash_ids(column: "pa.ChunkedArray", *, as_text: bool) -> Words:
    """Return 64 bits for each id, 0 for a missing one, shape (n,): the same in every part of a table.

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
        numbers = (pc.fill_null(column, 0) if column.null_count else column).cast(pa.int64(), safe=False)
        words = mix(to_numpy(numbers).view(np.uint64) * GOLDEN + GOLDEN)
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
    eights = np.ndarray((size + 1,), "<u8", padded, strides=(1,))  # the eight bytes from each place on
    start, length = ends[:-1], np.diff(ends)
    words = mix(length.astype(np.uint64) * GOLDEN + GOLDEN)
    for first in range(0, int(length.max(initial=0)), 8):
        rows = np.flatnonzero(length > first)
        left = np.minimum(length[rows] - first, 8).astype(np.uint64)
        mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - np.uint64(8) * left)
        words[rows] = mix(words[rows] ^ (eights[start[rows] + first] & mask))
    return words
