"""What a sweep shows: a line when a job ends, and at the end the table of all jobs."""

import os
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from textwrap import shorten

from recgauge.comparison.run_groups import Best, RunGroup, best_values, group, has_rivals, headline_keys
from recgauge.errors import listed
from recgauge.models.recommend import leak_mark
from recgauge.report.blocks import Block, Cell, Heading, Row, TableBlock, lines
from recgauge.report.console import output, print_addresses, render_terminal
from recgauge.report.run_tables import (
    MARK,
    dropped_words,
    few_evaluated,
    jobs_words,
    run_title,
    sweep_mark_lines,
    tied_lines,
    users_words,
)
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
_SHORT = 120  # characters of a reason below the table
_MOST_NAMED = 4  # folders of runs that are not tracked

IN_A_LINE = 7  # numbers in the line of a job; its table and files have all


def sweep_blocks(jobs: Sequence[JobOutcome], notes: Sequence[str] = ()) -> list[Block]:
    """Return what a sweep ends with: how jobs ended, their table, marks, why jobs failed, notes."""
    records = [(job.number, job.record) for job in jobs if job.record is not None]
    groups = group_jobs(jobs)
    best = [BEST] if has_rivals([run_group for run_group, _ in groups]) else []
    facts = [*best, *tied_lines(records), *coverage_lines(records)]
    texts = [*tuned_lines(jobs), *facts, *reason_lines(jobs, most=_SHORT), *notes]
    few = dict.fromkeys(users_words(record) for _, record in records if few_evaluated(record))
    heading = ", ".join([tally(jobs), *list(few)[:1]])
    return [
        Heading(heading),
        sweep_table(jobs),
        *lines(sweep_mark_lines(records), "marks"),
        *lines(texts),
    ]


def coverage_lines(records: Sequence[tuple[int, RunRecord]]) -> list[str]:
    """Return which held-out rows no number is of, and why, where most are dropped; the rest in short."""
    alike: dict[str, list[int]] = {}
    shares: dict[str, float] = {}
    for number, record in records:
        if (coverage := record.coverage) is not None and (dropped := dropped_words(record)):
            alike.setdefault(dropped, []).append(number)
            shares[dropped] = coverage.rows_dropped / coverage.rows
    if not alike:
        return []
    most = max(shares, key=lambda dropped: shares[dropped])
    texts = [f"coverage {most} [{jobs_words(alike.pop(most))}]"]
    if rest := sorted(number for numbers in alike.values() for number in numbers):
        texts.append(
            f"coverage {jobs_words(rest)}: a smaller share dropped; see test_rows_dropped in summary.csv"
        )
    return texts


def tally(jobs: Sequence[JobOutcome]) -> str:
    """Return how many jobs ended in which way; all but "done" and "failed" only where there are some."""
    counts = Counter(job.status for job in jobs)
    words = [word for word in STATUSES if counts[word] or word in ("done", "failed")]
    return ", ".join(f"{counts[word]} {word}" for word in words)


def reason_lines(jobs: Sequence[JobOutcome], *, most: int | None = None) -> list[str]:
    """Return why jobs are not simply done, in `most` characters; jobs with the same reason share a line."""
    alike: dict[tuple[str, str], list[JobOutcome]] = {}
    for job in jobs:
        if job.reason is not None:
            # what data are missing, and where they were looked for, was printed before the first job
            reason = f"{job.short_reason} See above." if job.status == "no data" else job.reason
            if job.status == "failed" and most:  # printed when the first of them ended
                reason = shorten(reason, most, placeholder=" ... See above.")
            alike.setdefault((job.status, reason), []).append(job)
    reasons = []
    for (status, reason), own in alike.items():
        label = f" ({own[0].label})" if len(own) == 1 else ""
        reasons.append(f"{status:<8} {jobs_words([job.number for job in own])}{label}: {reason}")
    return reasons


def group_jobs(jobs: Sequence[JobOutcome]) -> list[tuple[RunGroup, list[JobOutcome]]]:
    """Return the finished jobs in groups that differ in fold or seed alone, by rising fold and seed."""
    jobs_by_run = {run: job for job in jobs if (run := job.run) is not None}
    groups = group(list(jobs_by_run))
    return [(run_group, [jobs_by_run[run] for run in run_group.runs]) for run_group in groups]


def sweep_table(jobs: Sequence[JobOutcome]) -> TableBlock:
    """Return one row per job, and one per group of folds or seeds with its mean; the best values are marked.

    Jobs of a group are together by rising fold and seed. Below them is the mean over them with the
    standard deviation (of a sample: divided by n - 1). Best is a mean or a job outside any group, among
    those that can be compared. Metrics are those of one cutoff.
    """
    keys = headline_keys([job.record for job in jobs if job.record is not None])
    groups = group_jobs(jobs)
    best = best_values([run_group for run_group, _ in groups], keys)
    rows: list[Row] = []
    sections: list[str] = []
    with_users = any(job.record is not None and job.record.users for job in jobs)
    for number, (_, comparable) in enumerate(groupby(groups, key=lambda pair: pair[0].protocol)):
        for run_group, own in comparable:
            cells = _cells(run_group, keys, best)
            if len(own) == 1:
                rows.append((*_about(own[0], with_users=with_users), *cells))
            else:
                rows += [_row(job, keys, with_users=with_users) for job in own]
                counts = {record.users for record in run_group.records}
                users = [counts.pop() if len(counts) == 1 else ""] if with_users else []
                rows.append(("mean", _mean_label(run_group), "", *users, *cells))
        sections += [str(number)] * (len(rows) - len(sections))
    rows += [_row(job, keys, with_users=with_users) for job in jobs if job.record is None]
    sections += [sections[-1] if sections else "0"] * (len(rows) - len(sections))
    metrics = [key.replace("_at_", "@") for key in keys]
    header = ("job", "settings", "status", *(["users"] if with_users else []), *metrics)
    return TableBlock("", header, tuple(rows), words=("settings", "status"), groups=tuple(sections))


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


def _cells(run_group: RunGroup, keys: Sequence[str], best: Best) -> list[Cell]:
    """Return the values of a job, or means with deviations below them, the best ones marked."""
    cells = []
    for key in keys:
        value, deviation = run_group.mean(key), run_group.deviation(key)
        if value is None:
            cells.append(Cell(""))
            continue
        varies = deviation is not None and not run_group.is_constant
        small = (f"±{f'{deviation:.4f}'.removeprefix('0')}",) if varies else ()
        is_best = value == best.get((run_group.protocol, key))
        cells.append(Cell(f"{value:.4f}", small, "best" if is_best else "", order=value))
    return cells


def _mean_label(run_group: RunGroup) -> str:
    labels = [run.label.split(" ") for run in run_group.runs]
    shared = [word for word in labels[0] if all(word in own for own in labels)]
    if run_group.is_constant:
        return f"{' '.join([*shared, 'mean'])} of {len(labels)} equal runs"
    return f"{' '.join([*shared, 'mean'])} ± deviation of {len(labels)}"


def _label(job: JobOutcome) -> str:
    if job.record is None:
        return job.label
    if job.record.evaluated_on == "validation":
        return f"{job.label} (validation rows)"
    return f"{job.label} (saw the test rows)" if leak_mark(job.record.fit_on) else job.label


def tuned_lines(jobs: Sequence[JobOutcome]) -> list[str]:
    """Return one line for each tuned job of a sweep: its trials, seconds and settings."""
    return [
        f"tuned    job {job.number}: {job.record.tuned}; fit {job.record.seconds.get('fit', 0.0):.2f} s"
        for job in jobs
        if job.record is not None and job.record.search is not None
    ]


def print_job_line(outcome: JobOutcome, label: str, end: str = "") -> None:
    """Print one line for a finished job of a sweep: what sets it apart, its first numbers, and an `end`."""
    record = outcome.record
    if record is None:
        raise ValueError(f"{outcome.label}: has no record to print")
    words = [word for word in label.split(" ") if not word.startswith(("model=", "dataset="))]
    few = users_words(record) if few_evaluated(record) else ""
    title = ", ".join(filter(None, [run_title(record), " ".join(words), few]))
    values, keys = record.values(), headline_keys([record])
    parts = [f"{key.replace('_at_', '@')} {values[key]:.4f}" for key in keys[:IN_A_LINE]]
    parts.append(f"({len(keys) - IN_A_LINE} more)" if len(keys) > IN_A_LINE else "")
    parts += [MARK if record.incomparable else "", end]
    console = output()
    console.print(f"job {outcome.number}: {title}: {'  '.join(filter(None, parts))}")
    if outcome.status == "reused":
        console.print(reused_line(outcome))


def reused_line(outcome: JobOutcome) -> str:
    """Return which run was reused."""
    run = f"run {outcome.run_id}" if outcome.run_id else f"the run in {outcome.folder}"
    return f"reused {run} (force=true repeats)"


def print_sweep(
    jobs: Sequence[JobOutcome],
    folder: Path,
    addresses: Sequence[str],
    server: str | None,
    notes: Sequence[str],
    sync: str,
) -> None:
    """Print one table over all jobs of a sweep, divided where the terminal is too narrow; see `print_run`."""
    untracked = [os.path.relpath(job.folder) for job in jobs if job.status == "not tracked"]
    hints = []
    if untracked:
        hints = [
            f"         complete results are in {listed(untracked, most=_MOST_NAMED)}",
            f"         when the store works again: `{sync}`, or the next run, tracks them",
        ]
    render_terminal(sweep_blocks(jobs, [*hints, *notes]), output())
    print_addresses(folder, addresses, server)
