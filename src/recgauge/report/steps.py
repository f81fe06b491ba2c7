"""What filters and split left: lines for a terminal, a table for a note, curves for a tracker."""

from collections.abc import Sequence

from recgauge.data.split import Step
from recgauge.runs.record import RunRecord

COUNTS = ("rows", "users", "items")


def filter_lines(record: RunRecord) -> list[str]:
    """Return how much data came in and how much each filter left, one aligned line each.

    No lines if there are no filters.
    """
    steps = _filters(record)
    if not steps:
        return []
    counts = _counts_after_each(steps)
    widths = [max(len(f"{row[column]:,}") for row in counts) for column in range(len(COUNTS))]
    texts = ["as loaded", *map(_text, steps)]
    lines = []
    for number, (row, text) in enumerate(zip(counts, texts, strict=True)):
        cells = zip(row, widths, COUNTS, strict=True)
        numbers = ", ".join(f"{count:>{width},} {kind}" for count, width, kind in cells)
        lines.append(f"{'' if number else 'filters':9}{numbers}  {text}")
    return lines


def dropped_lines(record: RunRecord) -> list[str]:
    """Return what the split dropped, and its other notes, one line each."""
    return [
        f"dropped  {', '.join(_lost(step))}: {step.name}" if step.dropped_rows else f"split    {step.note}"
        for step in _of_split(record)
    ]


def steps_markdown(record: RunRecord) -> list[str]:
    """Return the lines of a table of all filters, and of what the split dropped, before and after."""
    steps = [*_filters(record), *_of_split(record)]
    if not steps:
        return []
    lines = ["| step | rows | users | items |", "| --- | ---: | ---: | ---: |"]
    for step in steps:
        cells = (f"{before:,} → {after:,}" for before, after in _counts(step))
        lines.append(f"| {_text(step)} | {' | '.join(cells)} |")
    return lines


def filter_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, step, count)``: rows, users and items after so many filters, from 0 on."""
    return [
        (f"filters/{kind}", n_filters, float(counts[column]))
        for column, kind in enumerate(COUNTS)
        for n_filters, counts in enumerate(_counts_after_each(_filters(record)))
    ]


def _filters(record: RunRecord) -> list[Step]:
    return [step for step in record.split.steps if step.stage == "filters"]


def _of_split(record: RunRecord) -> list[Step]:
    """Return the split's steps that dropped something or have something to say."""
    steps = [step for step in record.split.steps if step.stage != "filters"]
    return [step for step in steps if step.dropped_rows or step.note]


def _text(step: Step) -> str:
    """Say what a step did: what it dropped, and what it made of the values."""
    if step.note and not step.dropped_rows:
        return step.note
    return f"without {step.name}" + (f"; {step.note}" if step.note else "")


def _counts(step: Step) -> tuple[tuple[int, int], ...]:
    """Return rows, users and items, each before and after."""
    return step.rows, step.users, step.items


def _counts_after_each(steps: Sequence[Step]) -> list[tuple[int, ...]]:
    """Return rows, users and items as loaded and after each step; nothing without steps."""
    if not steps:
        return []
    loaded = tuple(before for before, _ in _counts(steps[0]))
    return [loaded, *(tuple(after for _, after in _counts(step)) for step in steps)]


def _lost(step: Step) -> list[str]:
    return [f"{before - after:,} {kind}" for kind, (before, after) in zip(COUNTS, _counts(step), strict=True)]
