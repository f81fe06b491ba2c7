"""Sections of whether the result holds: does the winner stay, who gains and who loses, example users."""

from functools import partial
from typing import TYPE_CHECKING

from recgauge.comparison.segments import Segments
from recgauge.comparison.stability import Stability
from recgauge.report import segment_tables, stability_tables
from recgauge.report.blocks import Beside, Block, Folded, Lines, Picture, Pictures, Section, lines, slug
from recgauge.report.page.data import DatasetPart, ReportData, Told, section

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def stability(data: ReportData) -> Section | None:
    """Return whether the winner stays under other metrics, cutoffs, conventions, seeds."""
    return section("Does the winner stay?", data, _stability)


def _stability(data: ReportData, part: DatasetPart) -> Told:
    found = part.stability
    if found is None:
        return None
    changing = [axis.axis for axis in found.axes if axis.other_winners()]
    told = f"under every option of {len(found.axes)} choices"
    if changing:
        told = f"but not under every {' and every '.join(changing)}"
    first = found.axes[0]
    lead = f"{first.winner(first.reference)} wins{data.place(part)}{',' if changing else ''} {told}."
    claims = tuple(stability_tables.claims(found))
    picture = Picture(
        f"stability_{slug(part.name)}",
        partial(_draw_stability, found),
        " ".join(claims),
        f"Pairs of models whose order turns, {part.name}; solid: beyond noise, hatched: within noise",
        wide=True,
    )
    tables = (stability_tables.choice_table(found), stability_tables.option_table(found))
    blocks: list[Block] = [Lines(claims)]
    blocks += [Pictures((picture,))] if any(axis.turns() for axis in found.axes) else []
    blocks.append(Folded(f"Every choice and option: {part.name}", (*tables, *lines(found.notes, "notes"))))
    return lead, blocks


def _draw_stability(found: Stability) -> "Figure":
    from recgauge.report.figures.stability import plot_stability

    return plot_stability(found, title=None)


def segments(data: ReportData) -> Section | None:
    """Return who gains and who loses, by groups of users or items."""
    return section("Who gains, who loses", data, _segments, folded=False)


def _segments(data: ReportData, part: DatasetPart) -> Told:
    if not part.segments:
        return None
    claims = [claim for found in part.segments for claim in segment_tables.claims(found)]
    blocks = lines(claims[1:])
    blocks.append(Pictures(tuple(_gain_picture(part, found) for found in part.segments)))
    tables = tuple(segment_tables.segment_table(found) for found in part.segments)
    by = ", ".join(found.by.replace("_", " ") for found in part.segments)
    blocks.append(Folded(f"Tables by {by}: {part.name}", tables))
    return (f"{part.name}: {claims[0]}" if data.several else claims[0]), blocks


def _gain_picture(part: DatasetPart, found: Segments) -> Picture:
    run, by = found.runs[1], found.by.replace("_", " ")
    told = "; ".join(f"{pair.segment} {pair.difference:+.4f}" for pair in found.pairs if pair.a == run)
    return Picture(
        f"gain_{slug(part.name)}_{slug(found.by)}",
        partial(_draw_gains, found, run),
        f"Difference of {run} and {found.runs[0]} by {by}: {told}",
        f"{run} less {found.runs[0]} by {by}, {part.name}; filled: shown to differ",
    )


def _draw_gains(found: Segments, run: str) -> "Figure":
    from recgauge.report.figures.compared import plot_gains

    return plot_gains(found, run)


def stories(data: ReportData) -> Section | None:
    """Return users with the largest gain and loss: their history and both lists."""
    made = section("Example users", data, _stories)
    lead = "The users with the largest gain and loss: both lists, and what they had in training."
    return None if made is None else Section(made.title, lead, made.blocks, folded=True)


def _stories(_: ReportData, part: DatasetPart) -> Told:
    return ("", [Beside(tuple(story.table() for story in part.stories))]) if part.stories else None
