"""Arrays to and from Arrow without pandas, which pyarrow's own conversions import: two thirds of a second."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


def to_arrow(values: npt.NDArray[Any]) -> "pa.Array":
    """Return numbers, truth values or text as an Arrow array; numbers are not copied.

    Examples
    --------
    >>> to_arrow(np.array([0.5, 2.0])).to_pylist(), to_arrow(np.array(["ä", "b"])).to_pylist()
    ([0.5, 2.0], ['ä', 'b'])
    >>> to_arrow(np.array([True, False])).to_pylist()
    [True, False]
    """
    import pyarrow as pa

    n = len(values)
    if values.dtype.kind in "UO":
        texts = [str(value).encode() for value in values.tolist()]
        ends = np.zeros(n + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=ends[1:])
        text = pa.py_buffer(b"".join(texts))
        kind = pa.string() if ends[-1] < 1 << 31 else pa.large_string()
        offsets = ends.astype(np.int32) if kind == pa.string() else ends
        return pa.Array.from_buffers(kind, n, [None, pa.py_buffer(offsets), text])
    if values.dtype.kind == "b":
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), n, [None, pa.py_buffer(bits)])
    plain = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.type_for_alias(plain.dtype.name), n, [None, pa.py_buffer(plain)])


def arrow_table(columns: Mapping[str, npt.NDArray[Any]]) -> "pa.Table":
    """Return a table of such columns."""
    import pyarrow as pa

    return pa.Table.from_arrays([to_arrow(values) for values in columns.values()], names=list(columns))


def cells_to_arrow(cells: Sequence[str | None] | Sequence[int | None]) -> "pa.Array":
    """Return texts, or whole numbers, as an Arrow array; None is null.

    Examples
    --------
    >>> cells_to_arrow(["a", None]).to_pylist(), cells_to_arrow([7, None]).to_pylist()
    (['a', None], [7, None])
    """
    import pyarrow as pa

    kind = pa.int64() if any(isinstance(cell, int) for cell in cells) else pa.large_string()
    return pa.array(cells, kind)  # which imports pandas; few tables have such cells


def filled(column: "pa.ChunkedArray | pa.Array", value: np.generic) -> "pa.ChunkedArray | pa.Array":
    """Return a column of numbers with `value`, of their type, instead of nulls.

    Examples
    --------
    >>> import pyarrow as pa
    >>> filled(pa.array([1, None]), np.int64(-1)).to_pylist()
    [1, -1]
    """
    import pyarrow.compute as pc

    return pc.coalesce(column, to_arrow(np.full(len(column), value))) if column.null_count else column


def without_views(table: "pa.Table") -> "pa.Table":
    """Return a table whose texts have offsets: of views, as polars writes them, Arrow can do next to nothing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_views(pa.table({"user": pa.array(["a"], pa.string_view())})).schema.types
    [DataType(large_string)]
    """
    import pyarrow as pa

    kinds = [type_without_views(kind) for kind in table.schema.types]
    for place, (name, kind) in enumerate(zip(table.column_names, kinds, strict=True)):
        column = table.column(place)
        if pa.types.is_dictionary(kind):  # Arrow casts none of views
            chunks = [
                pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind.value_type))
                for chunk in column.chunks
            ]
            table = table.set_column(place, name, pa.chunked_array(chunks, kind if not chunks else None))
        elif kind != column.type:
            table = table.set_column(place, name, column.cast(kind))
    return table


def type_without_views(kind: "pa.DataType") -> "pa.DataType":
    """Return the type of the same values with offsets."""
    import pyarrow as pa

    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, type_without_views(kind.value_type), kind.ordered)
    if types.is_struct(kind):
        return pa.struct([field.with_type(type_without_views(field.type)) for field in kind])
    if types.is_large_list(kind):
        return pa.large_list(type_without_views(kind.value_type))
    if types.is_list(kind):
        return pa.list_(type_without_views(kind.value_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(type_without_views(kind.value_type), kind.list_size)
    return kind


def to_numpy(column: "pa.ChunkedArray | pa.Array") -> npt.NDArray[Any]:
    """Return the cells of a column, not to be written to: of plain numbers, else as Python's objects.

    Examples
    --------
    >>> to_numpy(to_arrow(np.array([3, 4])))
    array([3, 4])
    """
    import pyarrow as pa

    plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if not plain or column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    chunks = [column] if isinstance(column, pa.Array) else column.chunks
    arrays = [np.from_dlpack(chunk) for chunk in chunks if len(chunk)]
    if not arrays:
        return np.empty(0, str(column.type).replace("double", "float64"))
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
