"""What a sweep ends with: one row per job, means of folds and seeds, the best values, and notes below."""

from collections.abc import Callable, Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from recgauge.models.fitting import leak_mark
from recgauge.report.run_tables import MARK, Fits, mark_lines, n_fitting, split_columns
from recgauge.report.series import STATUSES, Best, Series, all_series, best_values
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.record import RunRecord


def sweep_tables(jobs: Sequence[JobOutcome], fits: Fits) -> list[Table]:
    """Return the table of a sweep, its metrics divided among as many tables as the width needs."""
    keys = headline_keys([job.record for job in jobs if job.record is not None])
    n_first = n_fitting(keys, lambda some: sweep_table(jobs, some), fits)
    further = split_columns(keys[n_first:], lambda some: sweep_table(jobs, some, first=False), fits)
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
    groups = _groups(jobs, keys)
    if first:
        groups = groups or [[]]
        groups[-1] += [_about(job) for job in jobs if job.record is None]
    longest = max((len(row[1]) for rows in groups for row in rows), default=8)
    table = Table(pad_edge=False, box=None)
    table.add_column("job", justify="right", no_wrap=True)
    # narrower settings would be a word per line
    if first:
        table.add_column("settings", overflow="fold", min_width=min(30, longest))
        table.add_column("status", no_wrap=True)
    for key in keys:
        table.add_column(key.replace("_at_", "@"), justify="right", no_wrap=True)
    for rows in groups:
        table.add_section()
        for row in rows:
            table.add_row(*(row if first else [row[0] or Text("mean"), *row[3:]]))
    return table


def _groups(jobs: Sequence[JobOutcome], keys: Sequence[str]) -> list[list[list[Text]]]:
    """Return number, settings, status and values of finished jobs and means, comparable ones together."""
    entries = all_series(jobs)
    best = best_values(entries, keys)
    groups = groupby(entries, key=lambda series: series.comparable)
    return [[row for series in group for row in _rows(series, keys, best)] for _, group in groups]


def _rows(series: Series, keys: Sequence[str], best: Best) -> list[list[Text]]:
    cells = _cells(series, keys, best)
    if len(series.jobs) == 1:
        return [[*_about(series.jobs[0]), *cells]]
    jobs = [[*_about(job), *_plain_cells(job, keys)] for job in series.jobs]
    return [*jobs, [Text(), Text(_mean_label(series)), Text(), *cells]]


def _about(job: JobOutcome) -> list[Text]:
    return [Text(str(job.number)), Text(_label(job)), _status(job)]


def headline_keys(records: Sequence[RunRecord]) -> list[str]:
    """Return the keys of every metric at one cutoff that all records share: 10, else the largest."""
    entries = [entry for record in records for entry in record.results]
    cutoffs = [{entry.k for entry in record.results if entry.k is not None} for record in records]
    ks = set.intersection(*filter(None, cutoffs)) if any(cutoffs) else set()
    headline = 10 if 10 in ks else max(ks, default=None)
    return list(dict.fromkeys(entry.key for entry in entries if entry.k in (headline, None)))


def _plain_cells(job: JobOutcome, keys: Sequence[str]) -> list[Text]:
    assert job.record is not None
    values = job.record.values()
    return [Text(f"{values[key]:.4f} " if key in values else "") for key in keys]


def _cells(series: Series, keys: Sequence[str], best: Best) -> list[Text]:
    """Return the values of a job, or means with deviations below them, the best ones marked."""
    cells = []
    for key in keys:
        value, deviation = series.mean(key), series.deviation(key)
        if value is None:
            cells.append(Text())
            continue
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
    if job.record is None:
        return job.label
    if job.record.evaluated_on == "validation":
        return f"{job.label} (validation rows)"
    return f"{job.label} (saw the test rows)" if leak_mark(job.record.fit_on) else job.label


def _status(job: JobOutcome) -> Text:
    # sampled numbers look like others in a table: the mark is in the row, its reason below
    marked = job.record is not None and job.record.incomparable
    return Text(f"{job.status} {MARK}" if marked else job.status, style=STATUSES[job.status])


def tuned_lines(jobs: Sequence[JobOutcome]) -> list[str]:
    """Return one line for each tuned job of a sweep: its trials, seconds and settings."""
    return [
        f"tuned    job {job.number}: {job.record.search}; fit {job.record.seconds.get('fit', 0.0):.2f} s"
        for job in jobs
        if job.record is not None and job.record.search is not None
    ]


def _jobs(numbers: Sequence[int]) -> str:
    return ("job " if len(numbers) == 1 else "jobs ") + ", ".join(map(str, numbers))


def sweep_mark_lines(
    records: Sequence[tuple[int, RunRecord]], named: Callable[[Sequence[int]], str] = _jobs
) -> list[str]:
    """Return the notes below a sweep's table: what a reader must know, and the jobs that it concerns.

    A guard's warning that has other numbers in other jobs, such as one per fold, is shown once.

    Parameters
    ----------
    records : sequence of (int, RunRecord)
        Number of the job and its record.
    named : callable
        Says in words which jobs some numbers are.
    """
    kinds: dict[str, dict[str, list[int]]] = {}
    for number, record in records:
        for line in mark_lines(record):
            kinds.setdefault(line.partition(":")[0], {}).setdefault(line, []).append(number)
    lines = []
    for kind, jobs_of in kinds.items():
        told = [f"{line} [{named(numbers)}]" for line, numbers in jobs_of.items()]
        if kind.startswith("warning") and len(told) > 1:
            others = sorted(number for numbers in list(jobs_of.values())[1:] for number in numbers)
            told[1:] = [
                f"{kind}: the same with other numbers; guards.json of each job has them [{named(others)}]"
            ]
        lines += told
    return [*lines, *_selection_lines(records, named)]


def _selection_lines(
    records: Sequence[tuple[int, RunRecord]], named: Callable[[Sequence[int]], str]
) -> list[str]:
    """Say which jobs differ in a model's settings alone: choosing the best of them is selection on test."""
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for number, record in records:
        if record.evaluated_on == "validation" or record.search is not None:
            continue
        if record.names["model"] == "recorded":  # another file is another model
            continue
        names = [record.names[name] for name in ("model", "dataset", "split", "candidates")]
        group = (*names, str(record.seed), record.split.test.sha256, _remedy(record))
        settings = str(record.settings.get("model"))
        groups.setdefault(group, {}).setdefault(settings, []).append(number)
    jobs_of: dict[str, list[str]] = {}
    for group, by_settings in groups.items():
        if len(by_settings) > 1:
            line = f"settings of {group[0]} differ and this table is of test rows, so choosing the best of it"
            jobs = named(sorted(job for jobs in by_settings.values() for job in jobs))
            jobs_of.setdefault(f"{line} is selection on test; {group[-1]}", []).append(jobs)
    return [f"warning  selection_on_test: {line} [{'; '.join(jobs)}]" for line, jobs in jobs_of.items()]


def _remedy(record: RunRecord) -> str:
    if record.split.validation is not None:
        return "choose by the validation rows: evaluate_on=validation, or tune=tpe."
    return "hold out validation rows (split.validation_size=0.1) and choose by those: evaluate_on=validation."
