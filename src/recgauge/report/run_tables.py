"""A run as blocks: its numbers, its data and steps, and marks of what means less."""

from collections.abc import Mapping, Sequence

from recgauge.data.split import Step
from recgauge.models.fitting import leak_mark
from recgauge.report.blocks import Block, Heading, TableBlock, lines
from recgauge.report.markdown import markdown_table
from recgauge.runs.protocol import MARK as MARK
from recgauge.runs.record import MetricValue, RunRecord, SanityFacts

COUNTS = ("rows", "users", "items")


def run_blocks(record: RunRecord, said: Sequence[str] = ()) -> list[Block]:
    """Return what a run ends with: metrics by cutoffs, marks, what else is said of them, data and steps."""
    sanity = [] if record.sanity is None else [sanity_table(record.results, record.sanity)]
    return [
        Heading(run_title(record)),
        by_cutoffs("metric", record.results, {entry.key: _value(entry) for entry in record.results}),
        *sanity,
        *lines(mark_lines(record), "marks"),
        *lines([*said, *run_lines(record)]),
    ]


def run_title(record: RunRecord) -> str:
    """Return what a run is called: its model and its data."""
    return f"{record.names['model']} on {record.names['dataset']}"


def sanity_table(results: Sequence[MetricValue], sanity: SanityFacts) -> TableBlock:
    """Return metrics by cutoffs, each with the value of chance and the best that can be reached."""
    best = {key: _short(value) for key, value in sanity.oracle.items()}
    cells = {key: f"{_short(value)}/{best.get(key, '')}" for key, value in sanity.chance.items()}
    return by_cutoffs("chance/best", results, cells)


def by_cutoffs(title: str, results: Sequence[MetricValue], cells: Mapping[str, str]) -> TableBlock:
    """Return metrics by cutoffs, of those results that have a cell by their key."""
    entries = [entry for entry in results if entry.key in cells]
    cutoffs = list(dict.fromkeys(entry.k for entry in entries))
    keys = {(entry.name, entry.k): entry.key for entry in entries}
    rows = tuple(
        (name, *(cells[keys[name, k]] if (name, k) in keys else "" for k in cutoffs))
        for name in dict.fromkeys(entry.name for entry in entries)
    )
    return TableBlock("", (title, *("value" if k is None else f"@{k}" for k in cutoffs)), rows)


def _value(entry: MetricValue) -> str:
    if entry.stderr is None:
        return f"{entry.value:.4f}"
    error = f"{entry.stderr:.4f}"
    return f"{entry.value:.4f} ± {error.removeprefix('0')}"  # short, so that four cutoffs fit 80 columns


def _short(value: float) -> str:
    """Four decimals of small values and three of others, so that four cutoffs fit 80 columns."""
    text = f"{value:.4f}"
    return text.removeprefix("0") if text.startswith("0.") else f"{value:.3f}"


def run_lines(record: RunRecord) -> list[str]:
    """Return the lines around the table: data, what was dropped and skipped, seconds."""
    data, counts = record.dataset, record.counts
    told = [
        *_filter_lines(record),
        f"data     {record.names['dataset']}: {data.n_rows:,} rows, {data.n_users:,} users, "
        f"{data.n_items:,} items ({data.provenance})",
        f"split    {record.names['split']}: "
        + ", ".join(f"{name} {part.rows:,} rows" for name, part in record.split.parts.items()),
        *map(_split_line, _of_split(record)),
    ]
    if mark := leak_mark(record.fit_on):
        told.append(f"marked   {mark}")
    if record.search is not None:
        told.append(f"tuned    {record.search}")
    if record.learned:
        told.append(_learned_line(record))
    if "users_left_out" in counts:
        told.append(_users_line(data.relevant_from, counts))
    if "ratings_predicted" in counts:
        told.append(
            f"ratings  {counts['ratings_predicted']:,} predicted, {counts['ratings_impossible']:,} "
            "impossible (the mean is used instead), "
            f"{counts['ratings_partly_unknown']:,} of an unknown user or item"
        )
    told.extend(f"refused  {name}: {reason}" for name, reason in record.refused.items())
    told.append("seconds  " + ", ".join(f"{name} {value:.2f}" for name, value in record.seconds.items()))
    return told


def _learned_line(record: RunRecord) -> str:
    points = record.learned
    seen = [f"{point.epoch}: {point.value:.4f}" for point in points if point.value is not None]
    shown = seen if len(seen) <= 6 else [*seen[:3], "...", *seen[-3:]]
    return (
        f"learned  {len(points)} epochs; {points[0].metric} on validation rows after epoch "
        f"{', '.join(shown)}; the model is that of epoch {record.kept_epoch}"
    )


def _split_line(step: Step) -> str:
    if not step.dropped_rows:
        return f"split    {step.note}"
    pairs = zip(COUNTS, (step.rows, step.users, step.items), strict=True)
    lost = ", ".join(f"{before - after:,} {kind}" for kind, (before, after) in pairs)
    return f"dropped  {lost}: {step.name}"


def _users_line(relevant_from: float | None, counts: dict[str, int]) -> str:
    relevant = "every row" if relevant_from is None else f"value >= {relevant_from:g}"
    n_without, detail = counts["users_without_relevant_items"], f"a relevant test item ({relevant})"
    if n_without:
        # all of them or none, since every user of a run has test rows; older records do not say it
        skipped = n_without - counts.get("users_evaluated_without_relevant_items", 0)
        detail = f"{n_without:,} {'skipped' if skipped else 'of them'} without {detail}"
    else:
        detail = "every test row is relevant" if relevant_from is None else f"each with {detail}"
    untested = f"{counts['users_without_test_rows']:,} without a test row"
    return f"users    {counts['users_evaluated']:,} evaluated, {detail}, {untested}"


def mark_lines(record: RunRecord) -> list[str]:
    """Return what a reader of the numbers must know: the candidates' mark, then guards from a warning on."""
    told = []
    if record.evaluated_on == "validation":
        told.append(f"{MARK} numbers of validation rows, for choosing; test rows were not looked at")
    if record.incomparable:
        told.append(
            f"{MARK} not comparable with full-catalogue numbers: {record.incomparable} "
            f"(candidates={record.names['candidates']})"
        )
    for guard in record.guards:
        if guard.overridden:
            told.append(f"overridden {guard.name}: {guard.message}")
        elif guard.fired:
            told.append(f"warning  {guard.name}: {guard.message}")
    return told


def _filter_lines(record: RunRecord) -> list[str]:
    """Return how much data came in and how much each filter left, one aligned line each."""
    steps = _filters(record)
    counts = _counts_after_each(steps)
    widths = [max(len(f"{count:,}") for count in column) for column in zip(*counts, strict=True)]
    texts = ["as loaded", *map(_text, steps)]
    told: list[str] = []
    for row, text in zip(counts, texts if counts else [], strict=True):
        cells = zip(row, widths, COUNTS, strict=True)
        numbers = ", ".join(f"{count:>{width},} {kind}" for count, width, kind in cells)
        told.append(f"{'' if told else 'filters':9}{numbers}  {text}")
    return told


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
