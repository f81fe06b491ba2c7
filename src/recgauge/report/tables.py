"""The tables that a run and a sweep end with."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from rich.table import Table
from rich.text import Text

from recgauge.models.fitting import leak_mark
from recgauge.report.marks import MARK
from recgauge.report.series import STATUSES, Best, Series, all_series, best_values
from recgauge.report.steps import dropped_lines, filter_lines
from recgauge.runs.facts import MetricValue
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.record import RunRecord

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
    return _split_columns(cutoffs, lambda some: result_table(record, some, stderr=False), fits)


def result_table(
    record: RunRecord, cutoffs: Sequence[int | None] | None = None, *, stderr: bool = True
) -> Table:
    """Return metrics by cutoffs (all if not given), each value with its standard error if requested."""
    if cutoffs is None:
        cutoffs = list(dict.fromkeys(entry.k for entry in record.results))
    table = Table(pad_edge=False, box=None)
    table.add_column("metric", no_wrap=True)
    for k in cutoffs:
        table.add_column("value" if k is None else f"@{k}", justify="right", no_wrap=True)
    cells = {(entry.name, entry.k): _value(entry, stderr) for entry in record.results}
    for name in dict.fromkeys(entry.name for entry in record.results):
        table.add_row(name, *(cells.get((name, k), "") for k in cutoffs))
    return table


def run_lines(record: RunRecord) -> list[str]:
    """Return the lines around the table: data, what was dropped and skipped, seconds."""
    data, counts = record.dataset, record.counts
    lines = [
        *filter_lines(record),
        f"data     {record.names['dataset']}: {data.n_rows:,} rows, {data.n_users:,} users, "
        f"{data.n_items:,} items ({data.provenance})",
        f"split    {record.names['split']}: "
        + ", ".join(f"{name} {part.rows:,} rows" for name, part in record.split.parts.items()),
        *dropped_lines(record),
    ]
    if mark := leak_mark(record.fit_on):
        lines.append(f"marked   {mark}")
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


def sweep_tables(jobs: Sequence[JobOutcome], fits: Fits) -> list[Table]:
    """Return the table of a sweep, its metrics divided among as many tables as the width needs."""
    keys = headline_keys([job.record for job in jobs if job.record is not None])
    n_first = _n_fitting(keys, lambda some: sweep_table(jobs, some), fits)
    further = _split_columns(keys[n_first:], lambda some: sweep_table(jobs, some, first=False), fits)
    return [sweep_table(jobs, keys[:n_first]), *further]


def sweep_table(
    jobs: Sequence[JobOutcome], keys: Sequence[str] | None = None, *, first: bool = True
) -> Table:
    """Return one row per job, and one per series of folds or seeds with its mean; the best values are marked.

    Jobs of a series are together by rising fold and seed. Below them is the mean over them with the
    standard deviation (of a sample: divided by n - 1). Best is a mean or a job outside any series, among
    those that can be compared.

    Parameters
    ----------
    jobs : sequence of JobOutcome
    keys : sequence of str, optional
        The metrics that are shown; those of one cutoff if not given.
    first : bool
        Whether settings and status are shown; a further table of the same jobs has their numbers only.
    """
    if keys is None:
        keys = headline_keys([job.record for job in jobs if job.record is not None])
    rows = _sweep_rows(jobs, keys, failed=first)
    longest = max((len(row.cells[1]) for row in rows), default=8)
    table = Table(pad_edge=False, box=None)
    table.add_column("job", justify="right", no_wrap=True)
    # narrower settings would be a word per line
    if first:
        table.add_column("settings", overflow="fold", min_width=min(30, longest))
        table.add_column("status", no_wrap=True)
    for key in keys:
        table.add_column(key.replace("_at_", "@"), justify="right", no_wrap=True)
    for row in rows:
        cells = row.cells if first else [row.cells[0] or Text("mean"), *row.cells[3:]]
        table.add_row(*cells, end_section=row.last_of_group)
    return table


class _Row(NamedTuple):
    """Number, settings, status and values; a rule follows the last row of those that can be compared."""

    cells: list[Text]
    last_of_group: bool = False


def _sweep_rows(jobs: Sequence[JobOutcome], keys: Sequence[str], *, failed: bool) -> list[_Row]:
    """Return the rows of a sweep's table; those of jobs without a record only if requested."""
    entries = all_series(jobs)
    best = best_values(entries, keys)
    rows = []
    for series, following in zip_longest(entries, entries[1:]):
        alone = len(series.jobs) == 1
        for job in series.jobs:
            cells = _cells(series, keys, best) if alone else _plain_cells(job, keys)
            rows.append(_Row([*_about(job), *cells]))
        if not alone:
            rows.append(_Row([Text(), Text(_mean_label(series)), Text(), *_cells(series, keys, best)]))
        if following is not None and following.comparable != series.comparable:
            rows[-1] = rows[-1]._replace(last_of_group=True)
    return rows + [_Row(_about(job)) for job in jobs if job.record is None and failed]


def _about(job: JobOutcome) -> list[Text]:
    return [Text(str(job.number)), Text(_label(job)), _status(job)]


def headline_keys(records: Sequence[RunRecord]) -> list[str]:
    """Return the keys of every metric at one cutoff that all records share: 10, else the largest."""
    if not records:
        return []
    entries = [entry for entry in records[0].results if all(entry.key in r.values() for r in records)]
    ks = [entry.k for entry in entries if entry.k is not None]
    headline = 10 if 10 in ks else max(ks, default=None)
    return [entry.key for entry in entries if entry.k in (headline, None)]


def _plain_cells(job: JobOutcome, keys: Sequence[str]) -> list[Text]:
    assert job.record is not None
    values = job.record.values()
    return [Text(f"{values[key]:.4f} ") for key in keys]


def _cells(series: Series, keys: Sequence[str], best: Best) -> list[Text]:
    """Return the values of a job, or means with deviations below them, the best ones marked."""
    cells = []
    for key in keys:
        value, deviation = series.mean(key), series.deviation(key)
        is_best = value == best.get((series.comparable, key))
        text = f"{value:.4f}{'*' if is_best else ' '}"
        if deviation is not None:
            text += f"\n±{f'{deviation:.4f}'.removeprefix('0')} "
        cells.append(Text(text, style="bold green" if is_best else ""))
    return cells


def _mean_label(series: Series) -> str:
    words = [set(job.label.split(" ")) for job in series.jobs]
    shared = [word for word in series.jobs[0].label.split(" ") if all(word in own for own in words)]
    return f"{' '.join([*shared, 'mean'])} ± deviation of {len(series.jobs)}"


def _label(job: JobOutcome) -> str:
    leaks = job.record is not None and leak_mark(job.record.fit_on) is not None
    return f"{job.label} (saw the test rows)" if leaks else job.label


def _status(job: JobOutcome) -> Text:
    # sampled numbers look like others in a table: the mark is in the row, its reason below
    marked = job.record is not None and job.record.incomparable
    return Text(f"{job.status} {MARK}" if marked else job.status, style=STATUSES[job.status])


def _value(entry: MetricValue, stderr: bool) -> str:
    if not stderr or entry.stderr is None:
        return f"{entry.value:.4f}"
    error = f"{entry.stderr:.4f}"
    return f"{entry.value:.4f} ± {error.removeprefix('0')}"  # short, so that four cutoffs fit 80 columns


def _split_columns(
    columns: Sequence[Column], build: Callable[[Sequence[Column]], Table], fits: Fits
) -> list[Table]:
    """Return tables that have all columns, each as many as fit and at least one."""
    tables: list[Table] = []
    while columns:
        n_shown = max(1, _n_fitting(columns, build, fits))
        tables.append(build(columns[:n_shown]))
        columns = columns[n_shown:]
    return tables


def _n_fitting(columns: Sequence[Column], build: Callable[[Sequence[Column]], Table], fits: Fits) -> int:
    """Return how many of the first columns fit into one table."""
    return bisect_left(range(1, len(columns) + 1), True, key=lambda n: not fits(build(columns[:n])))
