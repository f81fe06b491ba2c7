"""``recgauge compare`` and ``report``: finished runs side by side, in the terminal and as one page."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from recgauge.cli.commands.options import (
    add_allowed,
    add_directions,
    add_sources,
    are_tables,
    directions_of,
    named,
    names_of,
    refuse_directions,
    refuse_missing,
    runs_of,
    say,
    stored_values,
)
from recgauge.comparison.comparing import USUAL, compare, compare_parts, require_equal_protocols
from recgauge.comparison.results import Comparison, Correction, Interval, Procedure, Test
from recgauge.comparison.runs import agreeing, compare_runs
from recgauge.comparison.stored_values import holds_values
from recgauge.report.comparison_tables import FORMATS, write_comparison
from recgauge.report.console import output, render_terminal
from recgauge.utils.files import check_formats


def add_compare_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``compare``."""
    add_sources(parser)
    add_procedure(parser)
    add_directions(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, nargs="+", default=[], help="also write .md, .tex, .csv or .json"
    )


def add_procedure(parser: ArgumentParser) -> None:
    """Add what is compared, and how."""
    usual, default, add = Procedure(), "(default: %(default)s)", parser.add_argument
    of_values = {"correction": USUAL.correction, "interval": USUAL.interval}
    add("--metrics", metavar="NAMES", help="such as ndcg@10,recall@20; the first one orders")
    add("--baseline", metavar="RUN", help="compare all with this run instead of every pair")
    for name, choices in (("correction", get_args(Correction)), ("interval", get_args(Interval))):
        text = f"{', '.join(choices)} (default: {getattr(usual, name)}; of users' values {of_values[name]})"
        add(f"--{name}", choices=choices, metavar="NAME", help=text)
    add("--confidence", type=float, default=usual.confidence, help=f"of intervals {default}")
    tests = f"of {', '.join(get_args(Test))} {default}"
    add("--tests", metavar="NAMES", default=",".join(usual.tests), help=tests)
    resamples = f"resamples of users, sign flips {default}"
    add("--resamples", type=int, default=usual.n_resamples, help=resamples)
    add("--seed", type=int, default=usual.seed, help=f"of the resamples {default}")
    mark = "compare runs that differ in more than the model, and mark them, instead of refusing"
    add("--mark", action="store_true", help=mark)


def run_compare(options: Namespace) -> None:
    """Find, check and compare the runs, print tables, and write files."""
    check_formats(options.out, FORMATS)
    refuse_missing(options.sources)
    if are_tables(options.sources):
        comparison = _compared_tables(options)
    elif any(map(holds_values, options.sources)):
        comparison = _compared_values(options)
    else:
        refuse_directions(options)
        comparison = compared_runs(options)
    files = write_comparison(comparison, options.out)
    print_comparison(comparison)
    for file in files:
        say(f"files    {file}")


def compared_runs(options: Namespace, files: tuple[str, ...] = ()) -> Comparison:
    """Return the comparison that the options of `add_sources` and `add_procedure` describe."""
    metrics = None if options.metrics is None else named(options.metrics)
    runs, notes = runs_of(options, files)
    if not options.sources and not options.mark:
        comparable, left_out = agreeing(runs)
        runs, notes = comparable or runs, [*notes, *left_out]
    return compare_runs(runs, _procedure(options), metrics=metrics, mark=options.mark, notes=notes)


def _compared_values(options: Namespace) -> Comparison:
    """Return the comparison of users' values in Parquet, some users at a time."""
    metrics = None if options.metrics is None else named(options.metrics)
    values = stored_values(options.sources, metrics, directions_of(options))
    marks = require_equal_protocols(
        list(values.protocols.values()), values.runs, "users' values", mark=options.mark
    )
    comparison = compare_parts(values, _procedure(options, USUAL))
    return replace(comparison, differences=(*marks, *values.notes))


def _compared_tables(options: Namespace) -> Comparison:
    """Return the comparison of a long table, or of several with a row per user each."""
    runs = names_of(options.sources)
    procedure: Any = asdict(_procedure(options))
    metrics = None if options.metrics is None else named(options.metrics)
    return compare(
        runs if len(runs) > 1 else options.sources[0],
        metrics=metrics,
        lower_is_better=options.lower_is_better,
        higher_is_better=options.higher_is_better,
        **procedure,
    )


def _procedure(options: Namespace, usual: Procedure | None = None) -> Procedure:
    """Return the procedure of the options, `usual` where they name nothing."""
    usual = usual or Procedure()
    return Procedure(
        options.baseline,
        options.correction or usual.correction,
        options.confidence,
        options.interval or usual.interval,
        named(options.tests),
        options.resamples,
        options.seed,
    )


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
    """Find, check and compare the runs, and write the page."""
    from recgauge.cli.run_data import load_data  # these bring Hydra and matplotlib
    from recgauge.page import write_figures, write_page
    from recgauge.page.data import WANTED, report_data

    check_formats([options.out], (".html",))
    comparison = compared_runs(options, WANTED)
    data = report_data(comparison, load_data, packages=tuple(options.allow))
    page = write_page(data, options.out)
    figures = [] if options.figures is None else write_figures(data, options.figures)
    for claim in comparison.results[0].claims:
        output().print(claim)
    for part in data.parts:
        for note in part.notes:
            output().print(f"left out {note}")
    say(f"report   {page.resolve()}")
    if figures:
        say(f"figures  {len(figures)} files in {options.figures}")
