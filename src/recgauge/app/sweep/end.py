"""After the last job of a sweep: its table, its summary files, its study."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf import DictConfig, OmegaConf

from recgauge.app.compose import build_study, build_tracker
from recgauge.app.sweep.outcome import SweepPlan, read_outcomes, short_labels
from recgauge.app.sweep.study import conclude_study
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import print_sweep
from recgauge.app.tracking.stored import load_record
from recgauge.app.tracking.tracker import Tracker, experiment_tag
from recgauge.errors import RecgaugeError, SchemaError, TrackingError
from recgauge.runs.outcome import JobOutcome

Row = dict[str, Any]


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
    jobs = [_with_record(job) for job in read_outcomes(folder, plan, stopped=stopped)]
    labels = short_labels([job.label for job in jobs])
    jobs = [replace(job, label=label) for job, label in zip(jobs, labels, strict=True)]
    tracker = build_tracker(OmegaConf.to_container(config.tracking, resolve=True))
    address = None
    try:
        tracker.check_there()
        address = _address(tracker, config, folder)
    except TrackingError as error:
        print_error(str(error))
    write_summary(jobs, folder)
    print_sweep(jobs, address=address, folder=folder)
    ended_well = not any(job.status in ("failed", "stopped", "not tracked") for job in jobs)
    node = None if config.study is None else OmegaConf.to_container(config.study, resolve=True)
    study = build_study(node, list(config.allowed_targets))
    if study is None or stopped:
        return ended_well and all(job.record is not None for job in jobs)
    try:
        conclude_study(study, jobs, tracker=tracker, hydra=config.hydra, folder=folder)
    except RecgaugeError as error:
        print_error(str(error))
        return False
    return ended_well


def write_summary(jobs: Sequence[JobOutcome], folder: Path) -> list[Path]:
    """Write summary.csv, summary.md and summary.parquet: one row per job, every metric.

    Parameters
    ----------
    jobs : sequence of JobOutcome
    folder : Path
        Of the sweep.

    Returns
    -------
    list of Path
        The files; a metric that a job lacks is empty (null in parquet).
    """
    rows = [_row(job, folder) for job in jobs]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    files = [folder / f"summary.{ending}" for ending in ("csv", "md", "parquet")]
    with files[0].open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    files[1].write_text(_markdown(rows, columns), encoding="utf-8")
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), files[2])
    return files


def _with_record(job: JobOutcome) -> JobOutcome:
    """Read the record of a job that has one; one that cannot be read makes the job a failed one."""
    if job.status not in ("done", "reused", "not tracked"):
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


def _row(job: JobOutcome, sweep: Path) -> Row:
    row: Row = {"job": job.number, "settings": job.label, "status": job.status}
    if job.record is not None:
        row |= {**job.record.names, "seed": job.record.seed, **job.record.values()}
    folder = str(job.folder.relative_to(sweep)) if job.folder.is_relative_to(sweep) else ""
    return {**row, "folder": folder, "run": job.run_id, "reason": job.reason}


def _markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(_cell(row.get(name)) for name in columns)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
