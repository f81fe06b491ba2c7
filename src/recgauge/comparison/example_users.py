"""Users with the largest gains and losses: the lists of two runs side by side, and what they had before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from recgauge.comparison.groups import extreme_users
from recgauge.comparison.runs import values_by_run
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import is_relevant
from recgauge.data.split import Split
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import label
from recgauge.report.blocks import Cell, Heading, Row, TableBlock, render_markdown
from recgauge.runs.finished import FinishedRun

SHOWN = 10  # items of a history or a list
HIT = "*"
"""Stands before a relevant item of a list."""


def stories(
    runs: Mapping[str, FinishedRun], key: str, dataset: Dataset, split: Split, baseline: str | None, n: int
) -> list[TableBlock]:
    """Return the `n` users with the largest gain, then those with the largest loss, of each run against one.

    Each table has both lists side by side, hits marked, and what there was in training. The baseline is the
    first run if none is named; ConfigError if there is one run only, or no such baseline.
    """
    names = list(runs)
    base = names[0] if baseline is None else baseline
    if len(names) < 2 or base not in names:
        raise ConfigError(f"--examples: two runs are needed to see who gains and loses; got {listed(names)}.")
    values, examples = values_by_run(runs, [key])[key], []
    entry = next(iter(runs.values())).record.result(key)
    sign = 1 if entry is None or entry.higher_is_better else -1
    titles = _titles(dataset)
    for name in (name for name in names if name != base):
        gain, loss = extreme_users(sign * values[[name, base]], name, base, n)
        for user in [*gain, *loss]:
            both_values = f"{base} {values.loc[user, base]:.4f}, {name} {values.loc[user, name]:.4f}"
            title = f"user {user}: {label(key)} of {both_values}"
            header, rows = _lists(runs, user, (base, name), titles)
            note = _history(split, user, titles)
            examples.append(TableBlock(title, header, rows, header[1:], note=note, look="story"))
    return examples


def story_markdown(story: TableBlock) -> str:
    """Return one of the tables in Markdown, under a heading."""
    return render_markdown([Heading(story.caption), replace(story, caption="")])


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
    runs: Mapping[str, FinishedRun], user: Any, names: Sequence[str], titles: Mapping[Any, str]
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    first = next(iter(runs.values()))
    test, lowest = first.test(), first.record.dataset.relevant_from
    held = test[(test["user_id"] == user) & (True if lowest is None else is_relevant(test["rating"], lowest))]
    relevant = set(held["item_id"].tolist())
    columns = []
    for name in names:
        own = runs[name].recommended_to(user)
        items = own.sort_values("rank")["item_id"].tolist()[:SHOWN]
        columns.append(
            [
                Cell(f"{HIT} {titles[item]}", look="hit") if item in relevant else Cell(titles[item])
                for item in items
            ]
        )
    lines = enumerate(zip_longest(*columns, fillvalue=Cell("")), 1)
    header = ("rank", *(f"{name} ({HIT} relevant, of {len(relevant)})" for name in names))
    return header, tuple((str(rank), *cells) for rank, cells in lines)
