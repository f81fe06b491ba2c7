"""``recgauge show RUN_ID...``: the tables of stored runs, printed again."""

from argparse import ArgumentParser, Namespace

from recgauge.app.commands.options import RUN, add_store, store_uri
from recgauge.app.commands.run_files import run_folder
from recgauge.app.files.artifacts import RECORD
from recgauge.app.sweep.outcome import FILE, read_outcome
from recgauge.app.terminal.printing import output, print_run
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.stored import RunFolder


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``show``."""
    parser.add_argument("runs", metavar="RUN_ID", nargs="+", help=RUN)
    add_store(parser)


def carry_out(asked: Namespace) -> None:
    """Print the tables of the runs as they were printed when each ended.

    Raises
    ------
    RecgaugeError
        If a run is unknown or has no results.
    """
    for run in asked.runs:
        folder = run_folder(run, store_uri(asked), [RECORD])
        record = RunFolder.read(folder).record
        outcome = read_outcome(folder / FILE) or JobOutcome(0, run)
        print_run(record, outcome, address=None, folder=folder)
        output().print(f"command  {record.command}", soft_wrap=True)
