"""``recgauge package SOURCE...``: finished runs as one zip that others can check."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import get_args

from recgauge.cli.commands.options import add_sources, store_uri
from recgauge.packages import Lists, package
from recgauge.report.console import output


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``package``."""
    add_sources(parser)
    default = "(default: %(default)s)"
    parser.add_argument("--out", metavar="FILE", type=Path, default=Path("package.zip"), help=default)
    lists = f"whether the lists are in it {default}"
    parser.add_argument("--lists", choices=get_args(Lists), default="all", help=lists)
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")


def carry_out(options: Namespace) -> None:
    """Write the zip, and say how to check it."""
    file = package(
        options.sources,
        options.out,
        lists=options.lists,
        uri=store_uri(options),
        experiment=options.experiment,
        search=options.where,
        overwrite=options.overwrite,
    )
    console = output()
    console.print(f"package  {file}: {file.stat().st_size:,} bytes", soft_wrap=True)
    console.print(f"check    recgauge verify {file}", soft_wrap=True)
