"""(user, item) pairs as numbers and as matrices: which are there, which are in two parts of a split."""

from typing import TYPE_CHECKING

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.utils.checks import BoolArray, IntArray, LongArray

if TYPE_CHECKING:
    from scipy import sparse

_SIGNIFICANT = 63  # bits of a whole number that is not negative


def pair_codes(part: Interactions) -> LongArray:
    """Return one number for each row's (user, item), shape (n,)."""
    return part.user.astype(np.int64) * part.n_items + part.item


def pairs_matrix(user: IntArray, item: IntArray, shape: tuple[int, int]) -> "sparse.csr_array":
    """Return pairs as stored entries of a matrix, item codes rising and distinct in each row."""
    from scipy import sparse  # a third of a second, which lists from files need not wait for

    code = distinct(user.astype(np.int64) * shape[1] + item)
    indptr = np.searchsorted(code, np.arange(shape[0] + 1, dtype=np.int64) * shape[1])
    ones = np.ones(len(code), np.float32)
    return sparse.csr_array((ones, (code % shape[1]).astype(np.int32), indptr), shape=shape)


def distinct(codes: LongArray) -> LongArray:
    """Return distinct codes, rising; numpy's own way is by a hash table, many times slower than a sort."""
    codes = np.sort(codes)
    first = np.ones(len(codes), np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=first[1:])
    return codes[first]


def stored(matrix: "sparse.csr_array", user: IntArray, item: IntArray) -> BoolArray:
    """Return whether each (user, item) is a stored entry of `matrix`, shape (n,)."""
    if not len(user):
        return np.zeros(0, np.bool_)
    found: BoolArray = np.asarray(_entries(matrix)[user, item])
    return found


def apart(known: "sparse.csr_array", held_out: list[Interactions]) -> bool:
    """Whether held-out parts repeat no pair, and share none with each other or with `known`."""
    before = [known]
    for part in held_out:
        matrix = part.to_csr(copy=False)
        if matrix.nnz < len(part) or any(_entries(matrix).multiply(_entries(one)).nnz for one in before):
            return False
        before.append(matrix)
    return True


def _entries(matrix: "sparse.csr_array") -> "sparse.csr_array":
    """Return where a matrix has entries, also those that are 0."""
    from scipy import sparse

    there = np.ones(len(matrix.indices), np.bool_)
    return sparse.csr_array((there, matrix.indices, matrix.indptr), shape=matrix.shape)


def sorted_pairs(user: IntArray, item: IntArray) -> tuple[LongArray, IntArray, IntArray]:
    """Return the order by user, then item, then row, as ``numpy.lexsort((item, user))`` does; and both in it.

    A row's number in the lowest bits of its pair's code makes all codes distinct, and numpy sorts whole
    numbers many times faster than it finds their order; it is also sooner to read the pairs from sorted
    codes than to gather them.
    """
    bits = [int(codes.max(initial=0)).bit_length() for codes in (user, item)]
    bits.append(len(user).bit_length())
    if sum(bits) > _SIGNIFICANT:
        order = np.lexsort((item, user))
        return order, user[order], item[order]
    tagged = (user.astype(np.int64) << (bits[1] + bits[2])) | (item.astype(np.int64) << bits[2])
    tagged |= np.arange(len(user), dtype=np.int64)
    tagged.sort()
    order = tagged & ((1 << bits[2]) - 1)
    tagged >>= bits[2]
    items = (tagged & ((1 << bits[1]) - 1)).astype(np.int32)
    tagged >>= bits[1]
    return order, tagged.astype(np.int32), items
