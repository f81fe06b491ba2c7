"""``recgauge stability SOURCE...``: whether the order of models stays when a choice changes."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from recgauge.cli.commands.options import add_sources, named, store_uri
from recgauge.cli.run_sources import TrackedRuns
from recgauge.comparison.finding import find_runs
from recgauge.comparison.stability import Stability, option_rows
from recgauge.comparison.stability_axes import StabilityOptions, stability_of
from recgauge.report.console import output
from recgauge.report.stability_tables import markdown, stability_blocks
from recgauge.report.terminal import render_terminal
from recgauge.runs.stored import LISTS, TEST, RunFolder
from recgauge.utils.output_files import check_formats, write_files


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``stability``."""
    add_sources(parser)
    parser.add_argument("--metric", default="", help="the reference (default: ndcg@10, else what there is)")
    parser.add_argument("--metrics", default="", help="metrics that are compared, such as ndcg,recall,map")
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    out = ".md, .csv, .json, .png"
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=out)


def carry_out(asked: Namespace) -> None:
    """Print how stable the order of stored models is, and write files.

    Raises
    ------
    RecgaugeError
        If a source, a metric or a file cannot be used.
    """
    check_formats(asked.out, FORMATS)
    runs, notes = run_folders(asked)
    wanted = StabilityOptions(asked.metric, named(asked.metrics), asked.confidence)
    found = stability_of(runs, wanted)
    console = output()
    render_terminal(stability_blocks(found, notes, brief=True), console)
    for path in write_files({path: _writer(found, path.suffix) for path in asked.out}):
        console.print(f"files    {path}", soft_wrap=True)


def run_folders(asked: Namespace) -> tuple[list[RunFolder], list[str]]:
    """Return finished runs with the files that their lists are read from, and what was left out."""
    found, notes = find_runs(
        asked.sources,
        TrackedRuns(store_uri(asked)),
        experiment=asked.experiment,
        search=asked.where,
        wanted=(LISTS, TEST),
    )
    return [RunFolder(run.record, run.folder) for run in found if run.record is not None], notes


FORMATS = (".md", ".csv", ".json", ".png")


def _writer(found: Stability, suffix: str) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        if suffix == ".png":
            from recgauge.report.figures.stability import plot_stability
            from recgauge.report.figures.style import save_png

            save_png(plot_stability(found), path)
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
