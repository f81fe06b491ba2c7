"""What ``recgauge compare`` and a sweep print of a comparison, and the files that both write."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from recgauge.app.compare.comparing import ComparedRuns
from recgauge.app.compare.writing import text_writer, write_files
from recgauge.app.terminal.printing import fits, output, print_table
from recgauge.comparison import DatasetsResult, MetricComparison
from recgauge.report import markdown_line
from recgauge.report.comparison_files import csv_text, json_text, latex, run_rows
from recgauge.report.comparison_tables import (
    COSTS,
    PAIR_COLUMNS,
    Costs,
    cost_cells,
    explanation,
    heading,
    markdown,
    on_dataset,
    pair_table,
    rank_grid,
    run_table,
    shown,
)
from recgauge.report.run_tables import n_fitting, split_columns

FORMATS = (".md", ".tex", ".csv", ".json")
MOST_PAIRS = 15  # of a metric on the terminal; files have all


def print_comparison(found: ComparedRuns) -> None:
    """Print leaderboards, the pairs of the first metric, claims and notes."""
    console, comparison = output(), found.comparison
    for dataset in comparison.datasets:
        some = on_dataset(comparison, dataset)
        console.print(f"\n{heading(some)}", style="bold")
        _print_runs(some, found.costs)
        console.print(f"*        best. {explanation(comparison.procedure, some)}")
        _print_pairs(some[0])
        for claim in some[0].claims:
            console.print(claim)
    for over in comparison.over_datasets[:1]:
        _print_ranks(over)
    for line in found.marks:
        console.print(line, style="yellow")
    for note in (*comparison.notes, *found.notes):
        console.print(f"note     {note}")


def _print_runs(some: Sequence[MetricComparison], costs: Costs) -> None:
    console = output()
    known = [cost_cells(costs.get((some[0].dataset, row.run))) for row in some[0].rows]
    given = [name for place, name in enumerate(COSTS) if any(cells[place] for cells in known)]
    columns = [*(one.metric for one in some), *given]
    for table in split_columns(columns, lambda few: run_table(some, costs, few), partial(fits, console)):
        print_table(console, table)


def _print_pairs(one: MetricComparison) -> None:
    """Print all pairs, of many those of the best run."""
    console, best = output(), one.rows[0].run
    few = len(one.pairs) <= MOST_PAIRS
    pairs = one.pairs if few else [pair for pair in one.pairs if best in (pair.a, pair.b)]
    if not pairs:
        return
    console.print()
    n_shown = n_fitting(PAIR_COLUMNS, lambda names: pair_table(one, pairs, names), partial(fits, console))
    print_table(console, pair_table(one, pairs, PAIR_COLUMNS[: max(1, n_shown)]))
    if not few:
        told = f"{len(pairs)} of {len(one.pairs)} pairs, those of {best}; --out FILE.csv has all"
        console.print(f"         {told}")


def _print_ranks(over: DatasetsResult) -> None:
    from rich.table import Table

    console = output()
    console.print(f"\n{len(over.datasets)} data sets, mean ranks by {shown(over.metric)}", style="bold")
    header, rows = rank_grid(over)
    table = Table(pad_edge=False, box=None)
    for name in header:
        table.add_column(name, justify="left" if name == "run" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    print_table(console, table)
    for claim in over.claims:
        console.print(claim)


def write_comparison(found: ComparedRuns, files: Sequence[Path]) -> list[Path]:
    """Write a comparison to files by their suffix; return them and the pairs beside each CSV file.

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    comparison, costs = found.comparison, found.costs
    notes = [*found.marks, *found.notes]
    texts: dict[Path, str] = {}
    for file in files:
        if file.suffix == ".csv":
            texts[file] = csv_text(run_rows(comparison, costs))
            texts[file.with_name(f"{file.stem}_pairs.csv")] = csv_text(comparison.records("pairs"))
        elif file.suffix == ".json":
            texts[file] = json_text(comparison, costs, notes)
        elif file.suffix == ".tex":
            texts[file] = latex(comparison, found.marks)
        else:
            told = "\n".join(f"- {markdown_line(note)}" for note in notes)
            texts[file] = f"{markdown(comparison, costs)}\n" + (f"\n{told}\n" if told else "")
    return write_files({file: text_writer(text) for file, text in texts.items()})
