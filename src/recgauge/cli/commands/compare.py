"""``recgauge compare SOURCE...``: finished runs side by side, with intervals, tests and claims."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import get_args

from recgauge.cli.commands.options import add_sources, named, runs_of
from recgauge.comparison.procedure import Correction, Interval, Procedure, Test
from recgauge.comparison.runs import ComparedRuns, agreeing, compare_runs
from recgauge.report.compared_runs import FORMATS, marks_of, write_comparison
from recgauge.report.comparison_tables import comparison_blocks
from recgauge.report.console import output
from recgauge.report.terminal import render_terminal
from recgauge.utils.output_files import check_formats


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``compare``."""
    add_sources(parser)
    add_procedure(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, nargs="+", default=[], help="also write .md, .tex, .csv or .json"
    )


def add_procedure(parser: ArgumentParser) -> None:
    """Add what is compared, and how."""
    usual, default, add = Procedure(), "(default: %(default)s)", parser.add_argument
    add("--metrics", metavar="NAMES", help="such as ndcg@10,recall@20; the first one orders")
    add("--baseline", metavar="RUN", help="compare all with this run instead of every pair")
    for name, known in (("correction", get_args(Correction)), ("interval", get_args(Interval))):
        choices = f"{', '.join(known)} {default}"
        add(f"--{name}", choices=known, default=getattr(usual, name), metavar="NAME", help=choices)
    add("--confidence", type=float, default=usual.confidence, help=f"of intervals {default}")
    tests = f"of {', '.join(get_args(Test))} {default}"
    add("--tests", metavar="NAMES", default=",".join(usual.tests), help=tests)
    resamples = f"resamples of users, sign flips {default}"
    add("--resamples", type=int, default=usual.n_resamples, help=resamples)
    add("--seed", type=int, default=usual.seed, help=f"of the resamples {default}")
    mark = "compare runs that differ in more than the model, and mark them, instead of refusing"
    add("--mark", action="store_true", help=mark)


def carry_out(options: Namespace) -> None:
    """Find, check and compare the runs, print tables, and write files."""
    check_formats(options.out, FORMATS)
    compared = compared_runs(options)
    files = write_comparison(compared, options.out)
    print_comparison(compared)
    for file in files:
        output().print(f"files    {file}", soft_wrap=True)


def compared_runs(options: Namespace, wanted: tuple[str, ...] = ()) -> ComparedRuns:
    """Return the comparison that the options of `add_sources` and `add_procedure` describe."""
    procedure = Procedure(
        options.baseline,
        options.correction,
        options.confidence,
        options.interval,
        named(options.tests),
        options.resamples,
        options.seed,
    )
    metrics = None if options.metrics is None else named(options.metrics)
    runs, notes = runs_of(options, wanted)
    if not options.sources and not options.mark:
        agree, left_out = agreeing(runs)
        runs, notes = agree or runs, [*notes, *left_out]
    return compare_runs(runs, procedure, metrics=metrics, mark=options.mark, notes=notes)


def print_comparison(compared: ComparedRuns) -> None:
    """Print leaderboards, the pairs of the first metric, claims and notes."""
    marks = marks_of(compared)
    blocks = comparison_blocks(
        compared.comparison, compared.costs, marks=marks, notes=compared.notes, brief=True
    )
    render_terminal(blocks, output())
