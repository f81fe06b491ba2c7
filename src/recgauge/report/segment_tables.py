"""Who gains and who loses, as blocks: one row per group of users or items."""

import math
from typing import TYPE_CHECKING

from recgauge.data.coverage import of_few
from recgauge.metrics.names import label
from recgauge.report.blocks import Block, TableBlock, lines

if TYPE_CHECKING:
    from recgauge.comparison.segments import SegmentPair, SegmentRow, Segments


ALL = "all"
"""The group of everybody."""
UNITS = {
    "activity": "training rows",
    "age": "days since the first training row",
    "item_popularity": "training rows per test item",
    "items": "training rows",
}
"""What the numbers in the names of groups count."""


def segment_blocks(segments: "Segments") -> list[Block]:
    """Return the table, who gains and who loses in words, and how many have no group."""
    kind = "items" if segments.by == "items" else "users"
    without = [f"{segments.n_without:,} {kind} have no group"] if segments.n_without else []
    return [
        *lines(segments.warnings, "marks"),
        segment_table(segments),
        *lines([*claims(segments), *without]),
    ]


def segment_table(segments: "Segments") -> TableBlock:
    """Return one row per group and run; name and counts of a group are in its first row."""
    metric, baseline = label(segments.metric), segments.runs[0]
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
        f"{metric} by {group_words(segments)}",
        (*names, metric, *compared),
        tuple(rows),
        words=("run",),
        note=" ".join([explanation(segments), *segments.notes]),
        names=len(names),
    )


def group_words(segments: "Segments") -> str:
    """Return what users or items are grouped by, and what the numbers in the names of groups count."""
    unit, by = UNITS.get(segments.by, ""), segments.by.replace("_", " ")
    numbers = any(row.segment[:1].isdigit() for row in segments.rows)
    return f"{by}, in {unit}" if unit and numbers else by


def _mean(row: "SegmentRow") -> str:
    half = (row.high - row.low) / 2
    if math.isnan(half):
        return f"{row.mean:.4f}"
    return f"{row.mean:.4f}" + f" ± {half:.4f}".replace(" 0.", " .") + of_few(row.n_users)


def _change(pair: "SegmentPair | None") -> tuple[str, str, str]:
    if pair is None:
        return "", "", ""
    bounds = "" if math.isnan(pair.low) else f" [{pair.low:+.4f}, {pair.high:+.4f}]{of_few(pair.n_users)}"
    difference = f"{pair.difference:+.4f}{bounds}{'*' if pair.differs and pair.segment != ALL else ''}"
    return difference, f"{pair.better:.0%}", f"{pair.worse:.0%}"


def claims(segments: "Segments") -> list[str]:
    """Return for each run who gains and who loses against the baseline, by rule from the numbers."""
    return [_claim(segments, run) for run in segments.runs[1:]]


def _claim(segments: "Segments", run: str) -> str:
    groups: dict[str, list[str]] = {"gains": [], "loses": [], "is not shown to differ": []}
    gains, loses, level = groups.values()
    for pair in segments.pairs:
        if pair.a == run and pair.segment != ALL:
            gained = (pair.difference > 0) == segments.higher_is_better
            own = level if not pair.differs else gains if gained else loses
            own.append(f"{pair.segment} ({pair.difference:+.4f})" if pair.differs else pair.segment)
    parts = [f"{word} in {', '.join(names)}" for word, names in groups.items() if names]
    p = segments.uneven.get(run)
    if p is not None and p <= round(1 - segments.confidence, 12):
        text = "< .0001" if p < 0.0001 else f"= {p:.4f}".replace("0.", ".", 1)
        parts.append(f"the difference is not the same in all groups (p {text})")
    return f"By {group_words(segments)}: {run} against {segments.runs[0]} {'; '.join(parts)}."


def explanation(segments: "Segments") -> str:
    """Return what the columns mean."""
    text = f"± half of the {segments.confidence * 100:.4g} % interval over users"
    if len(segments.runs) == 1:
        return f"{text}."
    return (
        f"{text}; [interval of the difference]; * in a group, adjusted p at most "
        f"{1 - segments.confidence:.3g} (paired t-test over users, Holm over all groups and runs of this "
        "table; recgauge compare judges all users); better, worse: shares of users."
    )
