"""A run and a sweep as blocks: their numbers, their data and steps, and marks of what means less."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from recgauge.comparison.series import Best, Series, all_series, best_values, has_rivals, headline_keys
from recgauge.data.split import Step
from recgauge.models.recommend import leak_mark
from recgauge.report.blocks import Block, Cell, Heading, Row, TableBlock, lines, markdown_table
from recgauge.runs.folder import JobOutcome, Status
from recgauge.runs.protocol import MARK as MARK
from recgauge.runs.record import MetricValue, RunRecord, SanityFacts

BEST = (
    "*        best of the runs, or of the means over folds or seeds, with equal train and test rows, "
    "candidates, conventions"
)
STATUSES: dict[Status, str] = {
    "done": "good",
    "reused": "reused",
    "not tracked": "partly",
    "not saved": "partly",
    "no data": "partly",
    "stopped": "bad",
    "failed": "bad",
}
"""How a job can end, each with its look."""
COUNTS = ("rows", "users", "items")


def run_blocks(record: RunRecord, said: Sequence[str] = ()) -> list[Block]:
    """Return what a run ends with: metrics by cutoffs, marks, what else is said of them, data and steps."""
    sanity = [] if record.sanity is None else [sanity_table(record.results, record.sanity)]
    cells = {
        entry.key: f"{entry.value:.4f}"
        # short, so that four cutoffs fit 80 columns
        + ("" if entry.stderr is None else f" ± {f'{entry.stderr:.4f}'.removeprefix('0')}")
        for entry in record.results
    }
    return [
        Heading(", ".join(filter(None, [run_title(record), users_words(record)]))),
        by_cutoffs("metric", record.results, cells),
        *sanity,
        *lines(mark_lines(record), "marks"),
        *lines([*said, *run_lines(record)]),
    ]


def run_title(record: RunRecord) -> str:
    """Return what a run is called: its model and its data."""
    return f"{record.names['model']} on {record.names['dataset']}"


def users_words(record: RunRecord) -> str:
    """Return whose means the numbers are; empty where a record of an earlier version does not say."""
    coverage = record.coverage
    if coverage is None or coverage.users == coverage.users_evaluated:
        return record.users and f"{record.users} user{'s' if record.users != '1' else ''}"
    of_all = f", {record.dataset.n_users:,} in the data" if few_evaluated(record) else ""
    return f"{record.users} users with {record.evaluated_on} rows{of_all}"


def dropped_words(record: RunRecord) -> str:
    """Return how many held-out rows no number is of, and why; empty if there are none."""
    coverage = record.coverage
    if coverage is None or not coverage.rows_dropped:
        return ""
    rows = f"{coverage.rows_dropped:,} of {coverage.rows:,} {record.evaluated_on} rows dropped"
    return f"{rows}: {coverage.reasons()}"


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


def _short(value: float) -> str:
    """Four decimals of small values and three of others, so that four cutoffs fit 80 columns."""
    text = f"{value:.4f}"
    return text.removeprefix("0") if text.startswith("0.") else f"{value:.3f}"


def run_lines(record: RunRecord) -> list[str]:
    """Return the lines around the table: data, what was dropped and skipped, seconds."""
    data, counts = record.dataset, record.counts
    parts = ", ".join(f"{name} {part.rows:,} rows" for name, part in record.split.parts.items())
    filters = [step for step in record.split.steps if step.stage == "filters"]
    told = [
        *(_filter_lines(filters) if filters else []),
        f"data     {record.names['dataset']}: {data.n_rows:,} rows, {data.n_users:,} users, "
        f"{data.n_items:,} items ({data.provenance})",
        f"split    {record.names['split']}: {parts}",
        *(
            _split_line(step)
            for step in record.split.steps
            if step.stage != "filters" and (step.dropped_rows or step.note)
        ),
    ]
    if mark := leak_mark(record.fit_on):
        told.append(f"marked   {mark}")
    if record.search is not None:
        told.append(f"tuned    {record.search}")
    if record.learned:
        told.append(_learned_line(record))
    if "users_left_out" in counts:
        told.append(_users_line(record))
    if dropped := dropped_words(record):
        told.append(f"coverage {dropped}")
    if "ratings_predicted" in counts:
        told.append(
            f"ratings  {counts['ratings_predicted']:,} predicted, {counts['ratings_impossible']:,} "
            "impossible (the mean is used instead), "
            f"{counts['ratings_partly_unknown']:,} of an unknown user or item"
        )
    told.extend(_tied_lines([(0, record)], ""))
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


def _users_line(record: RunRecord) -> str:
    relevant_from, counts = record.dataset.relevant_from, record.counts
    relevant = "every row" if relevant_from is None else f"value >= {relevant_from:g}"
    n_without, detail = counts["users_without_relevant_items"], f"a relevant test item ({relevant})"
    if n_without:
        # all of them or none, since every user of a run has test rows; older records do not say it
        skipped = n_without - counts.get("users_evaluated_without_relevant_items", 0)
        detail = f"{n_without:,} {'skipped' if skipped else 'of them'} without {detail}"
    else:
        detail = "every test row is relevant" if relevant_from is None else f"each with {detail}"
    untested = f"{counts['users_without_test_rows']:,} without a test row"
    return f"users    {record.users} evaluated, {detail}, {untested}"


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


def _filter_lines(steps: Sequence[Step]) -> list[str]:
    """Return how much data came in and how much each filter left, one aligned line each."""
    counts = _counts_after_each(steps)
    widths = [max(len(f"{count:,}") for count in column) for column in zip(*counts, strict=True)]
    told: list[str] = []
    for row, text in zip(counts, ["as loaded", *map(_text, steps)], strict=True):
        cells = zip(row, widths, COUNTS, strict=True)
        numbers = ", ".join(f"{count:>{width},} {kind}" for count, width, kind in cells)
        told.append(f"{'' if told else 'filters':9}{numbers}  {text}")
    return told


def _counts_after_each(filters: Sequence[Step]) -> list[tuple[int, int, int]]:
    """Return rows, users and items as loaded and after each filter; nothing without filters."""
    loaded = [(step.rows[0], step.users[0], step.items[0]) for step in filters[:1]]
    return [*loaded, *((step.rows[1], step.users[1], step.items[1]) for step in filters)]


def steps_markdown(record: RunRecord) -> list[str]:
    """Return the lines of a table of all filters, and of what the split dropped, before and after."""
    rows = [
        [_text(step), *(f"{before:,} → {after:,}" for before, after in (step.rows, step.users, step.items))]
        for step in record.split.steps
        if step.stage == "filters" or step.dropped_rows or step.note
    ]
    return markdown_table(rows, ["step", *COUNTS], right=COUNTS).splitlines() if rows else []


def filter_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, step, count)``: rows, users and items after so many filters, from 0 on."""
    counts = _counts_after_each([step for step in record.split.steps if step.stage == "filters"])
    return [
        (f"filters/{kind}", n_filters, float(row[column]))
        for column, kind in enumerate(COUNTS)
        for n_filters, row in enumerate(counts)
    ]


def _text(step: Step) -> str:
    """Say what a step did: what it dropped, and what it made of the values."""
    if step.note and not step.dropped_rows:
        return step.note
    return f"without {step.name}" + (f"; {step.note}" if step.note else "")


def sweep_blocks(jobs: Sequence[JobOutcome], said: Sequence[str] = ()) -> list[Block]:
    """Return what a sweep ends with: how jobs ended, their table, marks, why jobs failed, further lines."""
    records = [(job.number, job.record) for job in jobs if job.record is not None]
    best = [BEST] if has_rivals(jobs) else []
    facts = [*best, *_tied_lines(records), *coverage_lines(records)]
    told = [*tuned_lines(jobs), *facts, *reason_lines(jobs), *said]
    few = dict.fromkeys(users_words(record) for _, record in records if few_evaluated(record))
    heading = ", ".join([tally(jobs), *list(few)[:1]])
    marks = [*sweep_mark_lines(records), *constant_lines(jobs)]
    return [Heading(heading), sweep_table(jobs), *lines(marks, "marks"), *lines(told)]


def coverage_lines(records: Sequence[tuple[int, RunRecord]]) -> list[str]:
    """Return which held-out rows no number is of, and why, where most are dropped; others in short."""
    alike: dict[str, list[int]] = {}
    shares: dict[str, float] = {}
    for number, record in records:
        if (coverage := record.coverage) is not None and (dropped := dropped_words(record)):
            alike.setdefault(dropped, []).append(number)
            shares[dropped] = coverage.rows_dropped / coverage.rows
    if not alike:
        return []
    most = max(shares, key=lambda dropped: shares[dropped])
    told = [f"coverage {most} [{_jobs(alike.pop(most))}]"]
    if others := sorted(number for numbers in alike.values() for number in numbers):
        told.append(f"coverage fewer dropped; summary.csv has how many [{_jobs(others)}]")
    return told


def _tied_lines(records: Sequence[tuple[int, RunRecord]], jobs: str = " [job {}]") -> list[str]:
    """Return for whom equal similarities decide which neighbours count."""
    return [
        f"ties     {guard.message}{jobs.format(number)}"
        for number, record in records
        for guard in record.guards
        if guard.name == "ties_of_neighbours" and guard.value
    ]


def few_evaluated(record: RunRecord) -> bool:
    """Whether a guard says that the numbers are of few of the users, or rows, that were held out."""
    return any(guard.name == "coverage" and guard.fired for guard in record.guards)


def tally(jobs: Sequence[JobOutcome]) -> str:
    """Return how many jobs ended in which way; all but "done" and "failed" only where there are some."""
    counted = Counter(job.status for job in jobs)
    words = [word for word in STATUSES if counted[word] or word in ("done", "failed")]
    return ", ".join(f"{counted[word]} {word}" for word in words)


def reason_lines(jobs: Sequence[JobOutcome]) -> list[str]:
    """Return why jobs are not simply done; jobs with the same reason share a line."""
    alike: dict[tuple[str, str], list[JobOutcome]] = {}
    for job in jobs:
        if job.reason is not None:
            # what data are missing, and where they were looked for, was printed before the first job
            reason = f"{job.short_reason} See above." if job.status == "no data" else job.reason
            alike.setdefault((job.status, reason), []).append(job)
    reasons = []
    for (status, reason), group in alike.items():
        label = f" ({group[0].label})" if len(group) == 1 else ""
        reasons.append(f"{status:<8} {_jobs([job.number for job in group])}{label}: {reason}")
    return reasons


def sweep_table(jobs: Sequence[JobOutcome]) -> TableBlock:
    """Return one row per job, and one per series of folds or seeds with its mean; the best values are marked.

    Jobs of a series are together by rising fold and seed. Below them is the mean over them with the
    standard deviation (of a sample: divided by n - 1). Best is a mean or a job outside any series, among
    those that can be compared. Metrics are those of one cutoff.
    """
    keys = headline_keys([job.record for job in jobs if job.record is not None])
    entries = all_series(jobs)
    best = best_values(entries, keys)
    rows: list[Row] = []
    groups: list[str] = []
    known = any(job.record is not None and job.record.users for job in jobs)
    for number, (_, comparable) in enumerate(groupby(entries, key=lambda series: series.comparable)):
        for series in comparable:
            cells = _cells(series, keys, best)
            if len(series.jobs) == 1:
                rows.append((*_about(series.jobs[0], with_users=known), *cells))
            else:
                rows += [_row(job, keys, with_users=known) for job in series.jobs]
                of = {record.users for record in series.records}
                users = [of.pop() if len(of) == 1 else ""] if known else []
                rows.append(("mean", _mean_label(series), "", *users, *cells))
        groups += [str(number)] * (len(rows) - len(groups))
    rows += [_row(job, keys, with_users=known) for job in jobs if job.record is None]
    groups += [groups[-1] if groups else "0"] * (len(rows) - len(groups))
    metrics = [key.replace("_at_", "@") for key in keys]
    header = ("job", "settings", "status", *(["users"] if known else []), *metrics)
    return TableBlock("", header, tuple(rows), words=("settings", "status"), groups=tuple(groups))


def _about(job: JobOutcome, *, with_users: bool) -> tuple[str | Cell, ...]:
    # sampled numbers look like others in a table: the mark is in the row, its reason below
    mark = f" {MARK}" if job.record is not None and job.record.incomparable else ""
    status = Cell(f"{job.status}{mark}", look=STATUSES[job.status])
    users = ["" if job.record is None else job.record.users] if with_users else []
    return str(job.number), _label(job), status, *users


def _row(job: JobOutcome, keys: Sequence[str], *, with_users: bool) -> Row:
    values = {} if job.record is None else job.record.values()
    return (
        *_about(job, with_users=with_users),
        *(f"{values[key]:.4f}" if key in values else "" for key in keys),
    )


def _cells(series: Series, keys: Sequence[str], best: Best) -> list[Cell]:
    """Return the values of a job, or means with deviations below them, the best ones marked."""
    cells = []
    for key in keys:
        value, deviation = series.mean(key), series.deviation(key)
        if value is None:
            cells.append(Cell(""))
            continue
        small = (
            () if deviation is None or series.is_constant else (f"±{f'{deviation:.4f}'.removeprefix('0')}",)
        )
        is_best = value == best.get((series.comparable, key))
        cells.append(Cell(f"{value:.4f}", small, "best" if is_best else "", order=value))
    return cells


def _mean_label(series: Series) -> str:
    words = [set(job.label.split(" ")) for job in series.jobs]
    shared = [word for word in series.jobs[0].label.split(" ") if all(word in own for own in words)]
    if series.is_constant:
        return f"{' '.join([*shared, 'mean'])} of {len(series.jobs)} equal runs"
    return f"{' '.join([*shared, 'mean'])} ± deviation of {len(series.jobs)}"


def _label(job: JobOutcome) -> str:
    if job.record is None:
        return job.label
    if job.record.evaluated_on == "validation":
        return f"{job.label} (validation rows)"
    return f"{job.label} (saw the test rows)" if leak_mark(job.record.fit_on) else job.label


def tuned_lines(jobs: Sequence[JobOutcome]) -> list[str]:
    """Return one line for each tuned job of a sweep: its trials, seconds and settings."""
    return [
        f"tuned    job {job.number}: {job.record.search}; fit {job.record.seconds.get('fit', 0.0):.2f} s"
        for job in jobs
        if job.record is not None and job.record.search is not None
    ]


def constant_lines(jobs: Sequence[JobOutcome]) -> list[str]:
    """Return a line on all series whose seeds change no number: such runs are no repetitions."""
    constant = [series.jobs for series in all_series(jobs) if series.is_constant]
    if not constant:
        return []
    alike = "; ".join(_jobs([job.number for job in group]) for group in constant)
    return [
        f"{MARK} seeds change nothing: these runs are equal, so one says as much as all; only "
        f"what draws at random, a split or a model, depends on a seed [{alike}]"
    ]


def _jobs(numbers: Sequence[int]) -> str:
    return ("job " if len(numbers) == 1 else "jobs ") + ", ".join(map(str, numbers))


def sweep_mark_lines(
    records: Sequence[tuple[int, RunRecord]],
    named: Callable[[Sequence[int]], str] = _jobs,
    *,
    advise: bool = True,
) -> list[str]:
    """Return what a reader of a sweep's table must know, and the jobs that it concerns, as `named` says them.

    A guard's warning that has other numbers in other jobs, such as one per fold, is shown once. `advise`:
    whoever reads it can run the jobs another way.
    """
    kinds: dict[str, dict[str, list[int]]] = {}
    for number, record in records:
        for line in mark_lines(record):
            kinds.setdefault(line.partition(":")[0], {}).setdefault(line, []).append(number)
    noted = []
    for kind, jobs_of in kinds.items():
        told = [f"{line} [{named(numbers)}]" for line, numbers in jobs_of.items()]
        if kind.startswith("warning") and len(told) > 1:
            others = sorted(number for numbers in list(jobs_of.values())[1:] for number in numbers)
            told[1:] = [
                f"{kind}: the same with other numbers; guards.json of each job has them [{named(others)}]"
            ]
        noted += told
    return [*noted, *_selection_lines(records, named, advise=advise)]


def _selection_lines(
    records: Sequence[tuple[int, RunRecord]], named: Callable[[Sequence[int]], str], *, advise: bool
) -> list[str]:
    """Say which jobs differ in a model's settings alone: choosing the best of them is selection on test."""
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for number, record in records:
        if record.evaluated_on == "validation" or record.search is not None:
            continue
        if record.names["model"] == "recorded":  # another file is another model
            continue
        names = [record.names[name] for name in ("model", "dataset", "split", "candidates")]
        group = (*names, str(record.seed), record.split.test.sha256, f"; {_remedy(record)}" if advise else "")
        settings = str(record.settings.get("model"))
        groups.setdefault(group, {}).setdefault(settings, []).append(number)
    jobs_of: dict[str, list[str]] = {}
    for group, by_settings in groups.items():
        if len(by_settings) > 1:
            line = f"settings of {group[0]} differ and this table is of test rows, so choosing the best of it"
            jobs = named(sorted(job for jobs in by_settings.values() for job in jobs))
            jobs_of.setdefault(f"{line} is selection on test{group[-1]}", []).append(jobs)
    return [f"warning  selection_on_test: {line} [{'; '.join(jobs)}]" for line, jobs in jobs_of.items()]


def _remedy(record: RunRecord) -> str:
    if record.split.validation is not None:
        return "choose by the validation rows: evaluate_on=validation, or tune=tpe."
    return "hold out validation rows (split.validation_size=0.1) and choose by those: evaluate_on=validation."
