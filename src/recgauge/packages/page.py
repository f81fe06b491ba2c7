"""The page of a package: the report's sections on its runs, where data come from, and how to check it."""

from collections.abc import Sequence
from pathlib import Path

from recgauge.errors import RecgaugeError, listed, said
from recgauge.packages.public import may_share_rows
from recgauge.packages.unpacking import PAGE, RUNS, runs_in
from recgauge.page import results
from recgauge.page.behind import behind
from recgauge.page.data import ReportData, dataset_parts
from recgauge.report.blocks import Code, Folded, PageBlock, Section, TableBlock, Text
from recgauge.report.html import render_page
from recgauge.report.run_tables import run_blocks, run_title
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import RunRecord
from recgauge.sweeps.artifacts import write_record
from recgauge.sweeps.ending import compare_finished

_CHECK = """\
pip install recgauge
recgauge verify PACKAGE.zip
recgauge verify PACKAGE.zip --train"""
_VERIFY = (
    "The first computes every number again from lists and predictions, in seconds; with --train every run is "
    "repeated from its settings."
)
_FILES = (
    "Each folder of runs/ holds a run: settings and results (record.json, config.yaml), versions, guards, "
    "data card, values of each user, lists. SHA256SUMS has the digests of all files."
)


def write_pages(folder: Path, target: Path) -> None:
    """Write the files of a package that follow from its records and values: page, settings of each run.

    `verify` writes it again and compares.
    """
    runs = runs_in(folder)
    for run in runs:
        made = target / RUNS / run.folder.name
        made.mkdir(parents=True, exist_ok=True)
        write_record(run.record, made)
    records = [run.record for run in runs]
    datasets = listed(dict.fromkeys(record.names["dataset"] for record in records))
    title = f"{len(records)} run{'s' if len(records) > 1 else ''} on {datasets}"
    sections = [_runs(runs), _data(records), _check()]
    try:
        compared, reason = compare_finished(runs, len(runs)), "no two of them differ in the model alone"
    except RecgaugeError as error:
        compared, reason = None, said(error).replace(f"{folder}/", "")
    if compared is None:
        sections = [Section("The answer", f"The runs are not compared: {reason}."), *sections]
    else:
        data = ReportData(compared, dataset_parts(compared))
        shown = [results.answer(data), results.leaderboards(data), results.pairs(data)]
        sections = [*(section for section in shown if section is not None), *sections, behind(data)]
    page = render_page(title, "A package of finished runs, with what it takes to check them", sections)
    (target / PAGE).write_text(page, encoding="utf-8")


def _runs(runs: Sequence[FinishedRun]) -> Section:
    ends = [
        Folded(f"{run.folder.name}: {run_title(run.record)}", tuple(run_blocks(run.record))) for run in runs
    ]
    return Section("Runs", "Each run by its folder, and what it printed at its end.", tuple(ends))


def _data(records: Sequence[RunRecord]) -> Section:
    rows = []
    for record in records:
        facts = record.dataset
        place = "in the package" if may_share_rows(record) else f"not in the package; from {facts.source}"
        counts = f"{facts.n_rows:,} rows, {facts.n_users:,} users, {facts.n_items:,} items"
        rows.append((record.names["dataset"], counts, facts.provenance, facts.licence, place, facts.sha256))
    header = ("data set", "after the filters", "provenance", "licence", "held-out rows", "sha256")
    table = TableBlock("Data sets", header, tuple(dict.fromkeys(rows)), words=header)
    return Section("Data", "Training rows are not in the package: verify loads the data sets.", (table,))


def _check() -> Section:
    blocks: tuple[PageBlock, ...] = (Code("Commands that check it", _CHECK), Text(_VERIFY), Text(_FILES))
    return Section("Check it", "Everything on this page follows from the files beside it.", blocks)
