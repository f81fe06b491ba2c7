"""Who gains and who loses, as blocks: one row per group of users or items, and example users."""

import math
from dataclasses import dataclass, replace

from recgauge.comparison.segments import ALL, SegmentPair, Segments
from recgauge.report.blocks import Block, Cell, Heading, Row, TableBlock, lines
from recgauge.report.markdown import render_markdown

HIT = "*"
"""Stands before a relevant item of a list."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An item of a list: its title, else its id; and whether it is relevant."""

    text: str
    hit: bool = False

    def __str__(self) -> str:
        return f"{HIT} {self.text}" if self.hit else self.text


@dataclass(frozen=True, slots=True)
class Story:
    """One user's lists by two runs: their values, what there was in training, the item at each rank."""

    title: str
    history: str
    header: tuple[str, ...]
    ranks: tuple[tuple[Listed, ...], ...]

    def table(self) -> TableBlock:
        """Return both lists side by side, hits marked."""
        rows: list[Row] = [
            (str(rank), *(Cell(str(item), look="hit" if item.hit else "") for item in items))
            for rank, items in enumerate(self.ranks, 1)
        ]
        words = self.header[1:]
        return TableBlock(self.title, self.header, tuple(rows), words, note=self.history, look="story")

    def markdown(self) -> str:
        """Return the story in Markdown."""
        return render_markdown([Heading(self.title), replace(self.table(), caption="")])


def header(segments: Segments) -> list[str]:
    """Return the columns of the table with one row per group and run."""
    counted = ["users"] if _of_users(segments) else ["users", "test rows"]
    own = [segments.by, *counted, "run", f"{segments.metric.replace('_at_', '@')}"]
    return (
        own if len(segments.runs) == 1 else [*own, f"difference from {segments.runs[0]}", "better", "worse"]
    )


def cells(segments: Segments) -> list[list[str]]:
    """Return the cells of the table; see `header`. Name and counts of a group are in its first row."""
    pairs = {(pair.segment, pair.a): pair for pair in segments.pairs}
    table, before = [], ""
    for row in segments.rows:
        counted = [f"{row.n_users:,}"] if _of_users(segments) else [f"{row.n_users:,}", f"{row.n_rows:,}"]
        group = [row.segment, *counted] if row.segment != before else [""] * (1 + len(counted))
        half = (row.high - row.low) / 2
        mean = f"{row.mean:.4f}" + ("" if math.isnan(half) else f" ± {_short(half)}")
        change = [] if len(segments.runs) == 1 else _change(pairs.get((row.segment, row.run)))
        table.append([*group, row.run, mean, *change])
        before = row.segment
    return table


def _change(pair: SegmentPair | None) -> list[str]:
    if pair is None:
        return ["", "", ""]
    bounds = "" if math.isnan(pair.low) else f" [{pair.low:+.4f}, {pair.high:+.4f}]"
    return [
        f"{pair.difference:+.4f}{bounds}{'*' if pair.differs else ''}",
        f"{pair.better:.0%}",
        f"{pair.worse:.0%}",
    ]


def _short(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _of_users(segments: Segments) -> bool:
    return all(row.n_users == row.n_rows for row in segments.rows)


def claims(segments: Segments) -> list[str]:
    """Return for each run who gains and who loses against the baseline, by rule from the numbers.

    Examples
    --------
    >>> from recgauge.comparison.segments import compare_segments
    >>> values = {"old": [0.1, 0.2, 0.1, 0.2, 0.9, 0.8], "new": [0.6, 0.7, 0.61, 0.7, 0.9, 0.8]}
    >>> import pandas as pd
    >>> groups = {0: "few", 1: "few", 2: "few", 3: "few", 4: "many", 5: "many"}
    >>> claims(compare_segments(pd.DataFrame(values), groups, by="activity"))
    ['activity: new against old: gains in few (+0.5025); no difference shown in many.']
    """
    return [_claim(segments, run) for run in segments.runs[1:]]


def _claim(segments: Segments, run: str) -> str:
    pairs = [pair for pair in segments.pairs if pair.a == run and pair.segment != ALL]

    def told(some: list[SegmentPair]) -> str:
        return ", ".join(f"{pair.segment} ({pair.difference:+.4f})" for pair in some)

    differing = [pair for pair in pairs if pair.differs]
    gains = [pair for pair in differing if (pair.difference > 0) == segments.higher_is_better]
    losses = [pair for pair in differing if pair not in gains]
    level = [pair for pair in pairs if not pair.differs]
    parts = [f"{word} in {told(some)}" for word, some in (("gains", gains), ("loses", losses)) if some]
    if level:
        parts.append(f"no difference shown in {', '.join(pair.segment for pair in level)}")
    p = segments.uneven.get(run)
    if p is not None and p <= round(1 - segments.confidence, 12):
        parts.append(f"the difference is not the same in all groups (p {_p_text(p)})")
    return f"{segments.by}: {run} against {segments.runs[0]}: {'; '.join(parts)}."


def _p_text(p: float) -> str:
    return "< .0001" if p < 0.0001 else f"= {p:.4f}".replace("0.", ".", 1)


def explanation(segments: Segments) -> str:
    """Return what the columns mean."""
    told = f"± half of the {segments.confidence * 100:.4g} % interval over users"
    if len(segments.runs) == 1:
        return f"{told}."
    return (
        f"{told}; [interval of the difference]; * adjusted p at most {1 - segments.confidence:.3g} (paired "
        "t-test over users, Holm over all groups and runs of this table); better, worse: shares of users."
    )


def segment_table(segments: Segments) -> TableBlock:
    """Return one row per group and run."""
    caption = f"{segments.metric.replace('_at_', '@')} by {segments.by.replace('_', ' ')}"
    names = tuple(header(segments))
    rows = tuple(map(tuple, cells(segments)))
    n_names = names.index("run") + 1
    return TableBlock(caption, names, rows, words=("run",), note=explanation(segments), names=n_names)


def segment_blocks(segments: Segments) -> list[Block]:
    """Return the table, who gains and who loses in words, and how many have no group."""
    kind = "items" if segments.by == "items" else "users"
    without = [f"{segments.n_without:,} {kind} have no group"] if segments.n_without else []
    return [segment_table(segments), *lines([*claims(segments), *without])]


def markdown(segments: Segments) -> str:
    """Return the table and the sentences in Markdown."""
    return render_markdown(segment_blocks(segments))
