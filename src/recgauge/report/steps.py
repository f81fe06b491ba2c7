"""What filters and split left: lines for a terminal, a table for a note, curves for a tracker."""

from collections.abc import Sequence
from typing import Any

from recgauge.runs.record import RunRecord

COUNTS = ("rows", "users", "items")


def filter_lines(record: RunRecord) -> list[str]:
    """Return how much data came in and how much each filter left, one aligned line each.

    No lines if there are no filters.
    """
    steps = _filters(record)
    if not steps:
        return []
    counts = [[steps[0][kind][0] for kind in COUNTS], *([step[kind][1] for kind in COUNTS] for step in steps)]
    widths = [max(len(f"{row[column]:,}") for row in counts) for column in range(len(COUNTS))]
    texts = ["as loaded", *map(_text, steps)]
    lines = []
    for place, (row, text) in enumerate(zip(counts, texts, strict=True)):
        cells = zip(row, widths, COUNTS, strict=True)
        numbers = ", ".join(f"{count:>{width},} {kind}" for count, width, kind in cells)
        lines.append(f"{'' if place else 'filters':9}{numbers}  {text}")
    return lines


def dropped_lines(record: RunRecord) -> list[str]:
    """Return what the split dropped, and what else it has to say, one line each."""
    return [
        f"dropped  {_lost(step, 'rows')} rows, {_lost(step, 'users')} users, {_lost(step, 'items')} items: "
        f"{step['name']}"
        if step["rows"][0] > step["rows"][1]
        else f"split    {step['note']}"
        for step in _of_split(record)
    ]


def steps_markdown(record: RunRecord) -> list[str]:
    """Return the lines of a table of all filters, and of what the split dropped, before and after."""
    steps = [*_filters(record), *_of_split(record)]
    if not steps:
        return []
    lines = ["| step | rows | users | items |", "| --- | ---: | ---: | ---: |"]
    for step in steps:
        cells = (f"{step[kind][0]:,} → {step[kind][1]:,}" for kind in COUNTS)
        lines.append(f"| {_text(step)} | {' | '.join(cells)} |")
    return lines


def filter_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, step, count)``: rows, users and items after so many filters, from 0 on."""
    steps = _filters(record)
    return [
        (f"filters/{kind}", place, float(count))
        for kind in COUNTS
        for place, count in enumerate([step[kind][0] for step in steps[:1]] + [s[kind][1] for s in steps])
    ]


def _filters(record: RunRecord) -> Sequence[dict[str, Any]]:
    return [step for step in record.split["steps"] if step["stage"] == "filters"]


def _of_split(record: RunRecord) -> Sequence[dict[str, Any]]:
    """Return the split's steps that dropped something or have something to say."""
    steps = [step for step in record.split["steps"] if step["stage"] != "filters"]
    return [step for step in steps if step["rows"][0] > step["rows"][1] or step["note"]]


def _text(step: dict[str, Any]) -> str:
    """Say what a step did: what it dropped, and what it made of the values."""
    if step["note"] and step["rows"][0] == step["rows"][1]:
        return str(step["note"])
    return f"without {step['name']}" + (f"; {step['note']}" if step["note"] else "")


def _lost(step: dict[str, Any], kind: str) -> str:
    return f"{step[kind][0] - step[kind][1]:,}"
