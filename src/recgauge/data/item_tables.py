"""Features and similarities of items as Python has them: by item, in any order of items."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.data.columns import cells, is_series, numbers
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.errors import SchemaError, listed
from recgauge.files.columns import ITEMS, is_usual
from recgauge.files.frames import as_arrow, is_frame
from recgauge.files.stored import is_number
from recgauge.utils.checks import IntArray, shown

if TYPE_CHECKING:
    from scipy import sparse

_FEATURES, _SIMILARITY = "item_features", "item_similarity"


@dataclass(frozen=True, slots=True, eq=False)
class ItemTable:
    """What is known of items: distinct `items` (n,), and a row of `matrix` for each.

    The matrix has a column for each feature, or, of similarities, for each of the items. `by_code`: nobody
    has named the items, and the numbers of the rows are their ids, or their codes.
    """

    name: str
    items: IdArray
    matrix: "sparse.csr_array"
    by_code: bool = False

    def by_item(self, codes: IntArray, item_ids: IdArray, size: int, listed: IntArray) -> "sparse.csr_array":
        """Return the matrix by item code, with `size` rows.

        Parameters
        ----------
        codes : ndarray of int32, shape (n,)
            Of `items`.
        item_ids : ndarray
            The ids of all codes, for messages.
        size : int
            Of the catalogue.
        listed : ndarray of int32
            Codes of recommended items, all of which must be among `codes`.

        Raises
        ------
        SchemaError
            If a recommended item is not.
        """
        from scipy import sparse

        has_row = np.zeros(size, bool)
        has_row[codes] = True
        if not has_row[listed].all():
            item = item_ids[listed[~has_row[listed]][0]]
            kind = "features" if self.name == _FEATURES else "similarities"
            raise SchemaError(f"{self.name}: item {shown(item)} is recommended but has no {kind}.")
        place = sparse.csr_array(
            (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(size, len(codes))
        )
        rows = sparse.csr_array(place @ self.matrix)
        return rows if self.name == _FEATURES else sparse.csr_array(rows @ place.T)


def read_features(features: Any) -> ItemTable:
    """Read features of items.

    Parameters
    ----------
    features : mapping, DataFrame or matrix
        ``{item: vector}``, ``{item: {feature, ...}}`` or ``{item: {feature: weight}}``; a table with a column
        ``item``, or items as its index, and a column of numbers for each feature; or a matrix, whose row
        numbers are the items.

    Raises
    ------
    SchemaError
        If it is none of these, an item stands twice or a number is not finite.

    Examples
    --------
    >>> table = read_features({"x": {"comedy"}, "y": {"comedy": 0.5, "drama": 1}})
    >>> table.items.tolist(), table.matrix.toarray().tolist()
    (['x', 'y'], [[1.0, 0.0], [0.5, 1.0]])
    """
    from scipy import sparse

    items: Any = None
    if isinstance(features, Mapping):
        items = list(features)
        matrix: Any = _vectors(items, [row.to_dict() if is_series(row) else row for row in features.values()])
    elif is_frame(features) and not is_series(features):
        items, matrix = _framed(features)
    else:
        matrix = _matrix(_FEATURES, features)
    return _checked(_FEATURES, items, sparse.csr_array(matrix))


def read_similarity(similarity: Any) -> ItemTable:
    """Read similarities of pairs of items.

    Parameters
    ----------
    similarity : mapping, DataFrame or matrix
        ``{item: {item: similarity}}``, in which a pair may stand in one direction; a table of pandas with
        the same items as its index and as its columns; or a square matrix, whose row numbers are the items.
        A pair that is not there has similarity 0.

    Raises
    ------
    SchemaError
        If it is none of these, a number is not finite, or a pair has two similarities.

    Examples
    --------
    >>> table = read_similarity({"x": {"y": 0.5}})
    >>> table.items.tolist(), table.matrix.toarray().tolist()
    (['x', 'y'], [[0.0, 0.5], [0.5, 0.0]])
    """
    from scipy import sparse

    items: Any = None
    if isinstance(similarity, Mapping):
        items, matrix = _pairs(similarity)
    elif hasattr(similarity, "iloc") and hasattr(similarity, "columns"):
        items, matrix = _labelled(similarity)
    else:
        matrix = _matrix(_SIMILARITY, similarity)
    if matrix.shape[0] != matrix.shape[1]:
        raise SchemaError(f"{_SIMILARITY}: a matrix must be square, got shape {matrix.shape}.")
    table = _checked(_SIMILARITY, items, sparse.csr_array(matrix))
    if table.matrix.nnz and abs(table.matrix - table.matrix.T).max() > 1e-9:
        raise SchemaError(f"{_SIMILARITY}: a pair must have the same similarity in both directions.")
    return table


def _checked(name: str, items: Any, matrix: "sparse.csr_array") -> ItemTable:
    """Return a table; without `items`, the numbers of the rows name them."""
    item_ids = np.arange(matrix.shape[0]) if items is None else as_ids(f"{name}: item", items)
    ids, (codes,) = encode([item_ids], in_order=True)
    if len(ids) < len(item_ids):
        twice = ids[int(np.argmax(np.bincount(codes) > 1))]
        raise SchemaError(f"{name}: item {shown(twice)} stands twice. Give each item one row.")
    wrong = np.flatnonzero(~np.isfinite(matrix.data))
    if len(wrong):
        row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
        raise SchemaError(
            f"{name}: numbers must be finite, got {matrix.data[wrong[0]]} for item {shown(item_ids[row])}. "
            "Fill in what is missing, or leave the item out."
        )
    return ItemTable(name, item_ids, matrix, by_code=items is None)


def _matrix(name: str, table: Any) -> Any:
    """Return a matrix of numbers, one row for each item."""
    from scipy import sparse

    if sparse.issparse(table):
        matrix: Any = table
        if matrix.dtype.kind not in "iufb":
            raise SchemaError(f"{name}: a matrix must hold numbers, got {matrix.dtype}.")
        return sparse.csr_array(matrix).astype(np.float64)
    usable = not (isinstance(table, AnySet) or is_series(table)) and cells(table) is not None
    matrix = _real(name, table) if usable else np.empty(0)
    if matrix.ndim != 2:
        raise SchemaError(
            f"{name}: pass a mapping with one key per item, a DataFrame with a column item, or a matrix with "
            f"one row per item; got {type(table).__name__}."
        )
    return matrix


def _real(name: str, values: Any) -> Any:
    """Return numbers as float64; of arrays what is not finite is refused later, by its item."""
    is_real = isinstance(values, np.ndarray) and values.dtype.kind in "iufb"
    return values.astype(np.float64) if is_real else numbers(name, values)


def _vectors(items: Sequence[Any], rows: Sequence[Any]) -> Any:
    """Return a matrix of the items' vectors, or of their features by name."""
    from scipy import sparse

    named = [isinstance(row, (Mapping, AnySet)) for row in rows]
    if not any(named):
        vectors: list[Any] = []
        for item, row in zip(items, rows, strict=True):
            vectors.append(vector := _real(f"{_FEATURES}: item {shown(item)}", cells(row)))
            if vector.ndim != 1 or len(vector) != len(vectors[0]):
                raise SchemaError(
                    f"{_FEATURES}: item {shown(item)} must have a vector of numbers, as long as that of item "
                    f"{shown(items[0])}, or a set of names; got {shown(row)}."
                )
        return np.array(vectors).reshape(len(vectors), -1)
    if not all(named):
        raise SchemaError(
            f"{_FEATURES}: item {shown(items[named.index(False)])} has a vector, and others have "
            "names of features. Write all in one way."
        )
    place: dict[Any, int] = {}
    column = [place.setdefault(name, len(place)) for row in rows for name in row]
    weights = [row.values() if isinstance(row, Mapping) else [1.0] * len(row) for row in rows]
    values = numbers(_FEATURES, [weight for row in weights for weight in row])
    start = np.cumsum([0, *map(len, rows)])
    return sparse.csr_array((values, np.array(column, np.int64), start), shape=(len(rows), len(place)))


def _framed(table: Any) -> tuple[Any, Any]:
    """Return the items of a frame, its column or its index, and the numbers of the others."""
    arrow = as_arrow(table, _FEATURES)
    names = arrow.column_names
    index = names[: len(names) - len(getattr(table, "columns", names))]  # of pandas
    usual = [name for name in names if is_usual(name, ITEMS)]
    named = [
        name for name in usual if is_usual(name, ITEMS[:1])
    ]  # a genre may be called book, hardly item_id
    if not named and index == ["index"] and usual:
        raise SchemaError(
            f"{_FEATURES}: the items may be the index or the column {usual[0]!r}. Write "
            f"frame.set_index({usual[0]!r}), or frame.rename_axis('item') if the index is."
        )
    items = named or index or usual
    if len(items) != 1:
        raise SchemaError(
            f"{_FEATURES}: a table needs one column item, or items as its index; its columns are "
            f"{listed(names)}. Write frame.set_index(COLUMN), or, if the index is the items, "
            "frame.rename_axis('item')."
        )
    kept = [name for name in names if name not in (*items, *index)]
    for name in kept:
        kind = arrow.schema.field(name).type
        if not is_number(kind) and str(kind) != "bool":
            raise SchemaError(
                f"{_FEATURES}: column {name!r} holds no numbers. Drop it, or give each of its values a "
                f"column: pandas.get_dummies(frame, columns=[{name!r}])."
            )
    columns = [np.array(arrow.column(name).to_pylist(), np.float64) for name in kept]
    return arrow.column(items[0]), np.array(columns).reshape(len(kept), len(arrow)).T


def _labelled(frame: Any) -> tuple[Any, Any]:
    """Return the items of a table of pandas that has them as index and as columns, and its numbers."""
    import pandas as pd

    labels = (frame.index, frame.columns)
    if all(isinstance(axis, pd.RangeIndex) and axis.name is None for axis in labels):
        raise SchemaError(
            f"{_SIMILARITY}: a table needs items as its index and as its columns, and both only count from "
            "0. Write DataFrame(matrix, index=items, columns=items)."
        )
    if not frame.columns.is_unique or set(frame.columns) != set(frame.index) or frame.index.nlevels > 1:
        raise SchemaError(f"{_SIMILARITY}: a table needs the same items as its index and as its columns.")
    return frame.index, _real(_SIMILARITY, frame[list(frame.index)].to_numpy())


def _pairs(similarity: Mapping[Any, Any]) -> tuple[Any, Any]:
    """Return items and similarities of ``{item: {item: similarity}}``, a pair of one direction in both."""
    from scipy import sparse

    rows = {item: row.to_dict() if is_series(row) else row for item, row in similarity.items()}
    for item, row in rows.items():
        if not isinstance(row, Mapping):
            raise SchemaError(
                f"{_SIMILARITY}: item {shown(item)} must have {{item: similarity}}, got "
                f"{type(row).__name__}. Pass a mapping of such, or a square matrix."
            )
    items = list(dict.fromkeys([*rows, *(other for row in rows.values() for other in row)]))
    as_ids(f"{_SIMILARITY}: item", items)
    place = {item: at for at, item in enumerate(items)}
    value_of: dict[tuple[int, int], Any] = {}
    for item, row in rows.items():
        for other, value in row.items():
            value_of[place[item], place[other]] = value
            value_of.setdefault((place[other], place[item]), value)
    first, second = np.array([*value_of], np.int64).reshape(-1, 2).T
    values = numbers(_SIMILARITY, [*value_of.values()])
    return items, sparse.csr_array((values, (first, second)), shape=(len(items), len(items)))
