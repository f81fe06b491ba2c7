"""What a sweep's finished runs show of each other: files, claims under its table, a summary run."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from recgauge.comparison import Comparison, Procedure
from recgauge.comparison.runs import ComparedRuns, agreeing, compare_runs
from recgauge.report import markdown_line
from recgauge.report.compared_runs import FORMATS, write_comparison
from recgauge.runs.facts import JobFacts
from recgauge.runs.folder import Summary
from recgauge.runs.outcome import JobOutcome
from recgauge.sweeps.artifacts import PER_USER
from recgauge.tracking.page import shortened

if TYPE_CHECKING:
    from recgauge.report.gathering import Load

MOST_CELLS = 100_000  # users x runs: with more, resampling users would take seconds
MOST_ROWS = 200_000  # of a data set that is loaded again for the report
MOST_VALUES = 20_000  # users x runs whose lists are evaluated under other conventions for the report
MOST_CLAIMS = 4  # under a sweep's table
MOST_FIGURES = 2
NAME = "comparison"
REPORT = "report.html"


def compare_sweep(jobs: Sequence[JobOutcome], folder: Path) -> tuple[ComparedRuns, list[Path]] | None:
    """Compare a sweep's finished runs, and write comparison.md, .tex, .csv, .json and figures to its folder.

    Where runs on one data set differ in more than the model, as under several candidate rules, the largest
    number of runs that agree is compared.
    """
    compared = compared_jobs(jobs)
    if compared is None:
        return None
    files = write_comparison(compared, [folder / f"{NAME}{suffix}" for suffix in FORMATS])
    return compared, [*files, *_draw(compared.comparison, folder)]


def compared_jobs(jobs: Sequence[JobOutcome]) -> ComparedRuns | None:
    """Compare the most finished runs that differ in the model alone; None if there are not two."""
    known = [job for job in jobs if job.record is not None and (job.folder / PER_USER).is_file()]
    chosen, notes = agreeing(known)
    if not chosen:
        return None
    if lacking := sum(job.record is None for job in jobs):
        notes.append(f"{lacking} of {len(jobs)} jobs have no results and are left out: summary.md says why")
    procedure = Procedure()
    if sum(_n_users(job) for job in chosen) > MOST_CELLS:
        procedure = replace(procedure, interval="normal", correction="holm")
    return compare_runs(chosen, procedure, notes=notes)


def claim_lines(comparison: Comparison) -> list[str]:
    """Return the first claims, by the first metric of each data set, and where all of them are."""
    first = comparison.metrics[:1]
    claims = [claim for result in comparison.results if result.metric in first for claim in result.claims]
    more = [f"{len(claims) - MOST_CLAIMS} more in {NAME}.md"] if len(claims) > MOST_CLAIMS else []
    return [f"compared {line}" for line in (*claims[:MOST_CLAIMS], *more)]


def comparison_summary(comparison: Comparison, folder: Path, job: JobFacts) -> Summary:
    """Return what a store gets of a comparison that was written to a folder."""
    text = (folder / f"{NAME}.md").read_text(encoding="utf-8")
    n_runs = len({row.run for result in comparison.results for row in result.rows})
    claims = [f"- {markdown_line(claim)}" for claim in comparison.claims]
    return Summary(
        job=replace(job, name=f"{NAME} · {', '.join(comparison.datasets)} · {n_runs} runs"),
        subject=NAME,
        fingerprint=sha256(f"{NAME}\n{text}".encode()).hexdigest(),
        note=shortened([*claims, "", *text.splitlines()], f"{NAME}.md"),
    )


def report_sweep(compared: ComparedRuns, folder: Path, load: "Load") -> Path:
    """Write report.html into the sweep's folder, beside the other files of its comparison.

    What would keep the user waiting is left out of it; `recgauge report FOLDER` does it all.
    """
    from recgauge.report.gathering import Effort, report_data, write_page

    effort = Effort(rows=MOST_ROWS, values=MOST_VALUES, load=load)
    return write_page(report_data(compared, effort), folder / REPORT)


def _n_users(job: JobOutcome) -> int:
    return int(pq.read_metadata(job.folder / PER_USER).num_rows)


def _draw(comparison: Comparison, folder: Path) -> list[Path]:
    from recgauge.report.figures.compared import forest
    from recgauge.report.figures.style import save_png

    drawn = []
    for dataset in comparison.datasets[:MOST_FIGURES]:
        figure = forest(comparison, comparison.metrics[0], dataset)
        name = NAME if len(comparison.datasets) == 1 else f"{NAME}_{dataset}"
        drawn.append(save_png(figure, folder / f"{name}.png"))
    return drawn
