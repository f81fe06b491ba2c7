"""After the last job: a sweep's table and summary files, and what an experiment's study makes of its runs."""

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf import DictConfig
from rich.markdown import Markdown

from recgauge.app.names import typed_words
from recgauge.app.places import experiment_folder
from recgauge.app.sweep.begin import study_and_tracker
from recgauge.app.sweep.outcome import SweepPlan, read_outcomes, short_labels
from recgauge.app.terminal.messages import print_error, print_note
from recgauge.app.terminal.printing import ConsoleProgress, output, print_sweep
from recgauge.app.tracking.delivering import deliver_waiting
from recgauge.app.tracking.page import shortened
from recgauge.app.tracking.stored_runs import SUMMARY_TAG
from recgauge.app.tracking.tracker import RunStart, Tracker, experiment_tag, load_record
from recgauge.errors import MissingDataError, RecgaugeError, SchemaError, TrackingError, said
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import free_settings
from recgauge.studies import Row, Study, results_text, with_marked_part, without_details
from recgauge.utils.files import is_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.app.compare.concluding import SweepComparison

HARMLESS = (free_settings() - {"study"}) | {"experiment", "hydra"}
"""Settings of the command line that leave an experiment as it is: its runs and its table stay the same."""


def end(config: DictConfig, plan: SweepPlan, *, stopped: bool) -> bool:
    """Print and store the results of a sweep; return whether all of it went well.

    Parameters
    ----------
    config : DictConfig
        The composed configuration with Hydra's own part.
    plan : SweepPlan
    stopped : bool
        Whether the sweep was interrupted; there is no study then.
    """
    folder = Path(config.hydra.sweep.dir)
    study, tracker = study_and_tracker(config)
    address = None
    try:
        tracker.check_there()
        if not stopped:  # the store may work again
            deliver_waiting(tracker, ConsoleProgress())
        for line in tracker.close_dead():
            print_note(f"marked as killed: {line}")
        address = _address(tracker, config, folder)
    except TrackingError as error:
        print_error(str(error))
    jobs = [_with_record(job) for job in read_outcomes(folder, plan, stopped=stopped)]
    labels = short_labels([job.label for job in jobs])
    jobs = [replace(job, label=label) for job, label in zip(jobs, labels, strict=True)]
    _write_summary(jobs, folder)
    compared = None if stopped else _compare(jobs, tracker, folder)
    lines = [] if compared is None else compared.lines
    print_sweep(jobs, address=address, server=tracker.server, folder=folder, said=lines)
    if compared is not None and config.get("report", True):
        compared = _report(compared, folder)
    if compared is not None and address is not None:
        _track_comparison(compared, tracker, folder)
    badly = ("failed", "stopped", "waiting", "not tracked", "not saved")
    ended_well = not any(job.status in badly for job in jobs)
    if study is None or stopped:
        return ended_well and all(job.record is not None for job in jobs)
    try:
        conclude_study(study, jobs, tracker=tracker, words=typed_words(config.hydra), folder=folder)
    except RecgaugeError as error:
        print_error(str(error))
        return False
    return ended_well


def _compare(jobs: Sequence[JobOutcome], tracker: Tracker, folder: Path) -> "SweepComparison | None":
    """Compare the runs; a sweep does not fail since that cannot be done."""
    if sum(job.record is not None for job in jobs) < 2:
        return None
    from recgauge.app.compare.concluding import compare_sweep

    try:
        return compare_sweep(jobs, tracker, folder)
    except Exception as error:
        print_note(f"the runs are not compared: {said(error) or type(error).__name__}")
        return None


def _report(compared: "SweepComparison", folder: Path) -> "SweepComparison":
    """Write the report; a sweep does not fail since that cannot be done."""
    from recgauge.app.compare.concluding import report_sweep

    try:
        reported = report_sweep(compared, folder)
    except Exception as error:
        print_note(f"no report is written: {said(error) or type(error).__name__}")
        return compared
    output().print(f"report   {reported.files[-1]}", soft_wrap=True)
    return reported


def _track_comparison(compared: "SweepComparison", tracker: Tracker, folder: Path) -> None:
    from recgauge.app.compare.concluding import track_comparison

    try:
        run_id = track_comparison(compared, tracker, folder)
    except TrackingError as error:
        print_note(f"the comparison is in {folder} only: {error}")
        return
    if run_id is not None:
        output().print(f"summary  {tracker.run_address(run_id)}", soft_wrap=True)


def _write_summary(jobs: Sequence[JobOutcome], folder: Path) -> None:
    """Write summary.csv, summary.md and summary.parquet: one row per job; a metric that it lacks is empty."""
    tuned = any(job.record is not None and job.record.search is not None for job in jobs)
    rows = [_row(job, folder, with_costs=tuned) for job in jobs]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with (folder / "summary.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "summary.md").write_text(_markdown(rows, columns), encoding="utf-8")
    table = pa.table({name: [row.get(name) for row in rows] for name in columns})
    pq.write_table(table, folder / "summary.parquet")


def _with_record(job: JobOutcome) -> JobOutcome:
    """Read the record of a job that has one; one that cannot be read makes the job a failed one."""
    if job.status not in ("done", "reused", "not tracked", "not saved"):
        return job
    try:
        return replace(job, record=load_record(job.folder))
    except (OSError, SchemaError) as damage:
        reason = f"{job.folder / 'record.json'}: cannot be read: {damage}"
        return replace(job, status="failed", reason=reason)


def _address(tracker: Tracker, config: DictConfig, folder: Path) -> str | None:
    """Return the page of the experiment's runs, reused ones among them, else of the sweep's."""
    experiment = config.hydra.runtime.choices.get("experiment")
    if experiment is not None:
        return tracker.address(experiment_tag(experiment))
    return tracker.address("recgauge.sweep", folder.as_posix())


def _row(job: JobOutcome, sweep: Path, *, with_costs: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"job": job.number, "settings": job.label, "status": job.status}
    if job.record is not None:
        row |= {**job.record.names, "seed": job.record.seed, **job.record.values()}
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


def _markdown(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(_cell(row.get(name)) for name in columns)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def conclude_study(
    study: Study, runs: Sequence[JobOutcome], *, tracker: Tracker, words: Sequence[str], folder: Path
) -> None:
    """Write, track and print what a study makes of its runs.

    Parameters
    ----------
    study : Study
    runs : sequence of JobOutcome
    tracker : Tracker
        Gets a run of its own with the table as note and artifact, unless it has the same one already.
    words : sequence of str
        The overrides as they were typed.
    folder : Path
        The output folder, which gets results.csv, results.md, the figures and the page, README.md. In a
        checkout, ``experiments/<name>`` gets them too, unless the command line changes the experiment.

    Raises
    ------
    RecgaugeError
        If the study's inputs are missing or wrong.
    """
    source = experiment_folder(study.name)
    study.check(source)
    rows = study.rows(runs, source)
    part = study.markdown(rows)
    changed = [word for word in words if not _is_harmless(word)]
    figures = study.figures(rows)
    files = _write_results(folder, rows, figures)
    (folder / "results.md").write_text(f"{part}\n", encoding="utf-8")
    _write_readme(folder, source, part)
    published = None if changed else _checkout_folder(study.name)
    if published is not None:
        _write_results(published, rows, figures)
        _write_readme(published, published, part)
    console = output()
    console.print()
    console.print(Markdown(study.summary(rows)))
    console.print(f"details  {folder / 'results.md'}", soft_wrap=True)
    console.print(f"page     {(published or folder) / 'README.md'}", soft_wrap=True)
    if changed:
        told = f"experiments/{study.name} is unchanged, since {' '.join(changed)} makes another experiment"
        console.print(f"note     {told}", soft_wrap=True)
    run_id = _track(study, rows, part, [*files, folder / "results.md"], tracker)
    if run_id is not None:
        console.print(f"summary  run {run_id}")


def _is_harmless(word: str) -> bool:
    return word.lstrip("+~").split("=")[0].split(".")[0] in HARMLESS


def _write_results(folder: Path, rows: Sequence[Row], figures: "dict[str, Figure]") -> list[Path]:
    from recgauge.report.figures.style import save_png

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "results.csv"]
    files[0].write_text(results_text(rows), encoding="utf-8")
    for name, figure in figures.items():
        files.append(folder / f"{name}.png")
        save_png(figure, files[-1])
    return files


def _checkout_folder(name: str) -> Path | None:
    """Return the experiment's folder in the current folder if that is a checkout, None anywhere else.

    An installed package writes to the output folder alone.
    """
    folder = Path("experiments") / name
    return folder if (folder / "README.md").is_file() and is_writable(folder) else None


def _write_readme(folder: Path, source: Path, part: str) -> None:
    """Write the page of `source` with another marked part."""
    page = source / "README.md"
    if not page.is_file():
        raise MissingDataError(f"{page}: there is no such file. An experiment's page is made from it.")
    text = with_marked_part(page.read_text(encoding="utf-8"), part)
    (folder / "README.md").write_text(text, encoding="utf-8")


def _track(
    study: Study, rows: Sequence[Row], part: str, files: Sequence[Path], tracker: Tracker
) -> str | None:
    """Store a summary run, unless the newest one has the same content."""
    digest = sha256(f"{study.name}\n{results_text(rows)}\n{part}".encode()).hexdigest()
    if found := tracker.find(digest):
        return found[0]
    tags = {
        experiment_tag(study.name): "true",
        SUMMARY_TAG: study.name,
        "recgauge.fingerprint": digest,
        "mlflow.source.type": "LOCAL",
    }
    counted = Counter(row["verdict"] for row in rows if row.get("verdict"))
    values = {f"verdicts/{verdict.replace(' ', '_')}": float(n) for verdict, n in counted.items()}
    with tracker.start(RunStart(f"summary {study.name}", {}, tags)) as log:
        log.conclude(shortened(without_details(part).split("\n"), "results.md"), values, files)
    return log.run_id
