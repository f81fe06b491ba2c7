"""``recgauge report SOURCE...``: one page that shows finished runs compared."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from recgauge.cli.commands.compare import add_procedure, compared
from recgauge.cli.commands.options import add_allowed, add_sources

FORMATS = (".html",)
DEFAULT = Path("report.html")


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``report``."""
    add_sources(parser)
    add_procedure(parser)
    add_allowed(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, default=DEFAULT, help="(default: %(default)s)")
    figures = "folder that also gets every figure of the report, as PNG and as SVG"
    parser.add_argument("--figures", metavar="FOLDER", type=Path, help=figures)


def carry_out(asked: Namespace) -> None:
    """Find, check and compare the runs, and write the page.

    Raises
    ------
    RecgaugeError
        If a source is unknown, runs cannot be compared, or a file cannot be written.
    """
    from recgauge.cli.commands.run_data import data_again
    from recgauge.report.console import output
    from recgauge.report.gathering import WANTED, Effort, report_data, write_figures, write_page
    from recgauge.utils.output_files import check_formats

    check_formats([asked.out], FORMATS)
    found = compared(asked, WANTED)
    data = report_data(found, Effort(packages=tuple(asked.allow), load=data_again))
    files = [write_page(data, asked.out)]
    if asked.figures is not None:
        files += write_figures(data, asked.figures)
    console = output()
    for claim in found.comparison.results[0].claims:
        console.print(claim)
    for part in data.parts:
        for note in part.notes:
            console.print(f"left out {note}")
    for file in files[:1]:
        console.print(f"report   {file.resolve()}", soft_wrap=True)
    if len(files) > 1:
        console.print(f"figures  {len(files) - 1} files in {asked.figures}", soft_wrap=True)
