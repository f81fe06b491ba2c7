"""The table that everything starts from, who interacted with what, and its (user, item) pairs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge.data.columns import aligned, numbers
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.errors import SchemaError, listed
from recgauge.files.columns import LATEST
from recgauge.utils.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LongArray,
    frozen,
    read_only,
    shown,
    text_array,
)
from recgauge.utils.grouped import encode_sorted

if TYPE_CHECKING:
    from scipy import sparse

_SIGNIFICANT = 63  # bits of a whole number that is not negative


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A further column of rows as codes, such as the kind of an event or the session of a row.

    Parameters
    ----------
    codes : ndarray of int32, shape (n,)
        Positions in `names`.
    names : ndarray, shape (n_names,)
        What the column holds, each once, as the publisher writes it.

    Examples
    --------
    >>> Attribute.of(["view", "cart", "view"]).names.tolist()
    ['cart', 'view']
    """

    codes: IntArray
    names: npt.NDArray[Any]

    @classmethod
    def of(cls, column: npt.ArrayLike) -> "Attribute":
        """Return a column of texts or whole numbers, shape (n,), as codes."""
        names, (codes,) = encode([_id_array("attribute", column)], in_order=False)
        return cls(codes, names)

    def take(self, rows: BoolArray | LongArray) -> "Attribute":
        """Return the chosen rows (a mask or positions)."""
        return Attribute(read_only(self.codes[rows]), self.names)


@dataclass(frozen=True, slots=True, eq=False)
class Interactions:
    """Rows of (user, item, value, time), with users and items as codes into arrays of ids.

    Parameters
    ----------
    user, item : ndarray of int32, shape (n,)
        Codes: positions in `user_ids` and `item_ids`.
    value : ndarray of float32, shape (n,)
        The rating, or 1 for implicit feedback; finite.
    timestamp : ndarray of int64, shape (n,), or None
        Seconds since 1970-01-01 UTC.
    user_ids, item_ids : ndarray, shape (n_users,) and (n_items,)
        The publisher's ids. Every part of a split shares these arrays, so codes mean the same everywhere;
        an id may have no row in a part.
    attributes : mapping of str to Attribute
        Further columns of the rows that a filter or a split needs, by name.

    Raises
    ------
    SchemaError
        If columns differ in length, a code is out of range or a value is not finite.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["ann", "bob", "ann"], [10, 10, 30], [4.0, 3.5, 5.0])
    >>> ratings.n_users, ratings.n_items, len(ratings)
    (2, 2, 3)
    """

    user: IntArray
    item: IntArray
    value: FloatArray
    timestamp: LongArray | None
    user_ids: npt.NDArray[Any]
    item_ids: npt.NDArray[Any]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    _computed: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        kinds: dict[str, tuple[type[np.generic], str]] = {
            "user": (np.int32, "iu"),
            "item": (np.int32, "iu"),
            "value": (np.float32, "iufb"),
            "timestamp": (np.int64, "iu"),
        }
        for name, (dtype, kind) in kinds.items():
            if getattr(self, name) is None:
                continue
            column = np.asarray(getattr(self, name))
            if column.dtype.kind not in kind:  # numpy would turn texts and fractions into numbers
                numbers = "numbers" if name == "value" else "whole numbers"
                raise SchemaError(
                    f"Interactions: {name} must hold {numbers}, got {column.dtype}; see from_ids."
                )
            self._check_length(name, column)
            object.__setattr__(self, name, frozen(column, dtype))
        for name, attribute in self.attributes.items():
            self._check_length(name, attribute.codes)
        for name, codes in (("user", self.user), ("item", self.item)):
            ids = np.asarray(getattr(self, f"{name}_ids"))
            object.__setattr__(self, f"{name}_ids", read_only(ids))
            if len(codes) and (codes.min() < 0 or codes.max() >= len(ids)):
                raise SchemaError(
                    f"Interactions: {name} codes must be in 0..{len(ids) - 1} (positions in {name}_ids), "
                    f"got {codes.min()}..{codes.max()}."
                )
        if not np.isfinite(self.value).all():
            row = int(np.flatnonzero(~np.isfinite(self.value))[0])
            raise SchemaError(f"Interactions: value must be finite, got {self.value[row]} in row {row}.")

    def _check_length(self, name: str, column: npt.NDArray[Any]) -> None:
        if column.shape != (len(self.user),):
            raise SchemaError(
                f"Interactions: column {name!r} must have shape ({len(self.user)},) like 'user', got "
                f"{column.shape}."
            )

    @classmethod
    def from_ids(
        cls,
        user_ids: npt.ArrayLike,
        item_ids: npt.ArrayLike,
        value: npt.ArrayLike | None = None,
        timestamp: npt.ArrayLike | None = None,
        attributes: Mapping[str, npt.ArrayLike] | None = None,
    ) -> "Interactions":
        """Build interactions from ids of any sortable type; codes follow the sorted ids.

        Parameters
        ----------
        user_ids, item_ids : array-like, shape (n,)
            Ids, one per row: whole numbers or text.
        value : array-like of float, shape (n,), optional
            Ratings; 1 everywhere if left out.
        timestamp : array-like, shape (n,), optional
            Whole seconds since 1970-01-01 UTC, or times of NumPy or pandas that are whole seconds.
        attributes : mapping of str to array-like, shape (n,), optional
            Further columns by name, texts or whole numbers.

        Returns
        -------
        Interactions

        Raises
        ------
        SchemaError
            If columns differ in length, or are Series with different indexes; an id is missing or no id; a
            value is no finite number; or times are missing, no whole seconds or beyond the year 2100.

        Notes
        -----
        Series are aligned by their indexes, which must hold the same labels.
        """
        named = {"user": user_ids, "item": item_ids, "value": value, "timestamp": timestamp}
        named |= {f"attribute {name}": column for name, column in (attributes or {}).items()}
        columns = aligned({name: column for name, column in named.items() if column is not None})
        ids = {name: _id_array(name, columns[name]) for name in ("user", "item")}
        lengths = {name: np.shape(column)[:1] for name, column in {**columns, **ids}.items()}
        if len(set(lengths.values())) > 1:
            sizes = ", ".join(f"{name} {length[0]:,}" for name, length in lengths.items() if length)
            raise SchemaError(f"Interactions: columns must have one length, got {sizes} rows.")
        coded = {name: _encoded(name, column) for name, column in ids.items()}
        (users, user), (items, item) = coded["user"], coded["item"]
        values = np.ones(len(user), np.float32)
        if value is not None:
            values = numbers("Interactions: value", columns["value"]).astype(np.float32)
        times = None if timestamp is None else _seconds(columns["timestamp"])
        further = {name: Attribute.of(columns[f"attribute {name}"]) for name in attributes or {}}
        return cls(user, item, values, times, users, items, further)

    @property
    def n_users(self) -> int:
        """Number of user ids, with or without rows."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of item ids, with or without rows."""
        return len(self.item_ids)

    def __len__(self) -> int:
        return len(self.user)

    @property
    def counts(self) -> str:
        """How many rows, users and items there are, in words."""
        return f"{len(self):,} rows, {self.n_users:,} users, {self.n_items:,} items"

    def __repr__(self) -> str:
        """Return the counts, in one line."""
        return f"Interactions({self.counts}{'' if self.timestamp is None else ', with times'})"

    def take(self, rows: BoolArray | LongArray) -> "Interactions":
        """Return the chosen rows (a mask or positions), in their order, over the same ids."""
        if rows.dtype == np.bool_ and len(rows) == len(self):
            rows = np.flatnonzero(rows)  # numpy takes positions in half the time of a mask
        columns = self.user[rows], self.item[rows], self.value[rows]
        times = None if self.timestamp is None else self.timestamp[rows]
        attributes = {name: attribute.take(rows) for name, attribute in self.attributes.items()}
        return Interactions(*columns, times, self.user_ids, self.item_ids, attributes)

    def followed_by(self, other: "Interactions") -> "Interactions":
        """Return these rows and then those of `other`, which is over the same ids.

        Raises
        ------
        SchemaError
            If only one of the two has timestamps.
        """
        if (self.timestamp is None) != (other.timestamp is None):
            raise SchemaError("Interactions: rows with and without timestamps cannot be joined.")
        return Interactions(
            np.concatenate([self.user, other.user]),
            np.concatenate([self.item, other.item]),
            np.concatenate([self.value, other.value]),
            None
            if self.timestamp is None or other.timestamp is None
            else np.concatenate([self.timestamp, other.timestamp]),
            self.user_ids,
            self.item_ids,
        )

    def with_users(self, user_ids: IdArray, user: IntArray | None = None) -> "Interactions":
        """Return the rows over other user ids, with other user codes if these are given."""
        codes = self.user if user is None else user
        return Interactions(codes, self.item, self.value, self.timestamp, user_ids, self.item_ids)

    def attribute(self, name: str, subject: str) -> Attribute:
        """Return a further column of the rows; `subject` needs it, for the message where it is missing.

        Raises
        ------
        SchemaError
            If the rows do not have it.
        """
        if name not in self.attributes:
            raise SchemaError(
                f"{subject}: the rows have no column {shown(name)}; only tables of your own (dataset=table) "
                "bring further columns. Name one of its columns."
            )
        return self.attributes[name]

    def user_counts(self) -> LongArray:
        """Rows of each user, shape (n_users,); read-only."""
        return self._counts("user", self.n_users)

    def item_counts(self) -> LongArray:
        """Rows of each item, shape (n_items,); read-only."""
        return self._counts("item", self.n_items)

    def _counts(self, name: str, n_ids: int) -> LongArray:
        """Count the rows of each code, once for a table."""
        if name not in self._computed:
            self._computed[name] = read_only(np.bincount(getattr(self, name), minlength=n_ids))
        of_codes: LongArray = self._computed[name]
        return of_codes

    def pairs_rise(self) -> bool:
        """Whether every row has a later (user, item) pair than the row before; then none repeats.

        Examples
        --------
        >>> Interactions.from_ids([1, 1, 2], [1, 3, 2]).pairs_rise()
        True
        """
        if "pairs rise" not in self._computed:
            self._computed["pairs rise"] = rise(self.user, self.item)
        return bool(self._computed["pairs rise"])

    def sha256(self) -> str:
        """Return the digest of the rows, in their order, and of the ids that their codes represent."""
        digest = sha256()
        for column in (self.user, self.item, self.value, self.timestamp):
            digest.update(b"" if column is None else column.data)
        for ids in (self.user_ids, self.item_ids):
            digest.update("\n".join(map(str, ids.tolist())).encode())
        return digest.hexdigest()

    def to_csr(self, *, copy: bool = True) -> "sparse.csr_array":
        """Return the values as a CSR matrix (n_users, n_items) float32; repeated pairs are summed.

        Column codes ascend inside each row. Without `copy`, its arrays may be columns of the table, which are
        read-only.
        """
        from scipy import sparse  # half a second of start-up

        shape = (self.n_users, self.n_items)
        if self.pairs_rise() and len(self) <= np.iinfo(np.int32).max:
            start = np.concatenate(([0], np.cumsum(self.user_counts()))).astype(np.int32)
            entries = (self.value.copy(), self.item.copy()) if copy else (self.value, self.item)
            return sparse.csr_array((*entries, start), shape=shape)
        matrix = sparse.coo_array((self.value, (self.user, self.item)), shape=shape).tocsr()
        matrix.sum_duplicates()
        return matrix


def rise(user: IntArray, item: IntArray) -> bool:
    """Whether every pair of codes is later than the one before."""
    later = item[1:] > item[:-1]
    later &= user[1:] == user[:-1]
    later |= user[1:] > user[:-1]
    return bool(later.all())


def at_least(values: npt.ArrayLike, threshold: float) -> BoolArray:
    """Whether values reach a threshold, both as the 32-bit numbers that interactions hold.

    So 0.7 reaches .7 in any type, and also where ratings went through a file.

    Examples
    --------
    >>> ratings = np.array([0.7, 0.5], np.float32)
    >>> at_least(ratings, np.float64(0.7)).tolist(), at_least(ratings.astype(np.float64), 0.7).tolist()
    ([True, False], [True, False])
    """
    with np.errstate(over="ignore"):  # beyond the largest 32-bit number is infinity
        reached: BoolArray = np.asarray(values, np.float32) >= np.float32(threshold)
    return reached


def is_relevant(grades: npt.ArrayLike, threshold: float) -> BoolArray:
    """Whether grades are relevant: at least the threshold, and not 0 unless the threshold is below 0.

    Examples
    --------
    >>> grades = np.array([-1.0, 0.0, 0.5])
    >>> is_relevant(grades, 0).tolist(), is_relevant(grades, -0.5).tolist()
    ([False, False, True], [False, True, True])
    """
    reached = at_least(grades, threshold)
    return reached if threshold < 0 else reached & (np.asarray(grades) != 0)


def _id_array(name: str, ids: npt.ArrayLike) -> IdArray:
    """Return ids as an array of one type, text as such."""
    if isinstance(ids, (list, tuple)) and ids and all(type(row_id) is str for row_id in ids):
        return text_array(list(ids))
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iuUS":
        return ids
    return as_ids(f"Interactions: {name}", ids)


def _encoded(name: str, ids: IdArray) -> tuple[IdArray, IntArray]:
    try:
        return encode_sorted(ids)
    except TypeError as error:
        kinds = listed(sorted({type(row_id).__name__ for row_id in ids.tolist()}))
        raise SchemaError(f"Interactions: {name} ids must be of one sortable type, got {kinds}.") from error


def _seconds(times: Any) -> LongArray:
    """Return times as whole seconds since 1970; fractions of a second would lose the order of rows."""
    subject, array = "Interactions: timestamp", np.asarray(times)
    if array.dtype.kind == "O" and hasattr(getattr(times, "dt", None), "tz_convert"):  # of pandas
        array = np.asarray(times.dt.tz_convert("UTC").dt.tz_localize(None))
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise SchemaError(f"{subject} must not be missing (NaT), as in row {np.isnat(array).argmax()}.")
        whole = array.astype("datetime64[s]")
    else:
        if array.dtype.kind == "f" and array.itemsize < 8:
            raise SchemaError(f"{subject}: {array.dtype} does not hold seconds exactly. Use whole numbers.")
        array = array if array.dtype.kind in "iu" else numbers(subject, array)
        whole = array if array.dtype.kind in "iu" else np.floor(array)
    if (part := whole != array).any():
        raise SchemaError(
            f"{subject} must be whole seconds, got {array[part][0]}. Round them, if the order within a "
            'second does not matter: times.astype("datetime64[s]") of dates.'
        )
    seconds = whole.astype(np.int64)
    late = np.abs(seconds) > LATEST
    if late.any():
        mixed = "" if late.all() else f", and {seconds[~late][0]} in others"
        raise SchemaError(
            f"{subject} must be seconds since 1970, before the year 2100; got {seconds[late][0]}{mixed}. "
            "Divide milliseconds by 1000: times // 1000."
        )
    return seconds


def pair_codes(part: Interactions) -> LongArray:
    """Return one number for each row's (user, item), shape (n,)."""
    return part.user.astype(np.int64) * part.n_items + part.item


def pairs_matrix(user: IntArray, item: IntArray, shape: tuple[int, int]) -> "sparse.csr_array":
    """Return pairs as stored entries of a matrix, item codes rising and distinct in each row."""
    from scipy import sparse  # a third of a second, which lists from files need not wait for

    matrix = sparse.coo_array((np.ones(len(user), np.float32), (user, item)), shape=shape).tocsr()
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def distinct(codes: LongArray) -> LongArray:
    """Return distinct codes, rising; numpy's own way is by a hash table, many times slower than a sort."""
    codes = np.sort(codes)
    first = np.ones(len(codes), np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=first[1:])
    return codes[first]


def stored(matrix: "sparse.csr_array", user: IntArray | LongArray, item: IntArray | LongArray) -> BoolArray:
    """Return whether each (user, item) is a stored entry of `matrix`, shape (n,)."""
    if not len(user):
        return np.zeros(0, np.bool_)
    are_stored: BoolArray = np.asarray(_entries(matrix)[user, item])
    return are_stored


def apart(history: "sparse.csr_array", held_out: list[Interactions]) -> bool:
    """Whether held-out parts repeat no pair, and share none with each other or with `history`."""
    before = [history]
    for part in held_out:
        matrix = part.to_csr(copy=False)
        entries = _entries(matrix)
        if matrix.nnz < len(part) or any(entries.multiply(_entries(earlier)).nnz for earlier in before):
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
