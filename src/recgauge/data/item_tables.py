"""Features and similarities of items as Python has them: by item, in any order of items."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.data.columns import is_series, numbers
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.errors import SchemaError, listed
from recgauge.files.columns import ITEMS, Roles
from recgauge.files.frames import as_arrow, is_frame
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

    by_code = False
    if isinstance(features, Mapping):
        items: Any = list(features)
        matrix: Any = _vectors(items, list(features.values()))
    elif hasattr(features, "iloc") and hasattr(features, "columns"):
        items, matrix = _framed(features)
    elif is_frame(features) and not is_series(features):
        items, matrix = _of_arrow(features)
    else:
        matrix, by_code = _matrix(_FEATURES, features), True
        items = np.arange(matrix.shape[0])
    return _checked(
        ItemTable(_FEATURES, as_ids(f"{_FEATURES}: item", items), sparse.csr_array(matrix), by_code)
    )


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

    by_code = False
    if isinstance(similarity, Mapping):
        items, matrix = _pairs(similarity)
    elif hasattr(similarity, "iloc") and hasattr(similarity, "columns"):
        items, matrix = _labelled(similarity)
    else:
        matrix, by_code = _matrix(_SIMILARITY, similarity), True
        items = np.arange(matrix.shape[0])
    if matrix.shape != (len(items), len(items)):
        raise SchemaError(f"{_SIMILARITY}: a matrix must be square, got shape {matrix.shape}.")
    ids = as_ids(f"{_SIMILARITY}: item", items)
    table = _checked(ItemTable(_SIMILARITY, ids, sparse.csr_array(matrix), by_code))
    if table.matrix.nnz and abs(table.matrix - table.matrix.T).max() > 1e-9:
        raise SchemaError(f"{_SIMILARITY}: a pair must have the same similarity in both directions.")
    return table


def _checked(table: ItemTable) -> ItemTable:
    """Return the table, or refuse an item that stands twice and a number that is not finite."""
    ids, (codes,) = encode([table.items], in_order=True)
    if len(ids) < len(table.items):
        twice = ids[int(np.argmax(np.bincount(codes) > 1))]
        raise SchemaError(f"{table.name}: item {shown(twice)} stands twice. Give each item one row.")
    wrong = np.flatnonzero(~np.isfinite(table.matrix.data))
    if len(wrong):
        row = int(np.searchsorted(table.matrix.indptr, wrong[0], side="right")) - 1
        raise SchemaError(
            f"{table.name}: numbers must be finite, got {table.matrix.data[wrong[0]]} for item "
            f"{shown(table.items[row])}. Fill in what is missing, or leave the item out."
        )
    return table


def _matrix(name: str, table: Any) -> Any:
    """Return a matrix of numbers, one row for each item."""
    from scipy import sparse

    if sparse.issparse(table):
        matrix: Any = table
        if matrix.dtype.kind not in "iufb":
            raise SchemaError(f"{name}: a matrix must hold numbers, got {matrix.dtype}.")
        return sparse.csr_array(matrix).astype(np.float64)
    if isinstance(table, (str, bytes, AnySet)) or is_series(table) or _n_dimensions(table) != 2:
        raise SchemaError(
            f"{name}: pass a mapping with one key per item, a DataFrame with a column item, or a matrix with "
            f"one row per item; got {type(table).__name__}."
        )
    return _real(name, table)


def _n_dimensions(table: Any) -> int:
    try:
        return int(np.ndim(table))
    except ValueError:  # rows of several lengths
        return 0


def _real(name: str, values: Any) -> Any:
    """Return numbers as float64; what is not finite is refused later, by its item."""
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype.kind in "iufb" else numbers(name, array)


def _vectors(items: Sequence[Any], rows: Sequence[Any]) -> Any:
    """Return a matrix of the items' vectors, or of their features by name."""
    from scipy import sparse

    rows = [row.to_dict() if is_series(row) else row for row in rows]
    named = [isinstance(row, (Mapping, AnySet)) for row in rows]
    if any(named):
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
    vectors = []
    for item, row in zip(items, rows, strict=True):
        if isinstance(row, (str, bytes)) or _n_dimensions(row) != 1:
            raise SchemaError(
                f"{_FEATURES}: item {shown(item)} must have a vector of numbers or a set of names, got "
                f"{type(row).__name__}."
            )
        vectors.append(_real(f"{_FEATURES}: item {shown(item)}", row))
        if len(vectors[-1]) != len(vectors[0]):
            raise SchemaError(
                f"{_FEATURES}: every item needs a vector of one length; item {shown(items[0])} has "
                f"{len(vectors[0])} numbers, item {shown(item)} has {len(vectors[-1])}."
            )
    return np.array(vectors).reshape(len(vectors), -1)


def _framed(frame: Any) -> tuple[Any, Any]:
    """Return the items of a table of pandas, its column or its index, and the numbers of the others."""
    import pandas as pd

    names = [str(name) for name in frame.columns]
    is_range = frame.index.name is None and frame.index.equals(pd.RangeIndex(len(frame)))
    column = _item_column(names[:], first_names=not is_range)
    if column is None and is_range:
        raise SchemaError(
            f"{_FEATURES}: a table needs a column item, or items as its index; its index is 0, 1, 2, ... and "
            f"its columns are {listed(names)}. Write frame.set_index(COLUMN), or, if the index is the items, "
            "frame.rename_axis('item')."
        )
    other = None if is_range or column is not None else _item_column(names, first_names=False)
    if other is not None and frame.index.name is None:
        raise SchemaError(
            f"{_FEATURES}: the items may be the index or the column {names[other]!r}. Write "
            f"frame.set_index({names[other]!r}), or frame.rename_axis('item') if the index is."
        )
    items = frame.index if column is None else frame.iloc[:, column]
    kept = [at for at in range(len(names)) if at != column]
    for at in kept:
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[at]):
            raise SchemaError(
                f"{_FEATURES}: column {names[at]!r} holds no numbers. Drop it, or give each of its values a "
                f"column: pandas.get_dummies(frame, columns=[{names[at]!r}])."
            )
    columns = [_real(f"{_FEATURES}: column {names[at]!r}", frame.iloc[:, at]) for at in kept]
    return items, np.array(columns).reshape(len(kept), len(frame)).T


def _of_arrow(table: Any) -> tuple[Any, Any]:
    """Return the items of a table of polars or Arrow, and the numbers of its other columns."""
    arrow = as_arrow(table, _FEATURES)
    names = list(arrow.column_names)
    column = _item_column(names, first_names=False)
    if column is None:
        raise SchemaError(f"{_FEATURES}: a table needs a column item; its columns are {listed(names)}.")
    kept = [at for at in range(len(names)) if at != column]
    columns = [_real(f"{_FEATURES}: column {names[at]!r}", arrow.column(at).to_pylist()) for at in kept]
    return arrow.column(column), np.array(columns).reshape(len(kept), len(arrow)).T


def _item_column(names: Sequence[str], *, first_names: bool) -> int | None:
    """Return the position of the column of items; a genre may be called book, but hardly item_id."""
    like = Roles({"item": ITEMS[:1] if first_names else ITEMS}, (), needed=(("item",),), option="")
    return like.columns(names, _FEATURES).positions["item"] if any(map(like.is_name, names)) else None


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
