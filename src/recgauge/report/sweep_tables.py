"""A sweep as blocks: one row per job, means of folds and seeds, the best values, and notes below."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from recgauge.comparison.series import Best, Series, all_series, best_values, has_rivals, headline_keys
from recgauge.models.fitting import leak_mark
from recgauge.report.blocks import Block, Cell, Heading, Row, TableBlock, lines
from recgauge.report.run_tables import MARK, mark_lines
from recgauge.runs.folder import JobOutcome, Status
from recgauge.runs.record import RunRecord

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


def sweep_blocks(jobs: Sequence[JobOutcome], said: Sequence[str] = ()) -> list[Block]:
    """Return what a sweep ends with: how jobs ended, their table, marks, why jobs failed, further lines."""
    marks = sweep_mark_lines([(job.number, job.record) for job in jobs if job.record is not None])
    told = [*tuned_lines(jobs), *reason_lines(jobs), *([BEST] if has_rivals(jobs) else []), *said]
    return [Heading(tally(jobs)), sweep_table(jobs), *lines(marks, "marks"), *lines(told)]


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
    for number, (_, comparable) in enumerate(groupby(entries, key=lambda series: series.comparable)):
        for series in comparable:
            cells = _cells(series, keys, best)
            if len(series.jobs) == 1:
                rows.append((*_about(series.jobs[0]), *cells))
            else:
                rows += [_row(job, keys) for job in series.jobs]
                rows.append(("mean", _mean_label(series), "", *cells))
        groups += [str(number)] * (len(rows) - len(groups))
    rows += [_row(job, keys) for job in jobs if job.record is None]
    groups += [groups[-1] if groups else "0"] * (len(rows) - len(groups))
    header = ("job", "settings", "status", *(key.replace("_at_", "@") for key in keys))
    return TableBlock("", header, tuple(rows), words=("settings", "status"), groups=tuple(groups))


def _about(job: JobOutcome) -> tuple[str | Cell, ...]:
    # sampled numbers look like others in a table: the mark is in the row, its reason below
    mark = f" {MARK}" if job.record is not None and job.record.incomparable else ""
    status = Cell(f"{job.status}{mark}", look=STATUSES[job.status])
    return str(job.number), _label(job), status


def _row(job: JobOutcome, keys: Sequence[str]) -> Row:
    values = {} if job.record is None else job.record.values()
    return (*_about(job), *(f"{values[key]:.4f}" if key in values else "" for key in keys))


def _cells(series: Series, keys: Sequence[str], best: Best) -> list[Cell]:
    """Return the values of a job, or means with deviations below them, the best ones marked."""
    cells = []
    for key in keys:
        value, deviation = series.mean(key), series.deviation(key)
        if value is None:
            cells.append(Cell(""))
            continue
        small = () if deviation is None else (f"±{f'{deviation:.4f}'.removeprefix('0')}",)
        is_best = value == best.get((series.comparable, key))
        cells.append(Cell(f"{value:.4f}", small, "best" if is_best else "", order=value))
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
