"""``recgauge compare`` and ``report``: finished runs side by side, in the terminal and as one page."""

from argparse import ArgumentParser, Namespace
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import get_args

from recgauge.cli.commands.options import (
    add_allowed,
    add_directions,
    add_sources,
    agreeing_runs,
    are_tables,
    directions_of,
    named,
    refuse_directions,
    refuse_missing,
    say,
    store_uri,
    tables_of,
)
from recgauge.comparison.comparing import USUAL, compare_sources
from recgauge.comparison.results import Comparison, Correction, Interval, Procedure, Test
from recgauge.comparison.runs import compare_runs
from recgauge.errors import ConfigError
from recgauge.report.comparison_tables import FORMATS, write_comparison
from recgauge.report.console import output, render_terminal
from recgauge.sweeps.places import served_by
from recgauge.sweeps.summary import log_comparison
from recgauge.tracking.logged import compare_logged, named_experiment
from recgauge.tracking.pages import run_address
from recgauge.tracking.store import Store
from recgauge.utils.files import check_formats

_MARKS = """in the tables:
  a, b, ..  runs that share a letter are not shown to differ, after the correction for all pairs
  *         the best mean of its column; other runs with its letter may be as good"""


def add_compare_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``compare``."""
    parser.epilog = _MARKS
    add_sources(parser)
    add_procedure(parser)
    add_directions(parser)
    logged = "compare the finished runs of an MLflow experiment, a name or an id, of any library"
    parser.add_argument("--mlflow", metavar="EXPERIMENT", help=logged)
    over = "more params and tags in which repeats of a run differ, besides usual names of seeds and folds"
    parser.add_argument("--over", metavar="NAMES", type=named, default=(), help=over)
    log = "write the comparison of --mlflow back, as a run and into the experiment's description"
    parser.add_argument("--log", action="store_true", help=log)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, nargs="+", default=[], help="also write .md, .tex, .csv or .json"
    )


def add_procedure(parser: ArgumentParser) -> None:
    """Add what is compared, and how."""
    metrics = "such as ndcg@10,recall@20; the first one orders"
    parser.add_argument("--metrics", metavar="NAMES", type=named, help=metrics)
    add_statistics(parser)
    parser.add_argument("--seed", type=int, help=f"of the resamples (default: {Procedure().seed})")


def add_statistics(parser: ArgumentParser) -> None:
    """Add how runs are compared, but for the seed, which may be of other things, too."""
    usual, add = Procedure(), parser.add_argument
    add("--baseline", metavar="RUN", help="compare all with this run instead of every pair")
    for name, choices in (("correction", get_args(Correction)), ("interval", get_args(Interval))):
        default = f"{getattr(usual, name)}; over seeds {getattr(USUAL, name)}"
        default += ", Student's" * (name == "interval")
        add(f"--{name}", choices=choices, metavar="NAME", help=f"{', '.join(choices)} (default: {default})")
    add("--confidence", type=float, help=f"of intervals (default: {usual.confidence})")
    tests = f"of {', '.join(get_args(Test))} (default: {','.join(usual.tests)})"
    add("--tests", metavar="NAMES", type=named, help=tests)
    resamples = f"resamples of users, sign flips (default: {usual.n_resamples})"
    add("--resamples", dest="n_resamples", metavar="N", type=int, help=resamples)


def run_compare(options: Namespace) -> None:
    """Find, check and compare the runs, print tables, and write files.

    Examples
    --------
    recgauge compare --metrics ndcg@10,recall@10
        the runs of the MLflow experiment
    recgauge compare outputs/2026-01-01/12-00-00 --out table.tex
        a sweep, as a table for a paper
    """
    check_formats(options.out, FORMATS)
    refuse_missing(options.sources)
    if options.mlflow is not None:
        comparison = _compared_logged(options)
    elif options.over or options.log:
        raise ConfigError("--over, --log: belong to --mlflow EXPERIMENT. Name it, or leave them out.")
    elif are_tables(options.sources):
        source, directions = tables_of(options.sources), directions_of(options)
        comparison = compare_sources(source, procedure_of(options), options.metrics, directions)
    else:
        refuse_directions(options)
        comparison = compared_runs(options)
    files = write_comparison(comparison, options.out)
    print_comparison(comparison)
    for file in files:
        say(f"files    {file}")


def compared_runs(options: Namespace, files: tuple[str, ...] = ()) -> Comparison:
    """Return the comparison that the options of `add_sources` and `add_procedure` describe."""
    runs, notes = agreeing_runs(options, files)
    return compare_runs(runs, procedure_of(options), metrics=options.metrics, notes=notes)


def _compared_logged(options: Namespace) -> Comparison:
    """Return the comparison of anybody's runs of an experiment, and log it if that is wanted."""
    if options.sources:
        raise ConfigError("--mlflow: compares the runs of one experiment. Leave SOURCE out.")
    store = named_experiment(Store(store_uri(options)), options.mlflow)
    comparison = compare_logged(
        store,
        procedure_of(options, USUAL),
        metrics=options.metrics,
        where=options.where,
        over=options.over,
        directions=directions_of(options),
    )
    if options.log:
        server = served_by(store.uri, store.experiment)
        hint = f"; served by `{server}`" if server else ""
        say(f"logged   {run_address(store, log_comparison(store, comparison))}{hint}")
    return comparison


def procedure_of(options: Namespace, usual: Procedure | None = None) -> Procedure:
    """Return the procedure of the options, `usual` where they name nothing."""
    chosen = {entry.name: getattr(options, entry.name) for entry in fields(Procedure)}
    named = {name: value for name, value in chosen.items() if value is not None}
    return replace(usual or Procedure(), **named)


def print_comparison(comparison: Comparison) -> None:
    """Print leaderboards, the pairs of the first metric, claims and notes."""
    render_terminal(comparison.blocks(brief=True), output())


def add_report_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``report``."""
    add_sources(parser)
    add_procedure(parser)
    add_allowed(parser)
    page, default = Path("report.html"), "(default: %(default)s)"
    parser.add_argument("--out", metavar="FILE", type=Path, default=page, help=default)
    figures = "folder that also gets every figure of the report, as PNG and as SVG"
    parser.add_argument("--figures", metavar="FOLDER", type=Path, help=figures)


def run_report(options: Namespace) -> None:
    """Find, check and compare the runs, and write the page.

    Examples
    --------
    recgauge report outputs/2026-01-01/12-00-00
        a sweep's report.html
    recgauge report --where "params.dataset = 'ml_1m'" --out ml_1m.html
        tracked runs
    """
    from recgauge.cli.run_data import load_data  # these bring Hydra and matplotlib
    from recgauge.page import write_figures, write_page
    from recgauge.page.data import FILES, report_data

    check_formats([options.out], (".html",))
    comparison = compared_runs(options, FILES)
    data = report_data(comparison, partial(load_data, trusted=options.allow))
    page = write_page(data, options.out)
    figures = [] if options.figures is None else write_figures(data, options.figures)
    left_out = [f"left out {note}" for part in data.parts for note in part.notes]
    first = [each for each in comparison.results if each.metric == comparison.metrics[0]]
    for line in (
        *(claim for each in first for claim in each.claims),
        *left_out,
        f"report   {page.resolve()}",
    ):
        say(line)
    if figures:
        say(f"figures  {len(figures)} files in {options.figures}")
