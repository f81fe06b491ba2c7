"""``recgauge conventions``: all conventions, one of them, or one run's lists under each."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from recgauge.cli.commands.options import RUN, add_store, store_uri
from recgauge.conventions import NAMES, Convention, conventions, get_convention
from recgauge.errors import ConfigError, nearest
from recgauge.metrics import metric_key
from recgauge.metrics.names import headline_cutoff, label
from recgauge.report.blocks import TableBlock
from recgauge.report.console import output, render_terminal
from recgauge.report.conventions import ConventionValue, convention_values, spread
from recgauge.report.run_tables import run_title
from recgauge.runs.finished import FinishedRun
from recgauge.runs.stored import LISTS
from recgauge.tracking.finding import require_stored, run_folder

NEEDED = ("record.json", LISTS, "test.parquet")


def add_conventions_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``conventions``."""
    words = f"{RUN}; or the name of a convention, to see its definitions; or nothing, to see all names"
    parser.add_argument("run", metavar="RUN_ID", nargs="?", help=words)
    parser.add_argument("--k", type=int, help="cutoff (default: 10, else the run's largest)")
    add_store(parser)


def run_conventions(options: Namespace) -> None:
    """Print the names, one convention's definitions or a run's values.

    Examples
    --------
    recgauge conventions
        all names
    recgauge conventions recbole
        what RecBole computes
    recgauge conventions RUN_ID
        a run under each
    """
    if options.run is None:
        _print_names()
    elif Path(options.run).exists() or nearest(options.run, NAMES) is None:
        _print_values(options)
    else:
        _print_definitions(get_convention(options.run))


def _print_names() -> None:
    rows = tuple((convention.name, convention.about) for convention in conventions().values())
    header = ("convention", "whose definitions")
    render_terminal([TableBlock("", header, rows, words=header)], output())
    output().print(
        "In a run: conventions=NAME. Definitions: recgauge conventions NAME. "
        "A run's lists under all of them: recgauge conventions RUN_ID."
    )


def _print_definitions(convention: Convention) -> None:
    definitions = {name: convention.definition(name) for name in convention.metrics or convention.by_name()}
    rows = tuple(
        (name, each.metric.definition(), each.policies.differences(convention.policies))
        for name, each in sorted(definitions.items())
    )
    header = ("name", "definition", "for this metric")
    console = output()
    console.print(convention.about)
    console.print(f"policies: {convention.policies.definition()}")
    render_terminal([TableBlock("", header, rows, words=header)], console)
    if convention.notes:
        console.print(convention.notes)


def _print_values(options: Namespace) -> None:
    """Print a table of conventions and metrics from a run's stored lists."""
    folder = run_folder(options.run, store_uri(options), NEEDED)
    require_stored(options.run, folder, NEEDED)
    run = FinishedRun.read(folder)
    record = run.record
    entries = [entry for entry in record.results if entry.k is not None]
    longest = max((entry.k or 0 for entry in entries), default=0)
    cutoff = options.k if options.k is not None else headline_cutoff(entry.k for entry in entries) or 0
    if not 1 <= cutoff <= longest:
        raise ConfigError(
            f"--k: the run's lists have {longest} items, so the cutoff must be in 1..{longest}, got {cutoff}."
        )
    definitions = get_convention("standard").by_name()  # metrics that lists and relevance are enough for
    names = [
        name
        for name in dict.fromkeys(entry.name for entry in entries)
        if (metric := definitions.get(name)) and metric.needs_relevant and not metric.needs
    ]
    stored = run.lists()
    values = convention_values(names, stored.inputs(record.dataset.relevant_from), cutoffs=(cutoff,))
    console = output()
    console.print(f"\n{run_title(record)}, one set of lists")
    render_terminal([_table(values, [metric_key(name, cutoff) for name in names])], console)
    for value in values:
        if value.value is None:
            console.print(f"refused  {value.convention} {value.key}: {value.definition}")
    console.print("blank    the source does not compute this metric")
    if listless := stored.test["user_id"].nunique() - stored.lists["user"].nunique():
        console.print(
            f"users    {listless:,} users with test rows have no list; conventions that count them need "
            "a run of their own, or conventions_table=true"
        )


def _table(values: Sequence[ConventionValue], keys: Sequence[str]) -> TableBlock:
    cells = {(v.convention, v.key): "refused" if v.value is None else f"{v.value:.4f}" for v in values}
    named = [name for name in conventions() if any((name, key) in cells for key in keys)]
    rows = [(name, *(cells.get((name, key), "") for key in keys)) for name in named]
    ranges = spread(values)
    for bound, word in enumerate(("lowest", "highest")):
        rows.append((word, *(f"{ranges[key][bound]:.4f}" if key in ranges else "" for key in keys)))
    header = ("convention", *map(label, keys))
    return TableBlock("", header, tuple(rows), groups=(*("" for _ in named), "ranges", "ranges"))
