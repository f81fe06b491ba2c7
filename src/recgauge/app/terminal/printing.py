"""Prints what a run and a sweep end with."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from recgauge.app.settings import program
from recgauge.app.terminal.console import output
from recgauge.report.marks import MARK, mark_lines, sanity_table, sweep_mark_lines
from recgauge.report.series import STATUSES, JobOutcome, has_rivals
from recgauge.report.tables import headline_keys, result_table, run_lines, sweep_table
from recgauge.runs.record import RunRecord


def print_run(
    record: RunRecord,
    *,
    address: str | None,
    run_id: str | None,
    folder: Path,
    brief: bool,
    reused: bool = False,
) -> None:
    """Print a run's table and where to find everything; one line inside a sweep."""
    console = output()
    title = f"{record.names['model']} on {record.names['dataset']}"
    if brief:
        values = record.values()
        numbers = (f"{key.replace('_at_', '@')} {values[key]:.4f}" for key in headline_keys([record]))
        mark = f" {MARK}" if record.incomparable else ""
        console.print(f"{title}: {'  '.join(numbers)}{mark}", markup=False)
        if reused:
            console.print(reused_line(run_id), markup=False)
        return
    console.print(f"\n{title}", style="bold", markup=False)
    table = result_table(record)
    too_wide = console.is_terminal and _width(table) > console.width
    print_table(console, result_table(record, stderr=False) if too_wide else table)
    if too_wide:
        console.print("standard errors need a wider terminal; record.json has them", markup=False)
    if record.sanity is not None:
        console.print()
        print_table(console, sanity_table(record.results, record.sanity))
    for line in mark_lines(record):
        console.print(line, style="yellow", markup=False)
    for line in run_lines(record):
        console.print(line, markup=False)
    if reused:
        console.print(reused_line(run_id), markup=False)
    print_addresses(address, folder, run_id)


def reused_line(run_id: str | None) -> str:
    """Return the line that says which stored run stands for a job."""
    return f"reused run {run_id} (force=true repeats)"


def print_sweep(jobs: Sequence[JobOutcome], *, address: str | None, folder: Path) -> None:
    """Print one table over all jobs of a sweep."""
    console = output()
    console.print(f"\n{_tally(jobs)}", style="bold")
    print_table(console, sweep_table(jobs))
    for line in sweep_mark_lines([(job.number, job.record) for job in jobs if job.record is not None]):
        console.print(line, style="yellow", markup=False)
    for job in jobs:
        if (reason := job.error or job.untracked) is not None:
            console.print(f"{job.status:<8} job {job.number} ({job.label}): {reason}", markup=False)
        if job.untracked is not None:
            console.print(f"         its results lie complete in {os.path.relpath(job.folder or folder)}")
    if has_rivals(jobs):
        console.print(
            "*        best of the runs, or of the means over folds or seeds, with equal train and test rows, "
            "candidates, conventions",
            markup=False,
        )
    print_addresses(address, folder, None)


def _tally(jobs: Sequence[JobOutcome]) -> str:
    """Return how many jobs ended in which way; all but "done" and "failed" only where there are some."""
    counted = Counter(job.status for job in jobs)
    always = ("done", "failed")
    words = [word for word in STATUSES if counted[word] or word in always]
    return ", ".join(f"{counted[word]} {word}" for word in words)


def _width(table: Table) -> int:
    """Return the columns of a terminal that a table takes if nothing is cut."""
    table.box = box.SIMPLE_HEAD
    return Console(width=1000).measure(table).maximum


def print_table(console: Console, table: Table) -> None:
    """Draw rules on a terminal, plain aligned columns elsewhere."""
    table.box = box.SIMPLE_HEAD if console.is_terminal else None
    console.print(table)


def print_addresses(address: str | None, folder: Path, run_id: str | None) -> None:
    """Print the tracking page and the output folder."""
    console = output()
    if address is not None:
        run = f" (run {run_id})" if run_id else ""
        hint = f"; start the server with `{program('ui')}`" if "127.0.0.1" in address else ""
        console.print(f"mlflow   {address}{run}{hint}", markup=False, soft_wrap=True)
    inside = folder.resolve().is_relative_to(Path.cwd())
    shown = os.path.relpath(folder) if inside else folder
    console.print(f"files    {shown}", markup=False, soft_wrap=True)
