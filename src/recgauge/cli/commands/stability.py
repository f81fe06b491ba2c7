"""``recgauge stability SOURCE...``: whether the order of models stays when a choice changes."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from recgauge.cli.commands.options import add_sources, named, runs_of
from recgauge.comparison.stability import Stability, option_rows
from recgauge.comparison.stability_axes import stability_of
from recgauge.report.console import output, render_terminal
from recgauge.report.markdown import render_markdown
from recgauge.report.stability_tables import stability_blocks
from recgauge.runs.stored import LISTS, TEST, RunFolder
from recgauge.utils.files import check_formats, write_files

FORMATS = (".md", ".csv", ".json", ".png")


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``stability``."""
    add_sources(parser)
    parser.add_argument("--metric", default="", help="the reference (default: ndcg@10, else what there is)")
    parser.add_argument("--metrics", default="", help="metrics that are compared, such as ndcg,recall,map")
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    out = ".md, .csv, .json, .png"
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=out)


def carry_out(options: Namespace) -> None:
    """Print how stable the order of stored models is, and write files."""
    check_formats(options.out, FORMATS)
    runs, notes = runs_of(options, (LISTS, TEST))
    folders = [RunFolder(run.record, run.folder) for run in runs if run.record is not None]
    found = stability_of(folders, options.metric, named(options.metrics), options.confidence)
    console = output()
    render_terminal(stability_blocks(found, notes, brief=True), console)
    for path in write_files({path: lambda hidden: _write(found, hidden) for path in options.out}):
        console.print(f"files    {path}", soft_wrap=True)


def _write(found: Stability, path: Path) -> None:
    if path.suffix == ".png":
        from recgauge.report.figures.compared import plot_stability
        from recgauge.report.figures.style import save_png

        save_png(plot_stability(found), path)
    elif path.suffix == ".csv":
        found.to_frame().to_csv(path, index=False, lineterminator="\n")
    else:
        plain = json.dumps(_plain(found), indent=1, ensure_ascii=False) if path.suffix == ".json" else ""
        path.write_text((plain or render_markdown(stability_blocks(found))) + "\n", encoding="utf-8")


def _plain(found: Stability) -> dict[str, object]:
    turns = [{"choice": axis.axis} | asdict(turn) for axis in found.axes for turn in axis.turns()]
    return {
        "confidence": found.axes[0].confidence,
        "options": option_rows(found),
        "turns": turns,
        "notes": list(found.notes),
    }
