"""``recgauge compare SOURCE...``: finished runs side by side, with intervals, tests and claims."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from recgauge.cli.commands.options import add_sources, named, store_uri
from recgauge.comparison.procedure import Correction, Interval, Procedure, Test

if TYPE_CHECKING:
    from recgauge.comparison.runs import ComparedRuns


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``compare``."""
    add_sources(parser)
    add_procedure(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, nargs="+", default=[], help="also write .md, .tex, .csv or .json"
    )


def add_procedure(parser: ArgumentParser) -> None:
    """Add what is compared, and how."""
    parser.add_argument("--metrics", metavar="NAMES", help="such as ndcg@10,recall@20; the first one orders")
    parser.add_argument("--baseline", metavar="RUN", help="compare all with this run instead of every pair")
    defaults, default = Procedure(), "(default: %(default)s)"
    for name, known in (("correction", get_args(Correction)), ("interval", get_args(Interval))):
        told, usual = f"{', '.join(known)} {default}", getattr(defaults, name)
        parser.add_argument(f"--{name}", choices=known, default=usual, metavar="NAME", help=told)
    parser.add_argument(
        "--confidence", type=float, default=defaults.confidence, help=f"of intervals {default}"
    )
    tests = f"of {', '.join(get_args(Test))} {default}"
    parser.add_argument("--tests", metavar="NAMES", default=",".join(defaults.tests), help=tests)
    resamples = f"resamples of users, sign flips {default}"
    parser.add_argument("--resamples", type=int, default=defaults.n_resamples, help=resamples)
    parser.add_argument("--seed", type=int, default=defaults.seed, help=f"of the resamples {default}")
    told = "compare runs that differ in more than the model, and mark them, instead of refusing"
    parser.add_argument("--mark", action="store_true", help=told)


def carry_out(asked: Namespace) -> None:
    """Find, check and compare the runs, print tables, and write the files that were asked for.

    Raises
    ------
    RecgaugeError
        If a source is unknown, runs cannot be compared, or a file cannot be written.
    """
    from recgauge.report.compared_runs import FORMATS, write_comparison
    from recgauge.report.console import output
    from recgauge.utils.output_files import check_formats

    check_formats(asked.out, FORMATS)
    found = compared(asked)
    files = write_comparison(found, asked.out)
    print_comparison(found)
    for file in files:
        output().print(f"files    {file}", soft_wrap=True)


def compared(asked: Namespace, wanted: tuple[str, ...] = ()) -> "ComparedRuns":
    """Return the comparison that the options of `add_sources` and `add_procedure` ask for.

    Parameters
    ----------
    asked : Namespace
    wanted : tuple of str
        Files of the runs that are copied from a remote store, too.

    Raises
    ------
    RecgaugeError
        If a source is unknown, or runs cannot be compared.
    """
    from recgauge.cli.run_sources import TrackedRuns
    from recgauge.comparison.finding import find_runs
    from recgauge.comparison.runs import agreeing, compare_runs

    procedure = Procedure(
        asked.baseline,
        asked.correction,
        asked.confidence,
        asked.interval,
        named(asked.tests),
        asked.resamples,
        asked.seed,
    )
    metrics = None if asked.metrics is None else named(asked.metrics)
    store = TrackedRuns(store_uri(asked))
    names = {"experiment": asked.experiment, "search": asked.where}
    runs, notes = find_runs(asked.sources, store, **names, wanted=wanted)
    if not asked.sources and not asked.mark:
        agree, left = agreeing(runs)
        runs, notes = agree or runs, [*notes, *left]
    return compare_runs(runs, procedure, metrics=metrics, mark=asked.mark, notes=notes)


def print_comparison(found: "ComparedRuns") -> None:
    """Print leaderboards, the pairs of the first metric, claims and notes."""
    from recgauge.report.compared_runs import marks_of
    from recgauge.report.comparison_tables import comparison_blocks
    from recgauge.report.console import output
    from recgauge.report.terminal import render_terminal

    marks = marks_of(found)
    blocks = comparison_blocks(found.comparison, found.costs, marks=marks, notes=found.notes, brief=True)
    render_terminal(blocks, output())
