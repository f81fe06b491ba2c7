"""``recgauge stability SOURCE...``: whether the order of models stays when a choice changes."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rich.table import Table

from recgauge.app.commands.options import add_sources, named, store_uri
from recgauge.app.compare.sources import Where, find_runs
from recgauge.app.compare.writing import check_formats, write_files
from recgauge.app.terminal.printing import output, print_table
from recgauge.comparison.orders import Stability
from recgauge.report.stability_tables import (
    HEADER,
    OPTION_HEADER,
    OPTION_RIGHT,
    claims,
    explanation,
    markdown,
    option_cells,
    option_rows,
    shorten,
    summary_rows,
)
from recgauge.runs.stored import LISTS, TEST, RunFolder
from recgauge.studies.stability_axes import Asked, stability_of

_LONGEST = 48  # characters of a column of options on a terminal


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``stability``."""
    add_sources(parser)
    parser.add_argument("--metric", default="", help="the reference (default: ndcg@10, else what there is)")
    parser.add_argument("--metrics", default="", help="metrics that are compared, such as ndcg,recall,map")
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    out = ".md, .csv, .json, .png"
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=out)


def carry_out(asked: Namespace) -> None:
    """Print and write what the command line asks for."""
    wanted = Asked(asked.metric, named(asked.metrics), asked.confidence)
    where = Where(store_uri(asked), asked.experiment, asked.where)
    print_stability(asked.sources, wanted, where=where, out=asked.out)


def print_stability(sources: Sequence[str], asked: Asked, *, where: Where, out: Sequence[Path]) -> None:
    """Print how stable the order of stored models is, and write files.

    Parameters
    ----------
    sources : sequence of str
        See `find_runs`.
    asked : Asked
    where : Where
    out : sequence of Path
        Files that get the result: .md, .csv, .json or .png.

    Raises
    ------
    RecgaugeError
        If a source, a metric or a file cannot be used.
    """
    check_formats(out, FORMATS)
    runs, notes = run_folders(sources, where)
    found = stability_of(runs, asked)
    console = output()
    print_table(console, table(summary_rows(found), HEADER, right=HEADER[2:6]))
    turning = [row for row in option_cells(found) if row[-1]]
    if turning:
        console.print()
        print_table(console, table(turning, OPTION_HEADER, right=OPTION_RIGHT))
    console.print()
    for line in [
        *claims(found),
        "",
        explanation(found),
        *(f"note     {note}" for note in (*notes, *found.notes)),
    ]:
        console.print(line)
    for path in write_files({path: _writer(found, path.suffix) for path in out}):
        console.print(f"files    {path}", soft_wrap=True)


def run_folders(sources: Sequence[str], where: Where) -> tuple[list[RunFolder], list[str]]:
    """Return finished runs with the files that their lists are read from, and what was left out."""
    found, notes = find_runs(sources, replace(where, wanted=(LISTS, TEST)))
    return [RunFolder(run.record, run.folder) for run in found if run.record is not None], notes


def table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[str]) -> Table:
    """Return a table for a terminal."""
    made = Table(pad_edge=False, box=None)
    for name in header:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        made.add_row(
            *(
                shorten(cell, _LONGEST) if name == "option" else cell
                for name, cell in zip(header, row, strict=True)
            )
        )
    return made


FORMATS = (".md", ".csv", ".json", ".png")


def _writer(found: Stability, suffix: str) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        if suffix == ".png":
            from recgauge.report.figures.style import save_png

            save_png(found.plot(), path)
        elif suffix == ".csv":
            found.to_frame().to_csv(path, index=False, lineterminator="\n")
        else:
            text = (
                markdown(found)
                if suffix == ".md"
                else json.dumps(_plain(found), indent=1, ensure_ascii=False)
            )
            path.write_text(text + "\n", encoding="utf-8")

    return write


def _plain(found: Stability) -> dict[str, object]:
    turns = [{"choice": axis.axis} | asdict(turn) for axis in found.axes for turn in axis.turns()]
    return {
        "confidence": found.axes[0].confidence,
        "options": option_rows(found),
        "turns": turns,
        "notes": list(found.notes),
    }
