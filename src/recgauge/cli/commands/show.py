"""``recgauge show RUN_ID...``: the tables of stored runs, printed again."""

from argparse import ArgumentParser, Namespace

from recgauge.cli.commands.options import RUN, add_store, store_uri
from recgauge.report.console import output, print_run
from recgauge.runs.folder import RECORD, JobOutcome
from recgauge.runs.stored import RunFolder
from recgauge.tracking import delivered, run_folder


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``show``."""
    parser.add_argument("runs", metavar="RUN_ID", nargs="+", help=RUN)
    add_store(parser)


def carry_out(options: Namespace) -> None:
    """Print the tables of the runs as they were printed when each ended."""
    for run in options.runs:
        folder = run_folder(run, store_uri(options), [RECORD])
        record = RunFolder.read(folder).record
        run_id = (delivered(folder) or {}).get("run_id")
        print_run(record, JobOutcome(0, run, run_id=run_id), address=None, folder=folder)
        output().print(f"command  {record.command}", soft_wrap=True)
