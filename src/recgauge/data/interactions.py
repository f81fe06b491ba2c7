"""The table that everything starts from, who interacted with what, and its (user, item) pairs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge.data.columns import aligned, numbers
from recgauge.data.ids import IdArray, as_ids
from recgauge.errors import SchemaError, listed
from recgauge.files.columns import LATEST
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, LongArray, read_only, shown, text_array
from recgauge.utils.grouped import encode_sorted
from recgauge.utils.notebook import html_table

if TYPE_CHECKING:
    from scipy import sparse

_SIGNIFICANT = 63  # bits of a whole number that is not negative
PIECE = 1 << 17
"""Rows that are counted, chosen or compared at once, so that temporary columns stay near the processor."""


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
        values = _id_array("attribute", column)
        if values.dtype == object:
            import pandas as pd  # hashes texts, which takes a fraction of sorting them

            positions, texts = pd.factorize(values, sort=True)
            return cls(positions.astype(np.int32), np.asarray(texts))
        names, codes = _encoded("attribute", values)
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
        self._check_kinds()
        for name, dtype in (("user", np.int32), ("item", np.int32), ("value", np.float32)):
            self._store(name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        if self.timestamp is not None:
            self._store("timestamp", np.ascontiguousarray(self.timestamp, dtype=np.int64))
        self._store("user_ids", np.asarray(self.user_ids))
        self._store("item_ids", np.asarray(self.item_ids))
        for attribute in self.attributes.values():
            self._check_length("attributes", attribute.codes)
        self._check_codes()
        if not np.isfinite(self.value).all():
            row = int(np.flatnonzero(~np.isfinite(self.value))[0])
            raise SchemaError(f"Interactions: value must be finite, got {self.value[row]} in row {row}.")

    def _check_codes(self) -> None:
        for name, codes, n_ids in (("user", self.user, self.n_users), ("item", self.item, self.n_items)):
            if len(codes) and (codes.min() < 0 or codes.max() >= n_ids):
                raise SchemaError(
                    f"Interactions: {name} codes must be in 0..{n_ids - 1} (positions in {name}_ids), "
                    f"got {codes.min()}..{codes.max()}."
                )

    def _check_kinds(self) -> None:
        """Refuse columns of another type, which numpy would turn into numbers."""
        for name in ("user", "item", "timestamp"):
            column = getattr(self, name)
            if column is not None and not np.issubdtype(np.asarray(column).dtype, np.integer):
                meant = "seconds" if name == "timestamp" else "codes"
                raise SchemaError(f"Interactions: {name} must hold whole numbers ({meant}); see from_ids.")
        if np.asarray(self.value).dtype.kind not in "iufb":
            raise SchemaError("Interactions: value must hold numbers.")

    def _store(self, name: str, column: npt.NDArray[Any]) -> None:
        self._check_length(name, column)
        object.__setattr__(self, name, read_only(column))

    def _check_length(self, name: str, column: npt.NDArray[Any]) -> None:
        n_rows = len(self.user)
        if column.ndim != 1 or (not name.endswith("_ids") and len(column) != n_rows):
            raise SchemaError(
                f"Interactions: column {name!r} must have shape ({n_rows},) like 'user', got {column.shape}."
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

    def _repr_html_(self) -> str:
        """Return the first rows by their ids."""
        columns = {"user": self.user_ids[self.user[:5]], "item": self.item_ids[self.item[:5]]}
        columns |= {"value": self.value[:5]} | (
            {} if self.timestamp is None else {"time": self.timestamp[:5]}
        )
        rows = [[str(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
        return html_table(rows, list(columns), [self.counts])

    def take(self, rows: BoolArray | LongArray) -> "Interactions":
        """Return the chosen rows (a mask or positions), in their order, over the same ids."""
        columns = {name: getattr(self, name) for name in ("user", "item", "value", "timestamp")}
        there = {name: column for name, column in columns.items() if column is not None}
        if rows.dtype == np.bool_ and len(rows) == len(self):
            chosen = _masked(rows.view(np.bool_), list(there.values()))
        else:
            chosen = [column[rows] for column in there.values()]
        taken = object.__new__(Interactions)  # rows that have been checked need not be checked again
        columns |= dict(zip(there, map(read_only, chosen), strict=True))
        attributes = {name: attribute.take(rows) for name, attribute in self.attributes.items()}
        columns |= {
            "user_ids": self.user_ids,
            "item_ids": self.item_ids,
            "attributes": attributes,
            "_computed": {},
        }
        for name, value in columns.items():
            object.__setattr__(taken, name, value)
        return taken

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
            counts, codes = np.zeros(n_ids, np.int64), getattr(self, name)
            step = max(PIECE, 4 * n_ids)  # adding up the counts must not outweigh counting
            for first in range(0, len(codes), step):
                counts += np.bincount(codes[first : first + step], minlength=n_ids)
            self._computed[name] = read_only(counts)
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
            pieces = (slice(first, first + PIECE + 1) for first in range(0, len(self) - 1, PIECE))
            self._computed["pairs rise"] = all(rise(self.user[rows], self.item[rows]) for rows in pieces)
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


def _masked(mask: BoolArray, columns: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Return the rows of several columns where `mask` is set."""
    size, end = int(np.count_nonzero(mask)), 0
    if size == len(mask):
        return columns
    chosen = [np.empty(size, column.dtype) for column in columns]
    for first in range(0, len(mask), PIECE):
        rows = np.flatnonzero(mask[first : first + PIECE])
        begin, end = end, end + len(rows)
        for column, taken in zip(columns, chosen, strict=True):
            # with mode="raise", numpy would write to a copy first
            np.take(column[first : first + PIECE], rows, out=taken[begin:end], mode="clip")
    return chosen


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
    subject = "Interactions: timestamp"
    array = np.asarray(times)
    with_zone = hasattr(getattr(times, "dt", None), "tz_convert")  # of pandas
    if array.dtype.kind == "O" and with_zone:
        array = np.asarray(times.dt.tz_convert("UTC").dt.tz_localize(None))
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise SchemaError(f"{subject} must not be missing (NaT), as in row {np.isnat(array).argmax()}.")
        seconds = array.astype("datetime64[s]")
        if (seconds != array).any():
            raise SchemaError(
                f"{subject} must be whole seconds, got {array[seconds != array][0]}. Write "
                'times.astype("datetime64[s]"), if the order within a second does not matter.'
            )
        return _plausible(subject, seconds.astype(np.int64))
    if array.dtype.kind == "f" and array.itemsize < 8:
        raise SchemaError(f"{subject} must be whole numbers; {array.dtype} does not hold seconds exactly.")
    whole = numbers(subject, array) if array.dtype.kind not in "iu" else array
    if (part := whole != np.floor(whole)).any():
        raise SchemaError(
            f"{subject} must be whole seconds, got {whole[part][0]}. Round them, if the order within a "
            "second does not matter."
        )
    return _plausible(subject, whole.astype(np.int64))


def _plausible(subject: str, seconds: LongArray) -> LongArray:
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
