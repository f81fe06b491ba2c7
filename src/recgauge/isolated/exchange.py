"""What goes to a worker as files and what comes back: training rows, who gets lists, and lists."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.top_k import TopK
from recgauge.errors import ScoreError
from recgauge.utils.checks import IntArray


def write_rows(path: Path, train: Interactions) -> None:
    """Write the training rows as arrays of codes, ratings and times; times are zero where nobody knows."""
    times = np.zeros(len(train), np.int64) if train.timestamp is None else train.timestamp
    np.savez(path, user=train.user, item=train.item, value=train.value, timestamp=times)


def write_question(path: Path, users: IntArray, candidates: CandidateItems) -> None:
    """Write who gets a list, and what each leaves out (``only`` is false) or each one's only candidates."""
    matrix = candidates.excluded if candidates.per_user is None else candidates.per_user
    start, codes = np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32)
    if matrix is not None:
        rows = matrix[users]
        start, codes = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    arrays: dict[str, Any] = {"users": users, "start": start, "codes": codes}
    if candidates.items is not None:
        arrays["allowed"] = candidates.items
    np.savez(path, only=np.bool_(candidates.per_user is not None), **arrays)


def read_lists(path: Path, users: IntArray, k: int, *, called: str) -> TopK:
    """Return the lists that a worker wrote."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            items, scores = arrays["items"], arrays["scores"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ScoreError(f"{called}: its lists cannot be read ({error}).") from error
    shape = (len(users), k)
    if items.shape != shape or scores.shape != shape or items.dtype.kind != "i" or scores.dtype.kind != "f":
        raise ScoreError(
            f"{called}: {shape[0]} lists of {k} items were asked for, got {items.shape} {items.dtype} "
            f"with scores {scores.shape} {scores.dtype}."
        )
    return TopK(users, items.astype(np.int32), scores)


def check_lists(lists: TopK, candidates: CandidateItems, *, n_items: int, called: str) -> None:
    """Refuse lists that no library may give."""
    users, items, scores = lists.users, lists.items, lists.scores
    row, column = np.nonzero(items >= 0)
    found = items[row, column]
    rows = {
        "items that do not exist": row[found >= n_items],
        "scores that are no numbers": row[~np.isfinite(scores[row, column])],
        "items after an empty place": np.flatnonzero(((items[:, 1:] >= 0) & (items[:, :-1] < 0)).any(axis=1)),
    }
    if not any(map(len, rows.values())):
        together = np.lexsort((found, row))
        again = (np.diff(found[together]) == 0) & (np.diff(row[together]) == 0)
        rows["an item twice"] = row[together][1:][again]
        rising = (scores[:, 1:] > scores[:, :-1]) & (items[:, 1:] >= 0)
        rows["scores that rise"] = np.flatnonzero(rising.any(axis=1))
        rows["items that are no candidates"] = row[~candidates.holds(users[row], found)]
    for what, wrong in rows.items():
        if len(wrong):
            raise ScoreError(
                f"{called}: {len(np.unique(wrong))} of {len(users)} lists have {what}, first that of the "
                f"user with code {users[wrong[0]]}."
            )
