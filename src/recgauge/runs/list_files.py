"""Writes recommended lists: whole, only the rows of relevant items, or not at all."""

from collections.abc import Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recgauge.data.interactions import Interactions
from recgauge.data.top_k import TopK
from recgauge.errors import ConfigError
from recgauge.runs.folder import HITS as HITS
from recgauge.runs.result import RankingResult
from recgauge.runs.stored import LISTS as LISTS
from recgauge.utils.arrow import to_arrow
from recgauge.utils.checks import BoolArray, IntArray
from recgauge.utils.progress import Progress

FILES = {"true": LISTS, "relevant_k": HITS, "false": None}
"""What each value of ``artifacts.lists`` stores; each value includes what the later ones store."""
LARGE = 100_000_000  # bytes; larger files are announced before they are written
ROWS_OF_A_GROUP = 1_000_000

# a quarter smaller than by default, see benchmarks/results.md
COLUMNS: dict[str, Any] = {
    "compression": "zstd",
    "use_dictionary": ["user_id", "item_id"],
    "column_encoding": {"rank": "DELTA_BINARY_PACKED", "score": "BYTE_STREAM_SPLIT"},
}


def which_lists(value: object) -> str:
    """Return the setting ``artifacts.lists`` as one of the keys of `FILES`."""
    text = str(value).lower()
    if text not in FILES:
        raise ConfigError(
            f"artifacts.lists: {value!r} is none of true (whole lists), relevant_k (the rows of relevant "
            "items only) and false (no lists)."
        )
    return text


def check_study(value: object, artifacts: Sequence[str]) -> None:
    """Refuse a setting ``artifacts.lists`` that is unknown or stores less than a study needs."""
    stored = FILES[which_lists(value)]
    needed = [name for name in (LISTS, HITS) if name in artifacts and name != stored]
    if needed:
        fitting = next(key for key, name in FILES.items() if name == needed[0])
        raise ConfigError(
            f"artifacts.lists={which_lists(value)}: the experiment's study needs {needed[0]} of every run; "
            f"use artifacts.lists={fitting}."
        )


def holds(settings: Mapping[str, Any], wanted: object) -> bool:
    """Whether a run with these settings has stored the lists that ``artifacts.lists=wanted`` stores.

    Runs from before that setting stored whole lists. Whole lists hold the relevant rows, too.
    """
    stored = which_lists((settings.get("artifacts") or {}).get("lists", True))
    order = list(FILES)
    return order.index(stored) <= order.index(which_lists(wanted))


def write_lists(
    ranking: RankingResult, ids: Interactions, folder: Path, lists: str, progress: Progress
) -> list[Path]:
    """Write recommendations.parquet or hits.parquet: user_id, item_id, rank (from 1), score."""
    name = FILES[lists]
    if name is None:
        return []
    top_k = ranking.top_k
    if lists == "true" and (size := estimated_size(top_k, ids.n_items)) >= LARGE:
        progress.note(
            f"{LISTS} takes about {size / 1e6:,.0f} MB ({len(top_k.users):,} lists). Smaller: "
            f"artifacts.lists=relevant_k keeps the rows of relevant items only, artifacts.lists=false none."
        )
    user_ids, item_ids = to_arrow(ids.user_ids), to_arrow(ids.item_ids)
    schema = pa.schema(
        [
            ("user_id", user_ids.type),
            ("item_id", item_ids.type),
            ("rank", pa.int32()),
            ("score", to_arrow(top_k.scores[:0].ravel()).type),
        ]
    )
    with pq.ParquetWriter(folder / name, schema, **COLUMNS) as writer:
        for users, items, scores, kept in _blocks(ranking, ids.n_items, whole=lists == "true"):
            row, column = np.nonzero(kept)
            columns = (
                user_ids.take(to_arrow(users[row])),
                item_ids.take(to_arrow(items[row, column])),
                to_arrow((column + 1).astype(np.int32)),
                to_arrow(scores[row, column]),
            )
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    return [folder / name]


def estimated_size(top_k: TopK, n_items: int) -> int:
    """Return about how many bytes whole lists take as a file.

    Items take the bits that their number needs, scores about two and a half bytes of four; users and ranks
    next to nothing.
    """
    n_rows = int((top_k.items >= 0).sum())
    return round(n_rows * (log2(max(n_items, 2)) / 8 + 2.5))


def _blocks(
    ranking: RankingResult, n_items: int, *, whole: bool
) -> Iterator[tuple[IntArray, IntArray, Any, BoolArray]]:
    """Yield users, items, scores and which to keep, for so few users at a time that memory stays small."""
    top_k, relevant = ranking.top_k, ranking.relevant
    pairs = np.repeat(relevant.users.astype(np.int64), np.diff(relevant.start)) * n_items + relevant.items
    size = max(1, ROWS_OF_A_GROUP // max(1, top_k.items.shape[1]))
    for begin in range(0, max(1, len(top_k.users)), size):
        part = slice(begin, begin + size)
        users, items = top_k.users[part], top_k.items[part]
        kept = items >= 0
        if not whole:
            kept &= np.isin(users[:, None].astype(np.int64) * n_items + items, pairs)
        yield users, items, top_k.scores[part], kept
