"""What a sweep's finished runs show of each other: files, claims under its table, a summary run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq

from recgauge.app.compare.comparing import ComparedRuns, compare_runs
from recgauge.app.compare.printing import FORMATS, write_comparison
from recgauge.app.files.artifacts import PER_USER
from recgauge.app.tracking.page import shortened
from recgauge.app.tracking.stored_runs import SUMMARY_TAG, RunStore
from recgauge.app.tracking.tracker import RunStart, Tracker
from recgauge.comparison import Procedure
from recgauge.report import markdown_line
from recgauge.report.series import Series, all_series
from recgauge.runs.outcome import JobOutcome

MOST_CELLS = 100_000  # users x runs: with more, resampling users would take seconds
MOST_ROWS = 200_000  # of a data set that is loaded again for the report
MOST_VALUES = 20_000  # users x runs whose lists are evaluated under other conventions for the report
MOST_CLAIMS = 4  # under a sweep's table
MOST_FIGURES = 2
NAME = "comparison"
REPORT = "report.html"


@dataclass(frozen=True)
class SweepComparison:
    """A sweep's comparison and the files that it was written to.

    Parameters
    ----------
    found : ComparedRuns
    files : list of Path
    """

    found: ComparedRuns
    files: list[Path]

    @property
    def lines(self) -> list[str]:
        """The first claims, by the first metric of each data set, and where all of it is."""
        comparison = self.found.comparison
        first = comparison.metrics[:1]
        claims = [claim for one in comparison.results if one.metric in first for claim in one.claims]
        more = [f"{len(claims) - MOST_CLAIMS} more in {NAME}.md"] if len(claims) > MOST_CLAIMS else []
        return [f"compared {line}" for line in (*claims[:MOST_CLAIMS], *more)]


def compare_sweep(jobs: Sequence[JobOutcome], tracker: Tracker, folder: Path) -> SweepComparison | None:
    """Compare a sweep's finished runs, and write comparison.md, .tex, .csv, .json and figures to its folder.

    Where runs on one data set differ in more than the model, as under several candidate rules, the largest
    number of runs that agree is compared.

    Parameters
    ----------
    jobs : sequence of JobOutcome
    tracker : Tracker
        Has the files of runs that were reused.
    folder : Path
        Of the sweep.

    Returns
    -------
    SweepComparison or None
        None if no two runs can be compared.
    """
    store = RunStore(tracker.uri) if tracker.uri else None
    finished = [_with_values(job, store) for job in jobs if job.record is not None]
    known = [job for job in finished if job is not None]
    groups: dict[tuple[str, object], list[Series]] = {}
    for series in all_series(known):
        record = series.jobs[0].record
        assert record is not None
        groups.setdefault((record.names["dataset"], series.comparable), []).append(series)
    largest: dict[str, list[Series]] = {}
    for (dataset, _), some in groups.items():
        if len(some) > len(largest.get(dataset, ())):
            largest[dataset] = some
    chosen = [job for some in largest.values() if len(some) > 1 for series in some for job in series.jobs]
    if not chosen:
        return None
    left = len(known) - len(chosen)
    notes = [f"{left} runs differ in more than the model from those that are compared here"] if left else []
    if lacking := sum(job.record is None for job in jobs):
        notes.append(f"{lacking} of {len(jobs)} jobs have no results and are left out: summary.md says why")
    procedure = Procedure()
    if sum(_n_users(job) for job in chosen) > MOST_CELLS:
        procedure = replace(procedure, interval="normal", correction="holm")
    found = compare_runs(chosen, procedure, notes=notes)
    files = write_comparison(found, [folder / f"{NAME}{suffix}" for suffix in FORMATS])
    return SweepComparison(found, [*files, *_draw(found, folder)])


def report_sweep(made: SweepComparison, folder: Path) -> SweepComparison:
    """Write report.html into the sweep's folder, beside the other files of its comparison.

    What would keep the user waiting is left out of it; `recgauge report FOLDER` does it all.
    """
    from recgauge.app.compare.reporting import Effort, report_data, write_page

    data = report_data(made.found, Effort(rows=MOST_ROWS, values=MOST_VALUES))
    return replace(made, files=[*made.files, write_page(data, folder / REPORT)])


def track_comparison(made: SweepComparison, tracker: Tracker, folder: Path) -> str | None:
    """Store a sweep's comparison as a run of its own, unless one has the same content; return its id."""
    text = next(file for file in made.files if file.suffix == ".md").read_text(encoding="utf-8")
    digest = sha256(f"{NAME}\n{text}".encode()).hexdigest()
    if stored := tracker.find(digest):
        return stored[0]
    comparison = made.found.comparison
    runs = {row.run for one in comparison.results for row in one.rows}
    name = f"{NAME} · {', '.join(comparison.datasets)} · {len(runs)} runs"
    tags = {
        "recgauge.sweep": folder.as_posix(),
        SUMMARY_TAG: NAME,
        "recgauge.fingerprint": digest,
        "mlflow.source.type": "LOCAL",
    }
    with tracker.start(RunStart(name, {}, tags)) as log:
        claims = [f"- {markdown_line(claim)}" for claim in comparison.claims]
        log.conclude(shortened([*claims, "", *text.splitlines()], f"{NAME}.md"), {}, made.files)
    return log.run_id


def _with_values(job: JobOutcome, store: RunStore | None) -> JobOutcome | None:
    """Return the job with a folder that has its per-user values; a reused run has them in the store."""
    if not (job.folder / PER_USER).is_file() and store is not None and job.run_id is not None:
        run = store.run(job.run_id)
        job = job if run is None else replace(job, folder=store.folder(run, [PER_USER]))
    return job if (job.folder / PER_USER).is_file() else None


def _n_users(job: JobOutcome) -> int:
    return int(pq.read_metadata(job.folder / PER_USER).num_rows)


def _draw(found: ComparedRuns, folder: Path) -> list[Path]:
    from recgauge.report.comparison_figures import forest
    from recgauge.report.figures.style import save_png

    comparison, drawn = found.comparison, []
    for dataset in comparison.datasets[:MOST_FIGURES]:
        figure = forest(comparison, comparison.metrics[0], dataset)
        name = NAME if len(comparison.datasets) == 1 else f"{NAME}_{dataset}"
        drawn.append(save_png(figure, folder / f"{name}.png"))
    return drawn
