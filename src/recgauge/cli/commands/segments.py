"""``recgauge segments``: who gains and who loses; ``stability``: whether the order of models stays."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

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
    runs_of,
    tables_of,
    users_of,
    write_out,
)
from recgauge.cli.run_data import load_data
from recgauge.comparison.comparing import pair_runs, read_sources
from recgauge.comparison.run_segments import BUILT_IN, segment_runs
from recgauge.comparison.segments import Segments, segments_of
from recgauge.comparison.stability_axes import stability_of
from recgauge.comparison.user_values import choose_metrics
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import headline_key
from recgauge.report.blocks import lines
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.runs.stored import LISTS, TEST
from recgauge.utils.checks import check_int
from recgauge.utils.files import check_formats, csv_text, text_writer

FORMATS = (".md", ".csv", ".json")


def add_segments_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``segments``."""
    add_sources(parser)
    add, default = parser.add_argument, "(default: %(default)s)"
    attributes = "activity, item_popularity, age, genre, items, or columns of --users, with commas between"
    add("--by", type=named, default="activity", help=f"{attributes} {default}")
    add("--users", metavar="TABLE", type=Path, help="your table of users: user_id, columns")
    missing = "cells of --users that are no group, beside empty ones, such as NA"
    add("--missing", metavar="CELL", nargs="+", default=[], help=missing)
    add("--metric", default="", help="(default: ndcg@10, else what there is)")
    add("--groups", type=int, default=4, help=f"groups of numbers {default}")
    add("--baseline", help="the model others are compared with (default: the first)")
    add("--confidence", type=float, default=0.95, help=default)
    add_directions(parser)
    add_allowed(parser)
    add("--out", metavar="FILE", type=Path, nargs="+", default=[], help=".md, .csv, .json")


def run_segments(options: Namespace) -> None:
    """Print a table per attribute, and write files.

    Examples
    --------
    recgauge segments outputs/2026-01-01/12-00-00 --by activity
        users by their training rows
    recgauge segments outputs/2026-01-01/12-00-00 --by plan --users users.csv
        by a column of yours
    """
    if not options.by:
        raise ConfigError(f"--by: names no group; there are {listed(BUILT_IN)}.")
    check_int("--groups", options.groups, minimum=2)
    check_formats(options.out, FORMATS)
    refuse_missing(options.sources)
    segments, notes = (_of_values if are_tables(options.sources) else _of_runs)(options)
    blocks = [block for each in segments for block in each.blocks()]
    render_terminal([*blocks, *lines(notes, "notes")], output())
    texts = [each.to_markdown() for each in segments]
    frame = pd.concat([each.to_frame() for each in segments], ignore_index=True)
    style: Any = {"orient": "records", "indent": 1, "force_ascii": False, "double_precision": 15}
    writers = {
        ".md": text_writer("\n\n".join(texts) + "\n"),
        ".csv": text_writer(csv_text(frame.to_dict("records"))),
        ".json": lambda path: frame.to_json(path, **style),
    }
    write_out({path: writers[path.suffix] for path in options.out})


def _of_runs(options: Namespace) -> tuple[Sequence[Segments], Sequence[str]]:
    """Return finished runs compared inside groups, and notes."""
    refuse_directions(options)
    runs, notes = agreeing_runs(options, (LISTS, TEST))
    segments = segment_runs(
        runs,
        options.by,
        partial(load_data, trusted=options.allow, progress=ConsoleProgress()),
        metric=options.metric,
        users=users_of(options),
        n_groups=options.groups,
        baseline=options.baseline,
        confidence=options.confidence,
    )
    return segments, notes


def _of_values(options: Namespace) -> tuple[Sequence[Segments], Sequence[str]]:
    """Return users' values compared inside groups of a table."""
    (of_runs,) = read_sources(tables_of(options.sources)).values()
    stored = [(name, run.values) for name, repeats in of_runs.items() for run in repeats]
    key = headline_key(choose_metrics(options.metric, stored, "--metric"))
    values = pair_runs(of_runs, [key], directions_of(options))
    table = users_of(options)
    if table is None:
        raise ConfigError(
            "--by: users' values are compared by columns of your own table. Add --users TABLE --by COLUMN."
        )
    segments: list[Segments] = []
    for by in options.by:
        groups = table.groups(by, options.groups)
        segments += segments_of(values, groups, baseline=options.baseline, confidence=options.confidence)
    return segments, values.notes


def add_stability_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``stability``."""
    add_sources(parser)
    parser.add_argument("--metric", default="", help="the reference (default: ndcg@10, else what there is)")
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    out = ".md, .csv"
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=out)


def run_stability(options: Namespace) -> None:
    """Print how stable the order of stored models is, and write files.

    Examples
    --------
    recgauge stability outputs/2026-01-01/12-00-00
        the runs of a sweep
    recgauge stability outputs/2026-01-01/12-00-00 --metric recall@20
        by another metric
    """
    check_formats(options.out, (".md", ".csv"))
    runs, notes = runs_of(options)
    stability = stability_of(runs, options.metric, options.confidence)
    stability = replace(stability, notes=(*notes, *stability.notes))
    render_terminal(stability.blocks(), output())
    writers: dict[str, Callable[[Path], object]] = {
        ".md": text_writer(stability.to_markdown() + "\n"),
        ".csv": text_writer(csv_text(stability.to_frame().to_dict("records"))),
    }
    write_out({path: writers[path.suffix] for path in options.out})
