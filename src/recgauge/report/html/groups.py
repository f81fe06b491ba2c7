"""Sections of whether the result holds: does the winner stay, who gains and who loses, example users."""

from functools import partial
from typing import TYPE_CHECKING

from recgauge.comparison.orders import Stability
from recgauge.comparison.segment_results import Segments
from recgauge.report import segment_tables, stability_tables
from recgauge.report.html.blocks import (
    Block,
    Cell,
    Example,
    Examples,
    Folded,
    Heading,
    Lines,
    Picture,
    Pictures,
    Row,
    Section,
    Table,
    Text,
    slug,
)
from recgauge.report.html.data import DatasetPart, ReportData

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def stability(data: ReportData) -> Section | None:
    """Return whether the winner stays under other metrics, cutoffs, conventions, seeds."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        found = part.stability
        if found is None:
            continue
        changing = [axis.axis for axis in found.axes if axis.other_winners()]
        place = f" on {part.name}" if data.several else ""
        axis = found.axes[0]
        winner = axis.winner(axis.reference)
        told = f"wins{place} under every option of {len(found.axes)} choices"
        if changing:
            told = f"wins{place}, but not under every {' and every '.join(changing)}"
        leads.append(f"{winner} {told}.")
        blocks += [Heading(part.name)] if data.several else []
        blocks += _stability_blocks(part.name, found)
    return Section("Does the winner stay?", " ".join(leads), tuple(blocks)) if blocks else None


def _stability_blocks(dataset: str, found: Stability) -> list[Block]:
    claims = tuple(stability_tables.claims(found))
    picture = Picture(
        f"stability_{slug(dataset)}",
        partial(_draw_stability, found),
        " ".join(claims),
        f"Pairs of models whose order turns, {dataset}; solid: beyond noise, hatched: within noise",
        wide=True,
    )
    choices = Table(
        f"{dataset}: the order of models under other choices",
        stability_tables.HEADER,
        tuple(map(tuple, stability_tables.summary_rows(found))),
        words=("options", "winner"),
    )
    options = Table(
        f"{dataset}: the order under each option",
        stability_tables.OPTION_HEADER,
        tuple(map(tuple, stability_tables.option_cells(found))),
        words=("option", "order", "what turns"),
    )
    blocks: list[Block] = [Lines(claims)]
    blocks += [Pictures((picture,))] if any(axis.turns() for axis in found.axes) else []
    told = Text(stability_tables.explanation(found), "explanation")
    notes = [Lines(found.notes, "notes")] if found.notes else []
    blocks.append(Folded(f"Every choice and option: {dataset}", (choices, told, options, *notes)))
    return blocks


def _draw_stability(found: Stability) -> "Figure":
    from recgauge.report.figures.stability import plot_stability

    return plot_stability(found, title=None)


def segments(data: ReportData) -> Section | None:
    """Return who gains and who loses, by groups of users or items, and example users."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        if not part.segments:
            continue
        claims = [claim for one in part.segments for claim in segment_tables.claims(one)]
        leads.append(claims[0])
        blocks += [Heading(part.name)] if data.several else []
        blocks.append(Lines(tuple(claims if data.several else claims[1:])))
        blocks.append(Pictures(tuple(_gain_pictures(part))))
        for one in part.segments:
            header = tuple(segment_tables.header(one))
            rows = tuple(map(tuple, segment_tables.cells(one)))
            by = one.by.replace("_", " ")
            blocks.append(
                Folded(
                    f"Table by {by}: {part.name}",
                    (
                        Table(f"{part.name}, by {by}", header, rows, words=("run",)),
                        Text(segment_tables.explanation(one), "explanation"),
                    ),
                )
            )
    lead = leads[0] if len(leads) == 1 else f"{len(leads)} data sets, each by groups of users."
    return Section("Who gains, who loses", lead, tuple(blocks)) if blocks else None


def _gain_pictures(part: DatasetPart) -> list[Picture]:
    found = []
    for one in part.segments:
        run, by = one.runs[1], one.by.replace("_", " ")
        told = "; ".join(f"{p.segment} {p.difference:+.4f}" for p in one.pairs if p.a == run)
        found.append(
            Picture(
                f"gain_{slug(part.name)}_{slug(one.by)}",
                partial(_draw_gains, one, run),
                f"Difference of {run} and {one.runs[0]} by {by}: {told}",
                f"{run} less {one.runs[0]} by {by}, {part.name}; filled: shown to differ",
            )
        )
    return found


def _draw_gains(one: Segments, run: str) -> "Figure":
    from recgauge.report.figures.compared import plot_gains

    return plot_gains(one, run)


def stories(data: ReportData) -> Section | None:
    """Return users with the largest gain and loss: their history and both lists."""
    blocks: list[Block] = []
    for part in data.parts:
        if part.stories:
            blocks += [Heading(part.name)] if data.several else []
            blocks.append(Examples(tuple(map(_example, part.stories))))
    lead = (
        "Users with the largest gain, then with the largest loss: both lists, and what they had in training."
    )
    return Section("Example users", lead, tuple(blocks)) if blocks else None


def _example(story: segment_tables.Story) -> Example:
    rows: list[Row] = []
    for rank, items in enumerate(story.ranks, 1):
        rows.append((str(rank), *(Cell(str(item), look="hit" if item.hit else "") for item in items)))
    lists = Table(story.title, story.header, tuple(rows), words=story.header[1:], look="story")
    return Example(story.history, lists)
