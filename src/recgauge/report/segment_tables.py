"""Who gains and who loses, as blocks: one row per group of users or items, and single users."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from recgauge.comparison.claims import of_few
from recgauge.comparison.groups import extreme_users
from recgauge.comparison.runs import Condition
from recgauge.comparison.segments import ALL, SegmentPair, SegmentRow, Segments
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import at_least
from recgauge.data.split import Split
from recgauge.errors import ConfigError, listed
from recgauge.report.blocks import Block, Cell, Heading, Row, TableBlock, lines, render_markdown

SHOWN = 10  # items of a history or a list
HIT = "*"
"""Stands before a relevant item of a list."""


def segment_blocks(segments: Segments) -> list[Block]:
    """Return the table, who gains and who loses in words, and how many have no group."""
    kind = "items" if segments.by == "items" else "users"
    without = [f"{segments.n_without:,} {kind} have no group"] if segments.n_without else []
    return [
        *lines(segments.warnings, "marks"),
        segment_table(segments),
        *lines([*claims(segments), *without]),
    ]


def segment_table(segments: Segments) -> TableBlock:
    """Return one row per group and run; name and counts of a group are in its first row."""
    metric, baseline = segments.metric.replace("_at_", "@"), segments.runs[0]
    of_users = all(row.n_users == row.n_rows for row in segments.rows)
    names = (segments.by, "users", *(() if of_users else ("test rows",)), "run")
    compared = () if len(segments.runs) == 1 else (f"difference from {baseline}", "better", "worse")
    pairs = {(pair.segment, pair.a): pair for pair in segments.pairs}
    rows, before = [], ""
    for row in segments.rows:
        counts = [f"{row.n_users:,}", *([] if of_users else [f"{row.n_rows:,}"])]
        group = [row.segment, *counts] if row.segment != before else [""] * (1 + len(counts))
        change = _change(pairs.get((row.segment, row.run))) if compared else ()
        rows.append((*group, row.run, _mean(row), *change))
        before = row.segment
    return TableBlock(
        f"{metric} by {segments.by.replace('_', ' ')}",
        (*names, metric, *compared),
        tuple(rows),
        words=("run",),
        note=" ".join([explanation(segments), *segments.notes]),
        names=len(names),
    )


def _mean(row: SegmentRow) -> str:
    half = (row.high - row.low) / 2
    if math.isnan(half):
        return f"{row.mean:.4f}"
    return f"{row.mean:.4f}" + f" ± {half:.4f}".replace(" 0.", " .") + of_few(row.n_users)


def _change(pair: SegmentPair | None) -> tuple[str, str, str]:
    if pair is None:
        return "", "", ""
    bounds = "" if math.isnan(pair.low) else f" [{pair.low:+.4f}, {pair.high:+.4f}]{of_few(pair.n_users)}"
    difference = f"{pair.difference:+.4f}{bounds}{'*' if pair.differs else ''}"
    return difference, f"{pair.better:.0%}", f"{pair.worse:.0%}"


def claims(segments: Segments) -> list[str]:
    """Return for each run who gains and who loses against the baseline, by rule from the numbers."""
    return [_claim(segments, run) for run in segments.runs[1:]]


def _claim(segments: Segments, run: str) -> str:
    groups: dict[str, list[str]] = {"gains": [], "loses": [], "level": []}
    for pair in segments.pairs:
        if pair.a == run and pair.segment != ALL:
            gains = (pair.difference > 0) == segments.higher_is_better
            word = "level" if not pair.differs else "gains" if gains else "loses"
            groups[word].append(f"{pair.segment} ({pair.difference:+.4f})" if pair.differs else pair.segment)
    parts = [f"{word} in {', '.join(groups[word])}" for word in ("gains", "loses") if groups[word]]
    if groups["level"]:
        parts.append(f"no difference shown in {', '.join(groups['level'])}")
    p = segments.uneven.get(run)
    if p is not None and p <= round(1 - segments.confidence, 12):
        text = "< .0001" if p < 0.0001 else f"= {p:.4f}".replace("0.", ".", 1)
        parts.append(f"the difference is not the same in all groups (p {text})")
    return f"{segments.by}: {run} against {segments.runs[0]}: {'; '.join(parts)}."


def explanation(segments: Segments) -> str:
    """Return what the columns mean."""
    told = f"± half of the {segments.confidence * 100:.4g} % interval over users"
    if len(segments.runs) == 1:
        return f"{told}."
    return (
        f"{told}; [interval of the difference]; * adjusted p at most {1 - segments.confidence:.3g} (paired "
        "t-test over users, Holm over all groups and runs of this table); better, worse: shares of users."
    )


def stories(
    runs: Condition, key: str, dataset: Dataset, split: Split, baseline: str | None, n: int
) -> list[TableBlock]:
    """Return the `n` users with the largest gain, then those with the largest loss, of each run against one.

    Each table has both lists side by side, hits marked, and what there was in training. The baseline is the
    first run if none is named; ConfigError if there is one run only, or no such baseline.
    """
    names = list(runs.runs)
    base = names[0] if baseline is None else baseline
    if len(names) < 2 or base not in names:
        raise ConfigError(f"--examples: two runs are needed to see who gains and loses; got {listed(names)}.")
    values, examples = runs.values([key])[key], []
    entry = runs.first.record.result(key)
    sign = 1 if entry is None or entry.higher_is_better else -1
    titles = _titles(dataset)
    for name in (name for name in names if name != base):
        gain, loss = extreme_users(sign * values[[name, base]], name, base, n)
        for user in [*gain, *loss]:
            both_values = f"{base} {values.loc[user, base]:.4f}, {name} {values.loc[user, name]:.4f}"
            title = f"user {user}: {key.replace('_at_', '@')} of {both_values}"
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
    runs: Condition, user: Any, names: Sequence[str], titles: Mapping[Any, str]
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    test, lowest = runs.first.test(), runs.first.record.dataset.relevant_from
    held = test[(test["user_id"] == user) & (True if lowest is None else at_least(test["rating"], lowest))]
    relevant = set(held["item_id"].tolist())
    columns = []
    for name in names:
        own = runs.runs[name].recommended_to(user)
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
