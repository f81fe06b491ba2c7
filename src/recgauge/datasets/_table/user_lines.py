"""Reads text with one user a line, followed by the user's items, as published with NGCF and LightGCN."""

from itertools import chain

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.part import Part
from recgauge.errors import SchemaError


def read_user_lines(file: TableFile, separator: str | None) -> Part:
    """Return one row for each item of each line.

    Parameters
    ----------
    file : TableFile
    separator : str or None
        What parts the ids; None is any blank space.

    Raises
    ------
    SchemaError
        If the text is not UTF-8.
    """
    import pyarrow as pa

    with file.open() as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SchemaError(
                f"{file} is not utf-8 text. Set dataset.encoding, for example to iso-8859-1."
            ) from error
    lines = [line.strip().split(separator) for line in text.split("\n")]
    filled = [(number, ids) for number, ids in enumerate(lines, start=1) if ids and ids[0]]
    n_items = np.array([len(ids) - 1 for _, ids in filled], dtype=np.int64)
    users = pa.array([ids[0] for _, ids in filled], pa.string()).take(
        np.repeat(np.arange(len(filled)), n_items)
    )
    items = pa.array(chain.from_iterable(ids[1:] for _, ids in filled), pa.string())
    n_idle = int((n_items == 0).sum())
    return Part(
        file,
        {"user": pa.chunked_array([users]), "item": pa.chunked_array([items])},
        {"user": "first id of a line", "item": "the other ids"},
        np.repeat(np.array([number for number, _ in filled], dtype=np.int64), n_items),
        remark=f"{n_idle:,} users have no items" if n_idle else "",
    )
