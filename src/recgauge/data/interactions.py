"""The table that everything starts from: who interacted with what."""

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge.data.ids import encode_sorted
from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, LongArray, read_only, text_array

if TYPE_CHECKING:
    from scipy import sparse


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

    def __post_init__(self) -> None:
        for name in ("user", "item"):
            if not np.issubdtype(np.asarray(getattr(self, name)).dtype, np.integer):
                raise SchemaError(f"Interactions: {name} must hold whole numbers (codes); see from_ids.")
        for name, dtype in (("user", np.int32), ("item", np.int32), ("value", np.float32)):
            self._store(name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        if self.timestamp is not None:
            self._store("timestamp", np.ascontiguousarray(self.timestamp, dtype=np.int64))
        self._store("user_ids", np.asarray(self.user_ids))
        self._store("item_ids", np.asarray(self.item_ids))
        self._check_codes("user", self.user, len(self.user_ids))
        self._check_codes("item", self.item, len(self.item_ids))
        if not np.isfinite(self.value).all():
            row = int(np.flatnonzero(~np.isfinite(self.value))[0])
            raise SchemaError(f"Interactions: value must be finite, got {self.value[row]} in row {row}.")

    def _store(self, name: str, column: npt.NDArray[Any]) -> None:
        n_rows = len(self.user)
        if column.ndim != 1 or (not name.endswith("_ids") and len(column) != n_rows):
            raise SchemaError(
                f"Interactions: column {name!r} must have shape ({n_rows},) like 'user', got {column.shape}."
            )
        object.__setattr__(self, name, read_only(column))

    @staticmethod
    def _check_codes(name: str, codes: IntArray, n_ids: int) -> None:
        if len(codes) and (codes.min() < 0 or codes.max() >= n_ids):
            raise SchemaError(
                f"Interactions: {name} codes must be in 0..{n_ids - 1} (positions in {name}_ids), "
                f"got {codes.min()}..{codes.max()}."
            )

    @classmethod
    def from_ids(
        cls,
        user_ids: npt.ArrayLike,
        item_ids: npt.ArrayLike,
        value: npt.ArrayLike | None = None,
        timestamp: npt.ArrayLike | None = None,
    ) -> "Interactions":
        """Build interactions from ids of any sortable type; codes follow the sorted ids.

        Parameters
        ----------
        user_ids, item_ids : array-like, shape (n,)
            Ids, one per row.
        value : array-like of float, shape (n,), optional
            Ratings; 1 everywhere if left out.
        timestamp : array-like of int, shape (n,), optional
            Seconds since 1970-01-01 UTC.

        Returns
        -------
        Interactions
        """
        users, user = encode_sorted(_id_array(user_ids))
        items, item = encode_sorted(_id_array(item_ids))
        values = np.ones(len(user), np.float32) if value is None else np.asarray(value, np.float32)
        times = None if timestamp is None else np.asarray(timestamp, np.int64)
        return cls(user, item, values, times, users, items)

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

    def take(self, rows: BoolArray | LongArray) -> "Interactions":
        """Return the chosen rows (a mask or positions), in their order, over the same ids."""
        if rows.dtype == np.bool_ and len(rows) == len(self):
            rows = np.flatnonzero(rows)  # once for all columns
        return Interactions(
            self.user[rows],
            self.item[rows],
            self.value[rows],
            None if self.timestamp is None else self.timestamp[rows],
            self.user_ids,
            self.item_ids,
        )

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

    def user_counts(self) -> LongArray:
        """Rows of each user, shape (n_users,)."""
        return np.bincount(self.user, minlength=self.n_users)

    def item_counts(self) -> LongArray:
        """Rows of each item, shape (n_items,)."""
        return np.bincount(self.item, minlength=self.n_items)

    def sha256(self) -> str:
        """Return the digest of the rows, in their order, and of the ids that their codes represent."""
        digest = sha256()
        for column in (self.user, self.item, self.value, self.timestamp):
            digest.update(b"" if column is None else column.data)
        for ids in (self.user_ids, self.item_ids):
            digest.update("\n".join(map(str, ids.tolist())).encode())
        return digest.hexdigest()

    def to_csr(self) -> "sparse.csr_array":
        """Return the values as a CSR matrix (n_users, n_items) float32; repeated pairs are summed.

        Column codes ascend inside each row.
        """
        from scipy import sparse  # half a second of start-up

        shape = (self.n_users, self.n_items)
        matrix = sparse.coo_array((self.value, (self.user, self.item)), shape=shape).tocsr()
        matrix.sum_duplicates()
        return matrix


def _id_array(ids: npt.ArrayLike) -> npt.NDArray[Any]:
    if isinstance(ids, (list, tuple)) and ids and all(type(one) is str for one in ids):
        return text_array(list(ids))
    return np.asarray(ids)
