"""What a run ends with: tables and lines of its numbers, its data and steps, and marks of what means less."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rich.table import Table

from recgauge.data.split import Step
from recgauge.models.fitting import leak_mark
from recgauge.report import markdown_table
from recgauge.runs.facts import MetricValue, SanityFacts
from recgauge.runs.record import RunRecord

MARK = "\u2020"  # dagger
COUNTS = ("rows", "users", "items")
Column = TypeVar("Column")

Fits = Callable[[Table], bool]
"""Whether a table is narrow enough to be shown without cutting anything."""


def result_tables(record: RunRecord, fits: Fits) -> list[Table]:
    """Return metrics by cutoffs, as many tables as the width needs.

    Each value has its standard error if one table can hold all of them.
    """
    whole = result_table(record)
    if fits(whole):
        return [whole]
    cutoffs = list(dict.fromkeys(entry.k for entry in record.results))
    return split_columns(cutoffs, lambda some: result_table(record, some, stderr=False), fits)


def result_table(
    record: RunRecord, cutoffs: Sequence[int | None] | None = None, *, stderr: bool = True
) -> Table:
    """Return metrics by cutoffs (all if not given), each value with its standard error if requested."""
    cells = {entry.key: _value(entry, stderr) for entry in record.results}
    return _by_cutoffs("metric", record.results, cells, cutoffs)


def sanity_table(results: Sequence[MetricValue], sanity: SanityFacts) -> Table:
    """Return metrics by cutoffs, each with the value of chance and the best that can be reached.

    Parameters
    ----------
    results : sequence of MetricValue
        Their order is that of the table.
    sanity : SanityFacts
    """
    best = {key: _short(value) for key, value in sanity.oracle.items()}
    cells = {key: f"{_short(value)}/{best.get(key, '')}" for key, value in sanity.chance.items()}
    return _by_cutoffs("chance/best", [entry for entry in results if entry.key in cells], cells)


def _by_cutoffs(
    title: str,
    entries: Sequence[MetricValue],
    cells: Mapping[str, str],
    cutoffs: Sequence[int | None] | None = None,
) -> Table:
    """Return a row per metric and a column per cutoff, all of them if not given."""
    if cutoffs is None:
        cutoffs = list(dict.fromkeys(entry.k for entry in entries))
    table = Table(pad_edge=False, box=None)
    table.add_column(title, no_wrap=True)
    for k in cutoffs:
        table.add_column("value" if k is None else f"@{k}", justify="right", no_wrap=True)
    keys = {(entry.name, entry.k): entry.key for entry in entries}
    for name in dict.fromkeys(entry.name for entry in entries):
        table.add_row(name, *(cells[keys[name, k]] if (name, k) in keys else "" for k in cutoffs))
    return table


def _value(entry: MetricValue, stderr: bool) -> str:
    if not stderr or entry.stderr is None:
        return f"{entry.value:.4f}"
    error = f"{entry.stderr:.4f}"
    return f"{entry.value:.4f} ± {error.removeprefix('0')}"  # short, so that four cutoffs fit 80 columns


def _short(value: float) -> str:
    """Four decimals of small values and three of others, so that four cutoffs fit 80 columns."""
    text = f"{value:.4f}"
    return text.removeprefix("0") if text.startswith("0.") else f"{value:.3f}"


def split_columns(
    columns: Sequence[Column], build: Callable[[Sequence[Column]], Table], fits: Fits
) -> list[Table]:
    """Return tables that have all columns, each as many as fit and at least one."""
    tables: list[Table] = []
    while columns:
        n_shown = max(1, n_fitting(columns, build, fits))
        tables.append(build(columns[:n_shown]))
        columns = columns[n_shown:]
    return tables


def n_fitting(columns: Sequence[Column], build: Callable[[Sequence[Column]], Table], fits: Fits) -> int:
    """Return how many of the first columns fit into one table."""
    return bisect_left(range(1, len(columns) + 1), True, key=lambda n: not fits(build(columns[:n])))


def run_lines(record: RunRecord) -> list[str]:
    """Return the lines around the table: data, what was dropped and skipped, seconds."""
    data, counts = record.dataset, record.counts
    lines = [
        *_filter_lines(record),
        f"data     {record.names['dataset']}: {data.n_rows:,} rows, {data.n_users:,} users, "
        f"{data.n_items:,} items ({data.provenance})",
        f"split    {record.names['split']}: "
        + ", ".join(f"{name} {part.rows:,} rows" for name, part in record.split.parts.items()),
        *map(_split_line, _of_split(record)),
    ]
    if mark := leak_mark(record.fit_on):
        lines.append(f"marked   {mark}")
    if record.search is not None:
        lines.append(f"tuned    {record.search}")
    if record.learned:
        lines.append(_learned_line(record))
    if "users_left_out" in counts:
        lines.append(_users_line(data.relevant_from, counts))
    if "ratings_predicted" in counts:
        lines.append(
            f"ratings  {counts['ratings_predicted']:,} predicted, {counts['ratings_impossible']:,} "
            "impossible (the mean is used instead), "
            f"{counts['ratings_partly_unknown']:,} of an unknown user or item"
        )
    lines.extend(f"refused  {name}: {reason}" for name, reason in record.refused.items())
    lines.append("seconds  " + ", ".join(f"{name} {value:.2f}" for name, value in record.seconds.items()))
    return lines


def _learned_line(record: RunRecord) -> str:
    points = record.learned
    seen = [f"{point.epoch}: {point.value:.4f}" for point in points if point.value is not None]
    shown = seen if len(seen) <= 6 else [*seen[:3], "...", *seen[-3:]]
    return (
        f"learned  {len(points)} epochs; {points[0].metric} on validation rows after epoch "
        f"{', '.join(shown)}; the model is that of epoch {record.kept_epoch}"
    )


def _split_line(step: Step) -> str:
    """Say what the split dropped, or what else it did."""
    if not step.dropped_rows:
        return f"split    {step.note}"
    pairs = zip(COUNTS, (step.rows, step.users, step.items), strict=True)
    lost = ", ".join(f"{before - after:,} {kind}" for kind, (before, after) in pairs)
    return f"dropped  {lost}: {step.name}"


def _users_line(relevant_from: float | None, counts: dict[str, int]) -> str:
    relevant = "every row" if relevant_from is None else f"value >= {relevant_from:g}"
    n_evaluated, n_without = counts["users_evaluated"], counts["users_without_relevant_items"]
    untested = f"{counts['users_without_test_rows']:,} without a test row"
    if n_without == 0:
        each = (
            "every test row is relevant"
            if relevant_from is None
            else f"each with a relevant test item ({relevant})"
        )
        return f"users    {n_evaluated:,} evaluated, {each}, {untested}"
    # all of them or none, since every user of a run has test rows; older records do not say it
    skipped = n_without - counts.get("users_evaluated_without_relevant_items", 0)
    said = "skipped" if skipped else "of them"
    return (
        f"users    {n_evaluated:,} evaluated, {n_without:,} {said} without a relevant test item "
        f"({relevant}), {untested}"
    )


def mark_lines(record: RunRecord) -> list[str]:
    """Return one line for each thing that a reader of the numbers must know.

    Parameters
    ----------
    record : RunRecord

    Returns
    -------
    list of str
        The candidates' mark first, then guards from a warning on; notes stay in the record.
    """
    lines = []
    if record.evaluated_on == "validation":
        lines.append(f"{MARK} numbers of validation rows, for choosing; test rows were not looked at")
    if record.incomparable:
        lines.append(
            f"{MARK} not comparable with full-catalogue numbers: {record.incomparable} "
            f"(candidates={record.names['candidates']})"
        )
    for guard in record.guards:
        if guard.overridden:
            lines.append(f"overridden {guard.name}: {guard.message}")
        elif guard.fired:
            lines.append(f"warning  {guard.name}: {guard.message}")
    return lines


def _filter_lines(record: RunRecord) -> list[str]:
    """Return how much data came in and how much each filter left, one aligned line each.

    No lines if there are no filters.
    """
    steps = _filters(record)
    counts = _counts_after_each(steps)
    widths = [max(len(f"{count:,}") for count in column) for column in zip(*counts, strict=True)]
    lines = []
    for number, row in enumerate(counts):
        cells = zip(row, widths, COUNTS, strict=True)
        numbers = ", ".join(f"{count:>{width},} {kind}" for count, width, kind in cells)
        text = _text(steps[number - 1]) if number else "as loaded"
        lines.append(f"{'filters' if number == 0 else '':9}{numbers}  {text}")
    return lines


def steps_markdown(record: RunRecord) -> list[str]:
    """Return the lines of a table of all filters, and of what the split dropped, before and after."""
    steps = [*_filters(record), *_of_split(record)]
    rows = [
        [_text(step), *(f"{before:,} → {after:,}" for before, after in (step.rows, step.users, step.items))]
        for step in steps
    ]
    return markdown_table(rows, ["step", *COUNTS], right=COUNTS).splitlines() if rows else []


def filter_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, step, count)``: rows, users and items after so many filters, from 0 on."""
    counts = _counts_after_each(_filters(record))
    return [
        (f"filters/{kind}", n_filters, float(row[column]))
        for column, kind in enumerate(COUNTS)
        for n_filters, row in enumerate(counts)
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


def _counts_after_each(steps: Sequence[Step]) -> list[tuple[int, int, int]]:
    """Return rows, users and items as loaded and after each step; nothing without steps."""
    loaded = [(step.rows[0], step.users[0], step.items[0]) for step in steps[:1]]
    return [*loaded, *((step.rows[1], step.users[1], step.items[1]) for step in steps)]
