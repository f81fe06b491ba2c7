"""Joins the checked files of a table into interactions."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.datasets._table.check import CheckedPart
from recgauge.datasets._table.ids import join_ids, joined
from recgauge.errors import SchemaError, listed


def join(parts: Sequence[CheckedPart]) -> Interactions:
    """Return the good rows of all files, in order.

    Raises
    ------
    SchemaError
        If no row is left, or only some files have a rating or a time.
    """
    for role in ("rating", "time"):
        have = [str(part.part.file) for part in parts if role in part.part.columns]
        if 0 < len(have) < len(parts):
            raise SchemaError(
                f"Table: {listed(have)} has a {role} column, other files have none. Choose the columns, "
                f"or set dataset.{role}=false."
            )
    if not any(part.user.n_rows for part in parts):
        files = listed(part.part.file for part in parts)
        raise SchemaError(f"Table: no row is left of {files}. Correct dataset.path or the options.")
    with ThreadPoolExecutor(2) as threads:
        users = threads.submit(join_ids, [part.user for part in parts], "user")
        items = threads.submit(join_ids, [part.item for part in parts], "item")
    (user, user_ids), (item, item_ids) = users.result(), items.result()
    ratings = [part.rating for part in parts if part.rating is not None]
    times = [part.time for part in parts if part.time is not None]
    return Interactions(
        user,
        item,
        joined(ratings) if ratings else np.ones(len(user), np.float32),
        joined(times) if times else None,
        user_ids,
        item_ids,
    )
