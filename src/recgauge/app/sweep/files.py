"""Writes what a sweep found into its folder: one row a job, every metric."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recgauge.report.series import JobOutcome

Row = dict[str, Any]


def write_summary(jobs: Sequence[JobOutcome], folder: Path) -> list[Path]:
    """Write summary.csv, summary.md and summary.parquet.

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


def _row(job: JobOutcome, sweep: Path) -> Row:
    row: Row = {"job": job.number, "settings": job.label, "status": job.status}
    if job.record is not None:
        row |= {**job.record.names, "seed": job.record.seed, **job.record.values()}
    reason = job.error or job.untracked
    inside = job.folder is not None and job.folder.is_relative_to(sweep)
    folder = str(job.folder.relative_to(sweep)) if inside and job.folder is not None else ""
    return {**row, "folder": folder, "run": job.reused, "reason": reason}


def _markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(_cell(row.get(name)) for name in columns)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
