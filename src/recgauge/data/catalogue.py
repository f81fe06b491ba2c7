"""What metrics beyond accuracy need to know about items: training rows, or what users tell of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recgauge.data.ids import IdArray, as_ids
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, check_int, read_only, shown

if TYPE_CHECKING:
    from scipy import sparse

Similarity: TypeAlias = "sparse.csr_array | DoubleArray"


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """The items that could be recommended, as the training data show them.

    Parameters
    ----------
    n_items : int
        Number of codes: the items of the catalogue, and those `outside`.
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
        Whether `size` is the catalogue's; False where it only covers the items that appear in lists and among
        relevant items, which is not enough for shares of the catalogue.
    head : ndarray of bool, shape (n_items,), or None
        The short head, where the user names its items.
    in_data : ndarray of bool, shape (n_items,), or None
        Of lists from outside with training rows: the items of training rows and of the truth.
    excluded : scipy.sparse.csr_array, shape (n_users, n_items), or None
        Of lists from outside: the items that users have seen, where these are not those of `seen`.
    outside : ndarray of bool, shape (n_items,), or None
        Of lists from outside: codes of items that lists alone name, which are no items of the catalogue.

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
    head: BoolArray | None = None
    in_data: BoolArray | None = None
    excluded: "sparse.csr_array | None" = None
    outside: BoolArray | None = None

    def __post_init__(self) -> None:
        n_items = check_int("Catalogue: n_items", self.n_items, minimum=1)
        if self.train_users is None:
            users = self.train_counts
            if self.seen is not None:
                users = np.bincount(self.seen.indices, minlength=n_items)
            object.__setattr__(self, "train_users", users)
        first, second, both = slice(1), slice(1, 2), slice(2)
        axes = {"seen": second, "train_counts": first, "train_users": first, "features": first, "head": first}
        axes |= {"in_data": first, "excluded": second, "outside": first}
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

    @property
    def size(self) -> int:
        """The number of items of the catalogue."""
        return self.n_items - (0 if self.outside is None else int(np.count_nonzero(self.outside)))

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
    """Return the number of items: as given, else those that the tables show."""
    return n_seen if n_items is None else check_int("n_items", n_items, minimum=n_seen)


def make_catalogue(  # noqa: PLR0913 -- the parts of a catalogue, by name
    size: int,
    seen: "sparse.csr_array | None",
    features: "sparse.csr_array | None",
    similarity: "Similarity | None",
    *,
    n_train_users: int | None,
    sized: bool,
    truth: IntArray | None = None,
    outside: BoolArray | None = None,
) -> Catalogue:
    """Return the catalogue with the counts that `seen`, who had what in training, shows.

    `n_train_users`: users that training names; None: those with items. `sized`: whether the size was given;
    training data and features set it, too. `truth`: items of judged rows, of lists from outside. `outside`:
    codes among the `size` that are no items of the catalogue.
    """
    outside = outside if outside is not None and outside.any() else None
    if seen is None:
        is_sized = sized or features is not None or similarity is not None
        return Catalogue(size, features=features, similarity=similarity, sized=is_sized, outside=outside)
    counts = np.bincount(seen.indices, minlength=size)
    if n_train_users is None:
        n_train_users = int((np.diff(seen.indptr) > 0).sum())
    in_data = None
    if truth is not None:
        in_data = counts > 0
        in_data[truth] = True
    return Catalogue(
        size, counts, n_train_users, seen, features, similarity, in_data=in_data, outside=outside
    )


def for_outside(
    catalogue: Catalogue, in_data: BoolArray, excluded: "sparse.csr_array | None", n_unknown: int
) -> Catalogue:
    """Return the catalogue for lists from outside, whose unknown items have the codes behind its own.

    `in_data`: which items have a row. `excluded`: items that users have seen; None: nothing counts as seen.

    Examples
    --------
    >>> catalogue = for_outside(Catalogue(2, np.array([3, 0])), np.array([True, False]), None, 1)
    >>> catalogue.n_items, catalogue.train_counts.tolist(), catalogue.in_data.tolist()
    (3, [3, 0, 0], [True, False, False])
    >>> catalogue.size
    2
    """
    from scipy import sparse

    size = catalogue.n_items + n_unknown

    def longer(array: Any) -> Any:
        return None if array is None else np.concatenate((array, np.zeros(n_unknown, array.dtype)))

    def larger(matrix: Any, *, rows: bool = False, columns: bool = False) -> Any:
        if matrix is None:
            return None
        shape = (matrix.shape[0] + rows * n_unknown, matrix.shape[1] + columns * n_unknown)
        if isinstance(matrix, np.ndarray):
            return np.pad(matrix, [(0, new - old) for old, new in zip(matrix.shape, shape, strict=True)])
        resized = matrix.copy()
        resized.resize(shape)
        return resized

    n_users = 0 if catalogue.seen is None else catalogue.seen.shape[0]
    nothing = sparse.csr_array((n_users, size), dtype=bool)
    is_same = excluded is not None and excluded is catalogue.seen
    seen = larger(catalogue.seen, columns=True)
    return replace(
        catalogue,
        n_items=size,
        train_counts=longer(catalogue.train_counts),
        train_users=longer(catalogue.train_users),
        seen=seen,
        features=larger(catalogue.features, rows=True),
        similarity=larger(catalogue.similarity, rows=True, columns=True),
        head=longer(catalogue.head),
        in_data=longer(in_data),
        excluded=seen if is_same else nothing if excluded is None else larger(excluded, columns=True),
        outside=np.arange(size) >= catalogue.n_items if n_unknown else None,
    )


def with_head(catalogue: Catalogue, head: Sequence[Any], item_ids: IdArray | None = None) -> Catalogue:
    """Return the catalogue with the items of the short head, named by their ids, or by codes without ids.

    Raises
    ------
    SchemaError
        If an item is not in the catalogue.

    Examples
    --------
    >>> with_head(Catalogue(3), ["c", "a"], np.array(["a", "b", "c"])).head.tolist()
    [True, False, True]
    """
    ids = range(catalogue.n_items) if item_ids is None else item_ids.tolist()
    code_of = {item: code for code, item in enumerate(ids)}
    items = as_ids("head", head).tolist()
    if not items:
        raise SchemaError("head: names no item. Name the items of the short head; in a file, an id a line.")
    if unknown := [item for item in items if item not in code_of]:
        raise SchemaError(
            f"head: {len(unknown):,} of {len(items):,} items are in no other table, such as "
            f"{shown(unknown[0])}. Write ids as lists and training rows do, or leave these items out."
        )
    marks = np.zeros(catalogue.n_items, np.bool_)
    marks[[code_of[item] for item in items]] = True
    return replace(catalogue, head=marks)
