"""Lists and relevant items that are codes already: what they are evaluated with, and whose ids they have."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from recgauge.data.catalogue import make_catalogue
from recgauge.data.ids import IdArray, as_ids
from recgauge.data.interactions import Interactions
from recgauge.data.item_tables import ItemTable
from recgauge.data.lists import Relevant, TopK
from recgauge.errors import SchemaError
from recgauge.evaluation.values import EvaluationInputs
from recgauge.judging import _lookup
from recgauge.utils.checks import IntArray, check_int, shown


def inputs_of_codes(
    top_k: TopK,
    relevant: Relevant,
    train: Any,
    tables: Sequence[ItemTable | None],
    n_items: int | None,
    users: Any,
) -> EvaluationInputs:
    """Take codes as they are; the ids of users are those of `relevant` or `train`, else the codes."""
    if train is not None and not isinstance(train, Interactions):
        raise SchemaError(
            "train: with codes (TopK and Relevant) it must be Interactions over the same codes."
        )
    row = _lookup.first_repeat_ragged(relevant.start, relevant.items)
    if row is not None:
        raise SchemaError(f"relevant: user code {relevant.users[row]} has an item twice.")
    user_ids, item_ids = _ids_of(relevant, train)
    chosen = None if users is None else _user_codes(users)
    columns = (top_k.users, relevant.users) if chosen is None else (top_k.users, relevant.users, chosen)
    n_users = 1 + int(max(column.max(initial=-1) for column in columns))
    n_listed = 1 + int(max(top_k.items.max(initial=0), relevant.items.max(initial=0)))
    n_codes = max(
        n_listed, 0 if train is None else train.n_items, *(_n_items(each, item_ids) for each in tables)
    )
    if user_ids is None or item_ids is None:
        user_ids, item_ids = np.arange(n_users), np.arange(n_codes)
    require_ids(top_k, user_ids, item_ids)
    if n_users > len(user_ids):
        raise SchemaError(f"users: {n_users - 1} is no code of a user; there are {len(user_ids):,}.")
    size = n_codes if n_items is None else check_int("n_items", n_items, minimum=n_codes)
    listed = top_k.items[top_k.items >= 0] if any(tables) else top_k.items[:0, 0]
    of_items = [
        None if table is None else table.by_item(_codes_of(table, item_ids), item_ids, size, listed)
        for table in tables
    ]
    seen = None if train is None else train.to_csr()
    catalogue = make_catalogue(size, seen, *of_items, n_train_users=None, sized=n_items is not None)
    return EvaluationInputs(top_k, relevant, user_ids, chosen, catalogue)


def require_ids(lists: TopK, user_ids: IdArray, item_ids: IdArray) -> None:
    """Refuse codes that have no id."""
    for name, codes, ids in (("user", lists.users, user_ids), ("item", lists.items, item_ids)):
        if codes.max(initial=-1) >= len(ids):
            raise SchemaError(
                f"recommendations: {name} code {codes.max()} has no id; there are {len(ids):,}. Lists and "
                "relevant items must be over the same codes, such as those of one split."
            )


def _ids_of(relevant: Relevant, train: Interactions | None) -> tuple[IdArray | None, IdArray | None]:
    """Return the ids of users and items; relevant and training rows must be over the same."""
    ids = relevant.user_ids, relevant.item_ids
    if train is None:
        return ids
    for name, own, other in zip(("user", "item"), ids, (train.user_ids, train.item_ids), strict=True):
        if own is not None and own is not other and not np.array_equal(own, other):
            raise SchemaError(f"train: its {name} ids are not those of relevant. Use parts of one split.")
    return train.user_ids, train.item_ids


def _n_items(table: ItemTable | None, item_ids: IdArray | None) -> int:
    """Return how many codes of items a table shows."""
    if table is None:
        return 0
    if item_ids is not None and not table.by_code:
        return len(item_ids)
    return int(table.items.max(initial=-1)) + 1 if table.items.dtype == np.int64 else 0


def _user_codes(users: Any) -> IntArray:
    codes = as_ids("users", users)
    if codes.dtype != np.int64:
        raise SchemaError("users: with codes (TopK and Relevant) they must be codes: whole numbers.")
    if len(np.unique(codes)) < len(codes) or codes.min(initial=0) < 0:
        raise SchemaError("users: an id appears twice, or is no code. Name everybody once, by codes from 0.")
    return codes.astype(np.int32)


def _codes_of(table: ItemTable, item_ids: IdArray) -> IntArray:
    """Return the code of each item of a table."""
    if table.by_code:
        return np.asarray(table.items, np.int32)
    code_of = {item: code for code, item in enumerate(item_ids.tolist())}
    unknown = next((item for item in table.items.tolist() if item not in code_of), None)
    if unknown is not None:
        raise SchemaError(f"{table.name}: item {shown(unknown)} is no item of relevant and train.")
    return np.array([code_of[item] for item in table.items.tolist()], np.int32)
