"""After the last job: a sweep's table, its runs compared, a report."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from recgauge.comparison import Comparison, Procedure
from recgauge.comparison.runs import agreeing, compare_runs
from recgauge.errors import RecgaugeError, listed, said
from recgauge.report.comparison_tables import FORMATS, write_comparison
from recgauge.report.console import output, shown_path
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import RECORD, JobOutcome, is_finished, write_jobs
from recgauge.runs.record import RunRecord, coverage_counts
from recgauge.runs.stored import PER_USER
from recgauge.sweeps.conclusion import conclude_study, job_facts, track
from recgauge.sweeps.places import served_by
from recgauge.sweeps.summary import comparison_summary, title
from recgauge.sweeps.sweep import Sweep
from recgauge.sweeps.tables import print_sweep
from recgauge.tracking.delivering import REPORT
from recgauge.tracking.outbox import Deliveries
from recgauge.tracking.page import experiment_tag
from recgauge.utils.files import csv_text
from recgauge.utils.messages import explain_error, print_error, print_note

if TYPE_CHECKING:
    from recgauge.page.data import Load

_BADLY = ("failed", "stopped", "not tracked", "not saved")
MOST_CELLS = 100_000  # users x runs: with more, resampling users would take seconds
MOST_ROWS = 200_000  # of a data set that is loaded again for the report
MOST_CLAIMS = 4  # under a sweep's table
MOST_LEFT = 5  # runs of an earlier sweep that are named
_MOST_PAGES = 5  # data sets that have a page of their own in MLflow
NAME = "comparison"


def end_sweep(sweep: Sweep, deliveries: Deliveries, *, load: "Load | None" = None) -> bool:
    """Print and store the results of a sweep; return whether all of it went well.

    The table comes from memory: a disk that takes nothing more costs the files of the summary, not the table.
    `load` gives the report the data of a run again; without it no report is written.
    """
    folder, store = sweep.folder, sweep.store
    jobs = [replace(job, label=sweep.labels[job.number]) for job in sweep.all_outcomes]
    study = next((job.study() for job in sweep.jobs), None)
    stopped = any(job.status == "stopped" for job in jobs)
    _leave_earlier_sweep(jobs, folder)
    try:
        write_jobs(jobs, folder)
        _write_summary(jobs, folder)
    except OSError as error:
        print_error(f"the sweep's summary is not written: {explain_error(error)}")
    compared = None
    if not stopped and sum(job.record is not None for job in jobs) > 1:
        with _optional("the runs are not compared"):
            compared = compare_sweep(jobs, folder)
    addresses = _pages(sweep, jobs, deliveries)
    server = None if store is None else served_by(store.uri, store.experiment)
    claims = [] if compared is None else claim_lines(compared[0])
    print_sweep(jobs, folder, addresses, server, claims, "" if store is None else store.sync_command)
    if compared is not None:
        _conclude_comparison(*compared, sweep, deliveries, load, tracked=bool(addresses))
    ended_well = not any(job.status in _BADLY for job in jobs)
    if study is None or stopped:
        return ended_well and all(job.record is not None for job in jobs)
    try:
        conclude_study(study, jobs, sweep, deliveries)
    except (RecgaugeError, OSError) as error:
        print_error(str(explain_error(error)))
        return False
    return ended_well


def _pages(sweep: Sweep, jobs: Sequence[JobOutcome], deliveries: Deliveries) -> list[str]:
    """Return MLflow's page of the runs, of each data set where they are few: its bars are of one alone."""
    if (store := sweep.store) is None:
        return []
    own = ("recgauge.sweep", sweep.folder.as_posix())
    tag = (experiment_tag(sweep.experiment), "true") if sweep.experiment else own
    names = dict.fromkeys(job.record.names["dataset"] for job in jobs if job.record is not None)
    if not 1 < len(names) <= _MOST_PAGES or any("'" in name for name in names):
        return [page] if (page := deliveries.address(store, *tag)) else []
    pages = {name: deliveries.address(store, *tag, name) for name in names}
    return [f"{name}: {page}" for name, page in pages.items() if page]


def _leave_earlier_sweep(jobs: Sequence[JobOutcome], folder: Path) -> None:
    """Remove what an earlier sweep in this folder has made of its runs, and name those that are left."""
    ends = (".csv", ".json", ".md", ".tex", "_pairs.csv")
    for old in (*(folder / f"{NAME}{end}" for end in ends), folder / REPORT):
        with suppress(OSError):
            old.unlink()
    folders = {file.parent for file in folder.rglob(RECORD)} - {job.folder for job in jobs}
    if left := [str(run.relative_to(folder)) for run in sorted(folders) if is_finished(run)]:
        print_note(
            f"{shown_path(folder)} also holds finished runs of an earlier sweep, which are not in this "
            f"table: {listed(left, most=MOST_LEFT)}. Delete them, or name another: hydra.sweep.dir=FOLDER."
        )


@contextmanager
def _optional(lacking: str) -> Iterator[None]:
    """Say what is lacking where it cannot be made: a sweep does not fail for that."""
    try:
        yield
    except Exception as error:
        print_note(f"{lacking}: {said(error) or type(error).__name__}")


def _conclude_comparison(
    comparison: Comparison,
    files: list[Path],
    sweep: Sweep,
    deliveries: Deliveries,
    load: "Load | None",
    *,
    tracked: bool,
) -> None:
    """Write the report of a sweep's comparison, and store both."""
    with _optional("no report is written"):
        if load is not None:
            from recgauge.page import write_page
            from recgauge.page.data import report_data

            # what would keep the user waiting is left out of it; `recgauge report FOLDER` does it all
            data = report_data(comparison, load, most_rows=MOST_ROWS)
            files.append(write_page(data, sweep.folder / REPORT))
            output().print(f"report   {shown_path(files[-1])}", soft_wrap=True)
    if tracked:
        ids = {job.folder: job.run_id for job in sweep.all_outcomes if job.run_id}
        facts = job_facts(sweep, title(comparison, NAME))
        track(comparison_summary(comparison, facts, NAME, ids), files, sweep, deliveries)


def _write_summary(jobs: Sequence[JobOutcome], folder: Path) -> None:
    """Write summary.csv: one row per job; a metric that it lacks is empty."""
    tuned = any(job.record is not None and job.record.search is not None for job in jobs)
    rows = [_row(job, folder, with_costs=tuned) for job in jobs]
    (folder / "summary.csv").write_text(csv_text(rows), encoding="utf-8", newline="")


def _row(job: JobOutcome, sweep: Path, *, with_costs: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"job": job.number, "settings": job.label, "status": job.status}
    if job.record is not None:
        row |= {**job.record.names, "seed": job.record.seed, **job.record.values()}
        row |= coverage_counts(job.record)
        row |= _costs(job.record) if with_costs else {}
    folder = str(job.folder.relative_to(sweep)) if job.folder.is_relative_to(sweep) else ""
    return {**row, "folder": folder, "run": job.run_id, "reason": job.reason}


def _costs(record: RunRecord) -> dict[str, Any]:
    """Return what choosing and training a model took: a model that was not tuned took no trial."""
    search = record.search
    return {
        "budget": "" if search is None else search.budget,
        "trials": 0 if search is None else len(search.trials),
        "search_seconds": 0.0 if search is None else search.seconds,
        "fit_seconds": record.seconds.get("fit"),
        "chosen": "" if search is None else search.chosen.words,
    }


def compare_sweep(jobs: Sequence[JobOutcome], folder: Path) -> tuple[Comparison, list[Path]] | None:
    """Compare a sweep's finished runs, and write comparison.md, .tex, .csv and .json to its folder.

    Where runs on one data set differ in more than the model, as under several candidate rules, the largest
    number of runs that agree is compared.
    """
    comparison = compare_finished([run for job in jobs if (run := job.run) is not None], len(jobs))
    if comparison is None:
        return None
    return comparison, write_comparison(comparison, [folder / f"{NAME}{suffix}" for suffix in FORMATS])


def compare_finished(runs: Sequence[FinishedRun], n_jobs: int) -> Comparison | None:
    """Compare the most runs of some jobs that differ in the model alone; None if there are not two."""
    chosen, notes = agreeing([run for run in runs if (run.folder / PER_USER).is_file()])
    if not chosen:
        return None
    if n_left := n_jobs - len(runs):
        notes.append(f"{n_left} of {n_jobs} jobs have no results and are left out: summary.csv says why")
    procedure = Procedure()
    n_users = [int(pq.read_metadata(run.folder / PER_USER).num_rows) for run in chosen]
    if sum(n_users) > MOST_CELLS:
        procedure = replace(procedure, interval="normal", correction="holm")
    return compare_runs(chosen, procedure, notes=notes)


def claim_lines(comparison: Comparison) -> list[str]:
    """Return the first claims, by the first metric of each data set, and where all of them are."""
    first = comparison.metrics[:1]
    claims = [claim for result in comparison.results if result.metric in first for claim in result.claims]
    more = [f"{len(claims) - MOST_CLAIMS} more in {NAME}.md"] if len(claims) > MOST_CLAIMS else []
    return [f"compared {line}" for line in (*claims[:MOST_CLAIMS], *more)]
