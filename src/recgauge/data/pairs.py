"""(user, item) pairs as numbers and as matrices: which are there, which are in two parts of a split."""

from typing import TYPE_CHECKING

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray, IntArray, LongArray
from recgauge.utils.grouped import TABLE, shared

if TYPE_CHECKING:
    from scipy import sparse

_REMEDY = "Let one row of each pair stay, with filters=[duplicates], or remove them from the data."
_BITS = 2  # a part's number takes the lowest bits of a pair's code
_ROWS_A_TABLE = 1000  # fewer are sorted or bisected sooner
_FEW = 16  # entries of a matrix for each pair that is looked up; with more, bisecting is sooner
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
    """Return whether each (user, item) is a stored entry of `matrix`, shape (n,).

    Rising users with many entries are looked up in tables of a few users at a time; otherwise the rows of all
    pairs are bisected at once, which beats sorting twenty million entries.
    """
    many = matrix.nnz < _FEW * len(user) and tables_pay(matrix.shape, matrix.nnz)
    if many and not (user[1:] < user[:-1]).any():
        start = np.searchsorted(user, np.arange(matrix.shape[0] + 1))
        return shared(start, item, matrix.indptr.astype(np.int64), matrix.indices, matrix.shape[1])
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    if matrix.nnz == 0:
        return np.zeros(len(user), np.bool_)
    indptr = matrix.indptr.astype(np.int64)
    low, high = indptr[user], indptr[np.add(user, 1)]
    end, last = high, matrix.nnz - 1
    while (searching := low < high).any():
        middle = (low + high) >> 1
        below = matrix.indices[np.minimum(middle, last)] < item
        low = np.where(searching & below, middle + 1, low)
        high = np.where(searching & ~below, middle, high)
    found: BoolArray = (low < end) & (matrix.indices[np.minimum(low, last)] == item)
    return found


def tables_pay(shape: tuple[int, int], n_rows: int) -> bool:
    """Whether there are rows enough to look pairs up in tables of a few users and all items at a time."""
    return n_rows >= shape[0] * shape[1] // TABLE * _ROWS_A_TABLE


def apart(known: "sparse.csr_array", held_out: list[Interactions]) -> bool:
    """Whether held-out parts repeat no pair, and share none with each other or with `known`.

    As `held_out_repeat` with another answer, by tables of a few users at a time, without a sort.
    """
    before = [(known.indptr.astype(np.int64), known.indices)]
    for part in held_out:
        matrix = part.to_csr()
        pairs = matrix.indptr.astype(np.int64), matrix.indices
        if matrix.nnz < len(part) or any(shared(*pairs, *other, part.n_items).any() for other in before):
            return False
        before.append(pairs)
    return True


def held_out_repeat(known: list[Interactions], held_out: list[Interactions]) -> bool:
    """Whether held-out parts (at most three) repeat a pair, or share one with each other or with `known`.

    One sort of all pairs, which is vectorised, so a split that is as it should be is known to be soon.
    """
    tagged = np.concatenate(
        [pair_codes(part) << _BITS for part in known]
        + [pair_codes(part) << _BITS | number for number, part in enumerate(held_out, start=1)]
    )
    tagged.sort()
    # Neighbours that differ in a part's number at most have one pair; only training rows may repeat one.
    same = (tagged[1:] ^ tagged[:-1]) >> _BITS == 0
    return bool((tagged[1:][same] & ((1 << _BITS) - 1)).any())


def order_of_pairs(user: IntArray, item: IntArray) -> LongArray:
    """Return the order by user, then item, then row; what ``numpy.lexsort((item, user))`` gives, sooner."""
    return sorted_pairs(user, item)[0]


def sorted_pairs(user: IntArray, item: IntArray) -> tuple[LongArray, IntArray, IntArray]:
    """Return the order by user, then item, then row, and both in this order.

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


def check_pairs(name: str, known: list[Interactions], held_out: dict[str, Interactions]) -> None:
    """Refuse held-out parts that repeat a pair, or share one with each other or with what models know.

    `name` is the split's, for messages; `known` are training rows and the like, which may repeat pairs, and
    `held_out` at most three parts by name.
    """
    if held_out_repeat(known, list(held_out.values())):
        _refuse(name, known, held_out)


def _refuse(name: str, known: list[Interactions], held_out: dict[str, Interactions]) -> None:
    before = {"train": np.concatenate([pair_codes(part) for part in known])}
    for part_name, part in held_out.items():
        pairs = pair_codes(part)
        n_repeated = len(pairs) - len(np.unique(pairs))
        if n_repeated:
            raise SchemaError(f"Split {name}: {part_name} repeats {n_repeated} (user, item) pairs. {_REMEDY}")
        for other, seen in before.items():
            n_shared = int(np.isin(pairs, seen).sum())
            if n_shared:
                raise SchemaError(
                    f"Split {name}: {n_shared} (user, item) pairs of {part_name} are in {other} too. "
                    f"{_REMEDY}"
                )
        before[part_name] = pairs
