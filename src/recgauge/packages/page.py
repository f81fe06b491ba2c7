"""The page of a package: the report on its runs, what each run printed, and how to check it."""

from contextlib import suppress
from pathlib import Path

from recgauge.errors import RecgaugeError, listed
from recgauge.packages.unpacking import PAGE, RUNS, runs_in
from recgauge.page import sections as report_sections
from recgauge.page.data import ReportData, dataset_parts
from recgauge.report.blocks import Code, Folded, Section, Text
from recgauge.report.html import render_page
from recgauge.report.run_tables import run_blocks
from recgauge.sweeps.artifacts import write_record
from recgauge.sweeps.ending import compare_finished

_CHECK = "pip install recgauge\nrecgauge verify PACKAGE.zip"
_VERIFY = (
    "It judges the lists again, with data sets that it loads; rows of these are not in the package. With "
    "--train it trains the models again. Each folder of runs/ is a run: record.json has its settings and "
    "results. SHA256SUMS has the digests of all files."
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
    sections: list[Section] = []
    with suppress(RecgaugeError):  # runs that cannot be compared are shown one by one
        compared = compare_finished(runs, len(runs))
        if compared is not None:
            sections = report_sections(ReportData(compared, dataset_parts(compared)))
    ends = tuple(Folded(run.folder.name, tuple(run_blocks(run.record))) for run in runs)
    sections.append(Section("Runs", "Each run by its folder, and what it printed at its end.", ends))
    check = Code("Commands that check it", _CHECK), Text(_VERIFY)
    sections.append(Section("Check it", "Everything on this page follows from the files beside it.", check))
    datasets = listed(dict.fromkeys(run.record.names["dataset"] for run in runs))
    title = f"{len(runs)} run{'s' if len(runs) > 1 else ''} on {datasets}"
    page = render_page(title, "A package of finished runs, with what it takes to check them", sections)
    (target / PAGE).write_text(page, encoding="utf-8")
