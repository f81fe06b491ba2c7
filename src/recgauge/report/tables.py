"""The tables that a run and a sweep end with."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from recgauge.models.fitting import leak_mark
from recgauge.report.marks import MARK
from recgauge.report.series import STATUSES, Best, JobOutcome, Series, all_series, best_values
from recgauge.report.steps import dropped_lines, filter_lines
from recgauge.runs.facts import MetricValue
from recgauge.runs.record import RunRecord


def result_table(record: RunRecord, *, stderr: bool = True) -> Table:
    """Return metrics by cutoffs, each value with its standard error unless there is no room for it."""
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
    """Return what stands around the table: data, what was dropped and skipped, seconds."""
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
            "impossible (the mean stands in), "
            f"{counts['ratings_partly_unknown']:,} of an unknown user or item"
        )
    lines.extend(f"refused  {name}: {reason}" for name, reason in record.refused.items())
    lines.append("seconds  " + ", ".join(f"{name} {value:.2f}" for name, value in record.seconds.items()))
    return lines


def _users_line(relevant_from: float | None, counts: dict[str, int]) -> str:
    relevant = "every row" if relevant_from is None else f"value >= {relevant_from:g}"
    n_without = counts["users_without_relevant_items"]
    # all of them or none, since every user of a run has test rows; older records do not say it
    skipped = n_without - counts.get("users_evaluated_without_relevant_items", 0)
    said = "skipped" if skipped else "of them"
    return (
        f"users    {counts['users_evaluated']:,} evaluated, "
        f"{n_without:,} {said} without a relevant test item ({relevant}), "
        f"{counts['users_without_test_rows']:,} without a test row"
    )


def sweep_table(jobs: Sequence[JobOutcome]) -> Table:
    """Return one row a job, and one a series of folds or seeds with its mean; the best values are marked.

    Jobs of a series stand together by rising fold and seed. Below them stands the mean over them with the
    standard deviation (of a sample: divided by n - 1). Best is a mean or a job outside any series, among
    those that can be compared.
    """
    keys = headline_keys([job.record for job in jobs if job.record is not None])
    table = Table(pad_edge=False, box=None)
    table.add_column("job", justify="right")
    table.add_column("settings", overflow="fold")
    table.add_column("status")
    for key in keys:
        table.add_column(key.replace("_at_", "@"), justify="right")
    entries = all_series(jobs)
    best = best_values(entries, keys)
    previous = None
    for series in entries:
        if previous is not None and series.comparable != previous:
            table.add_section()
        previous = series.comparable
        alone = len(series.jobs) == 1
        for job in series.jobs:
            cells = _cells(series, keys, best) if alone else _plain_cells(job, keys)
            table.add_row(str(job.number), Text(_label(job)), _status(job), *cells)
        if not alone:
            table.add_row("", Text(_mean_label(series)), "", *_cells(series, keys, best))
    for job in jobs:
        if job.record is None:
            table.add_row(str(job.number), Text(_label(job)), _status(job), *[Text("")] * len(keys))
    return table


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
    # sampled numbers look like others in a table: the mark stands in the row, its reason below
    marked = job.record is not None and job.record.incomparable
    return Text(f"{job.status} {MARK}" if marked else job.status, style=STATUSES[job.status])


def _value(entry: MetricValue, stderr: bool) -> str:
    if not stderr or entry.stderr is None:
        return f"{entry.value:.4f}"
    error = f"{entry.stderr:.4f}"
    return f"{entry.value:.4f} ± {error.removeprefix('0')}"  # short, so that four cutoffs fit 80 columns
