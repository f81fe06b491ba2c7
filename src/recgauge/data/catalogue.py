"""What metrics beyond accuracy need to know about items: training rows, or what users tell of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import DoubleArray, IntArray, LongArray, check_int, read_only, shown

if TYPE_CHECKING:
    from scipy import sparse

Similarity: TypeAlias = "sparse.csr_array | DoubleArray"


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """The items that could be recommended, as the training data show them.

    Parameters
    ----------
    n_items : int
        Size of the catalogue.
    train_counts : ndarray of int64, shape (n_items,), or None
        Training rows of each item.
    n_train_users : int
        Users with training rows; 0 without training data.
    seen : scipy.sparse.csr_array, shape (n_users, n_items), or None
        Stored entries are the users' training items, or the fold-in items of held-out users.
    features : scipy.sparse.csr_array of float, shape (n_items, n_features), or None
        A row without entries is an item without features.
    similarity : scipy.sparse.csr_array or ndarray of float64, shape (n_items, n_items), or None
        Symmetric; for metrics that take similarities as given.
    train_users : ndarray of int64, shape (n_items,), or None
        Training users of each item; counted from `seen`, or taken to be `train_counts` without it.
    irrelevant : ndarray of int64, shape (n_users,), or None
        Candidates of each user code that are not relevant, where a rule limits the candidates; without it,
        metrics count them from `n_items` and `seen`.
    sized : bool, default True
        Whether `n_items` is the catalogue's size; False where it only covers the items that appear in lists
        and among relevant items, which is not enough for shares of the catalogue.

    Raises
    ------
    SchemaError
        If a shape does not fit `n_items`.

    Examples
    --------
    >>> train = Interactions.from_ids(["ann", "bob", "bob"], ["x", "x", "y"])
    >>> Catalogue.from_train(train).train_users.tolist()
    [2, 1]
    """

    n_items: int
    train_counts: LongArray | None = None
    n_train_users: int = 0
    seen: "sparse.csr_array | None" = None
    features: "sparse.csr_array | None" = None
    similarity: "Similarity | None" = None
    train_users: LongArray | None = None
    sized: bool = True
    irrelevant: LongArray | None = None

    def __post_init__(self) -> None:
        n_items = check_int("Catalogue: n_items", self.n_items, minimum=1)
        if self.train_users is None:
            users = self.train_counts
            if self.seen is not None:
                users = np.bincount(self.seen.indices, minlength=n_items)
            object.__setattr__(self, "train_users", users)
        first, second, both = slice(1), slice(1, 2), slice(2)
        axes = {"seen": second, "train_counts": first, "train_users": first, "features": first}
        for name, axis in (axes | {"similarity": both}).items():
            array = getattr(self, name)
            if array is not None and set(array.shape[axis]) != {n_items}:
                raise SchemaError(
                    f"Catalogue: {name} must have {n_items} entries over items, got {array.shape}; every "
                    "array needs one row or column an item."
                )
        for name in ("train_counts", "train_users"):
            if (counts := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(counts))

    @classmethod
    def from_train(
        cls,
        train: Interactions,
        features: "sparse.csr_array | None" = None,
        similarity: "Similarity | None" = None,
        fold_in: Interactions | None = None,
        seen: "sparse.csr_array | None" = None,
    ) -> "Catalogue":
        """Count the training interactions; the catalogue is all their item ids, with or without rows.

        Parameters
        ----------
        train : Interactions
        features : scipy.sparse.csr_array, shape (n_items, n_features), optional
        similarity : scipy.sparse.csr_array or ndarray, shape (n_items, n_items), optional
        fold_in : Interactions, optional
            Rows of held-out users: what these users have seen; popularity stays that of the training rows.
        seen : scipy.sparse.csr_array, shape (n_users, n_items), optional
            The training and fold-in rows, if their matrix has been made.

        Returns
        -------
        Catalogue
        """
        n_users = int(np.count_nonzero(train.user_counts()))
        trained = train.to_csr() if seen is None or fold_in is not None else seen
        train_users = np.bincount(trained.indices, minlength=train.n_items)
        if seen is None:
            seen = trained if fold_in is None else train.followed_by(fold_in).to_csr()
        return cls(train.n_items, train.item_counts(), n_users, seen, features, similarity, train_users)


def catalogue_size(n_seen: int, n_items: int | None) -> int:
    """Return the number of items: as given, else those that appear in any table."""
    return n_seen if n_items is None else check_int("n_items", n_items, minimum=n_seen)


def make_catalogue(
    size: int,
    seen: "sparse.csr_array | None",
    features: "sparse.csr_array | None",
    similarity: "Similarity | None",
    *,
    n_train_users: int | None,
    sized: bool,
) -> Catalogue:
    """Return the catalogue with the counts that `seen`, who had what in training, shows.

    `n_train_users`: users that training names; None: those with items. `sized`: whether the size was given;
    training data and features set it, too.
    """
    if seen is None:
        told = sized or features is not None or similarity is not None
        return Catalogue(size, features=features, similarity=similarity, sized=told)
    counts = np.bincount(seen.indices, minlength=size)
    if n_train_users is None:
        n_train_users = int((np.diff(seen.indptr) > 0).sum())
    return Catalogue(size, counts, n_train_users, seen, features, similarity)


def feature_matrix(features: Any, item_ids: IdArray, size: int, listed: IntArray) -> "sparse.csr_array":
    """Return features by item code, shape (n_items, n_features).

    `features` is a mapping of item id to vector, or a matrix whose row number is the item id; `item_ids` has
    the id of every code, `size` is the catalogue's; `listed` are codes of all recommended items, which need
    features.
    """
    from scipy import sparse

    code_of = {item: code for code, item in enumerate(item_ids.tolist())}
    if isinstance(features, Mapping):
        codes = np.array([code_of[item] for item in features], np.int64)
        try:
            rows = sparse.csr_array(np.array([np.asarray(row, np.float64) for row in features.values()]))
        except ValueError as error:
            raise SchemaError(f"item_features: every item needs a vector of one length: {error}.") from error
    else:
        rows = sparse.csr_array(features)
        codes = np.array([code_of[item] for item in range(rows.shape[0])], np.int64)
    _check_listed("item_features", "features", codes, size, item_ids, listed)
    membership = sparse.csr_array(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(size, len(codes))
    )
    return sparse.csr_array(membership @ rows)


def table_ids(name: str, table: Any) -> Any:
    """Return the item ids that features or similarities name: keys, or the numbers of rows.

    Examples
    --------
    >>> table_ids("item_similarity", {"x": {"y": 0.5}}), table_ids("item_features", np.eye(3)).tolist()
    (['x', 'y'], [0, 1, 2])
    """
    from scipy import sparse

    if not isinstance(table, Mapping):
        if np.ndim(table) != 2 and not sparse.issparse(table):
            raise SchemaError(
                f"{name}: pass a mapping with one key per item, or a matrix with one row per item; got "
                f"{type(table).__name__}."
            )
        return np.arange(np.shape(table)[0])
    inner = (item for row in table.values() if isinstance(row, Mapping) for item in row)
    return list(dict.fromkeys([*table, *inner]))


def similarity_matrix(given: Any, item_ids: IdArray, size: int, listed: IntArray) -> "sparse.csr_array":
    """Return similarities by item code, shape (n_items, n_items); see `feature_matrix`.

    `given` is a mapping of item id to {item id: similarity}, or a square matrix whose row number is the item
    id. A mapping may give a pair in one direction; a pair that it does not give has similarity 0.

    Examples
    --------
    >>> similarity_matrix({"x": {"y": 0.5}}, np.array(["x", "y"]), 2, np.array([0, 1])).toarray().tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    from scipy import sparse

    code_of = {item: code for code, item in enumerate(item_ids.tolist())}
    codes = np.array([code_of[item] for item in table_ids("item_similarity", given)], np.int64)
    if isinstance(given, Mapping):
        first, second, values = _pairs(given, code_of)
    else:
        table = sparse.coo_array(given)
        if table.shape != (len(codes), len(codes)):
            raise SchemaError(f"item_similarity: a matrix must be square, got shape {table.shape}.")
        first, second, values = codes[table.coords[0]], codes[table.coords[1]], table.data
    if not np.isfinite(values).all():
        raise SchemaError("item_similarity: every similarity must be a finite number.")
    matrix = sparse.csr_array((np.asarray(values, np.float64), (first, second)), shape=(size, size))
    if matrix.nnz and abs(matrix - matrix.T).max() > 1e-9:
        raise SchemaError("item_similarity: a pair must have the same similarity in both directions.")
    _check_listed("item_similarity", "similarities", codes, size, item_ids, listed)
    return matrix


def _pairs(given: Mapping[Any, Any], code_of: Mapping[Any, int]) -> Any:
    """Return codes and values of all pairs, those given in one direction in both; each of shape (p,)."""
    known: dict[tuple[int, int], float] = {}
    for item, row in given.items():
        if not isinstance(row, Mapping):
            raise SchemaError(
                f"item_similarity: item {shown(item)} must have {{item: similarity}}, got "
                f"{type(row).__name__}. Pass a mapping of such, or a square matrix."
            )
        for other, value in row.items():
            known[code_of[item], code_of[other]] = value
            known.setdefault((code_of[other], code_of[item]), value)
    first, second = np.array([*known], np.int64).reshape(-1, 2).T
    return first, second, np.array([*known.values()], np.float64)


def _check_listed(
    name: str, kind: str, codes: LongArray, size: int, item_ids: IdArray, listed: IntArray
) -> None:
    known = np.zeros(size, bool)
    known[codes] = True
    if not known[listed].all():
        item = item_ids[listed[~known[listed]][0]]
        raise SchemaError(f"{name}: item {shown(item)} is recommended but has no {kind}.")
