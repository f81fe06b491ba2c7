"""Users with the largest gains and losses: the lists of two runs side by side, and what they had before."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from recgauge.comparison.groups import extreme_users
from recgauge.comparison.runs import values_by_run
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import is_relevant
from recgauge.data.split import Split
from recgauge.metrics.names import label
from recgauge.report.blocks import Cell, Row, TableBlock
from recgauge.runs.finished import FinishedRun

SHOWN = 10  # items of a history or a list
HIT = "*"
"""Stands before a relevant item of a list."""


def stories(
    runs: Mapping[str, FinishedRun], key: str, dataset: Dataset, split: Split, n: int
) -> list[TableBlock]:
    """Return the `n` users with the largest gain from the first run to the second, then those with the loss.

    Each table has both lists side by side, hits marked, and what there was in training.
    """
    (base, run), titles, examples = runs, _titles(dataset), []
    values, entry = values_by_run(runs, [key])[key], runs[base].record.result(key)
    sign = 1 if entry is None or entry.higher_is_better else -1
    gain, loss = extreme_users(sign * values, run, base, n)
    for user in [*gain, *loss]:
        both_values = f"{base} {values.loc[user, base]:.4f}, {run} {values.loc[user, run]:.4f}"
        title = f"user {user}: {label(key)} of {both_values}"
        header, rows = _lists(runs, user, titles)
        note = _history(split, user, titles)
        examples.append(TableBlock(title, header, rows, header[1:], note=note, look="story"))
    return examples


def _titles(dataset: Dataset) -> dict[Any, str]:
    ids = dataset.interactions.item_ids.tolist()
    texts = ids if dataset.item_titles is None else dataset.item_titles.tolist()
    return {item: str(text) for item, text in zip(ids, texts, strict=True)}


def _history(split: Split, user: Any, titles: Mapping[Any, str]) -> str:
    rows = split.history
    own = np.flatnonzero(rows.user_ids[rows.user] == user)
    by = rows.value if rows.timestamp is None else rows.timestamp
    own = own[np.argsort(-by[own], kind="stable")]
    items = [titles[item] for item in rows.item_ids[rows.item[own[:SHOWN]]].tolist()]
    order = "best rated" if rows.timestamp is None else "latest"
    return f"{len(own)} training rows, {order}: {'; '.join(items) or 'none'}"


def _lists(
    runs: Mapping[str, FinishedRun], user: Any, titles: Mapping[Any, str]
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    first = next(iter(runs.values()))
    test, lowest = first.test(), first.record.dataset.relevant_from
    held = test[(test["user_id"] == user) & (True if lowest is None else is_relevant(test["rating"], lowest))]
    relevant = set(held["item_id"].tolist())
    columns = []
    for run in runs.values():
        items = run.recommended_to(user).sort_values("rank")["item_id"].tolist()[:SHOWN]
        columns.append(
            [
                Cell(f"{HIT} {titles[item]}", look="hit") if item in relevant else Cell(titles[item])
                for item in items
            ]
        )
    lines = enumerate(zip_longest(*columns, fillvalue=Cell("")), 1)
    header = ("rank", *(f"{name} ({HIT} relevant, of {len(relevant)})" for name in runs))
    return header, tuple((str(rank), *cells) for rank, cells in lines)
