"""``recgauge report SOURCE...``: one page that shows finished runs compared."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from recgauge.cli.commands.compare import add_procedure, compared_runs
from recgauge.cli.commands.options import add_allowed, add_sources
from recgauge.cli.commands.run_data import data_again
from recgauge.report.console import output
from recgauge.report.page import write_figures, write_page
from recgauge.report.page.data import WANTED, Effort, report_data
from recgauge.utils.files import check_formats


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``report``."""
    add_sources(parser)
    add_procedure(parser)
    add_allowed(parser)
    page, default = Path("report.html"), "(default: %(default)s)"
    parser.add_argument("--out", metavar="FILE", type=Path, default=page, help=default)
    figures = "folder that also gets every figure of the report, as PNG and as SVG"
    parser.add_argument("--figures", metavar="FOLDER", type=Path, help=figures)


def carry_out(options: Namespace) -> None:
    """Find, check and compare the runs, and write the page."""
    check_formats([options.out], (".html",))
    compared = compared_runs(options, WANTED)
    data = report_data(compared, Effort(packages=tuple(options.allow), load=data_again))
    page = write_page(data, options.out)
    figures = [] if options.figures is None else write_figures(data, options.figures)
    console = output()
    for claim in compared.comparison.results[0].claims:
        console.print(claim)
    for part in data.parts:
        for note in part.notes:
            console.print(f"left out {note}")
    console.print(f"report   {page.resolve()}", soft_wrap=True)
    if figures:
        console.print(f"figures  {len(figures)} files in {options.figures}", soft_wrap=True)
