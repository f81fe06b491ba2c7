"""``recgauge segments RUN...``: who gains and who loses, by groups of users or items."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from recgauge.cli.commands.options import add_allowed, add_sources, named
from recgauge.cli.commands.run_data import data_of
from recgauge.cli.commands.stability import run_folders
from recgauge.comparison.run_segments import SegmentOptions, segment_runs
from recgauge.comparison.segments import Segments
from recgauge.report.blocks import lines
from recgauge.report.console import output
from recgauge.report.segment_tables import markdown, segment_blocks
from recgauge.report.stories import stories, story_markdown
from recgauge.report.terminal import render_terminal
from recgauge.utils.output_files import check_formats, text_writer, write_files

FORMATS = (".md", ".csv", ".json")


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``segments``."""
    add_sources(parser)
    known = "activity, item_popularity, age, genre, items, or columns of --users, with commas between"
    parser.add_argument("--by", default="activity", help=f"{known} (default: %(default)s)")
    parser.add_argument("--users", metavar="TABLE", type=Path, help="your table of users: user_id, columns")
    parser.add_argument("--metric", default="", help="(default: ndcg@10, else what there is)")
    parser.add_argument("--groups", type=int, default=4, help="groups of numbers (default: %(default)s)")
    parser.add_argument("--baseline", help="the model others are compared with (default: the first)")
    examples = "users with the largest gain and loss to show"
    parser.add_argument("--examples", type=int, default=0, help=examples)
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    add_allowed(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=".md, .csv, .json")


def carry_out(asked: Namespace) -> None:
    """Print a table per attribute, then users whose lists changed most, and write files.

    Raises
    ------
    RecgaugeError
        If a source, an attribute, the data or a file cannot be used.
    """
    wanted = SegmentOptions(
        named(asked.by),
        asked.metric,
        asked.users,
        asked.groups,
        asked.baseline,
        asked.examples,
        asked.confidence,
        tuple(asked.allow),
    )
    check_formats(asked.out, FORMATS)
    folders, notes = run_folders(asked)
    found = segment_runs(folders, wanted, data_of, choose=not asked.sources)
    told = []
    if asked.examples:
        told = stories(found.runs, found.key, found.dataset, found.split, asked.baseline, asked.examples)
    console = output()
    blocks = [block for segments in found.segments for block in segment_blocks(segments)]
    blocks += lines((*notes, *found.notes), "notes")
    render_terminal([*blocks, *told], console)
    texts = [*(markdown(segments) for segments in found.segments), *map(story_markdown, told)]
    writers = _writers(found.segments, "\n\n".join(texts))
    for path in write_files({path: writers[path.suffix] for path in asked.out}):
        console.print(f"files    {path}", soft_wrap=True)


def _writers(found: Sequence[Segments], text: str) -> dict[str, Callable[[Path], object]]:
    import pandas as pd

    frame = pd.concat([segments.to_frame() for segments in found], ignore_index=True)
    return {
        ".md": text_writer(text + "\n"),
        ".csv": lambda path: frame.to_csv(path, index=False, lineterminator="\n"),
        ".json": lambda path: frame.to_json(
            path, orient="records", indent=1, force_ascii=False, double_precision=15
        ),
    }
