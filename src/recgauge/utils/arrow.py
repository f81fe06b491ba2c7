"""Arrays to and from Arrow without pandas, which pyarrow's own conversions import: two thirds of a second."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


def to_arrow(values: npt.NDArray[Any]) -> "pa.Array":
    """Return numbers, truth values or text as an Arrow array; numbers are not copied.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Of numbers, bool, or text (numpy's own, or Python's in an object array).

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


def to_numpy(column: "pa.ChunkedArray | pa.Array") -> npt.NDArray[Any]:
    """Return the cells of a column, not to be written to: of plain numbers, else as Python's objects.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        Numbers without a null are not copied if they are in one chunk.

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
