"""The page of ``recgauge report``: self-contained HTML, read offline and without script."""

from collections.abc import Iterator

from recgauge.errors import listed
from recgauge.report.blocks import Picture, Section, pictures_of
from recgauge.report.comparison_tables import shown
from recgauge.report.html import render_page
from recgauge.report.page import groups, results, setup, tradeoffs, training
from recgauge.report.page.data import ReportData

SECTIONS = (
    results.answer,
    results.leaderboards,
    results.pairs,
    groups.segments,
    results.over_cutoffs,
    tradeoffs.costs,
    tradeoffs.beyond,
    groups.stability,
    groups.stories,
    tradeoffs.long_tail,
    tradeoffs.distribution,
    training.ratings,
    training.learning,
    training.searches,
    setup.data_cards,
    setup.guards,
    setup.protocol,
    setup.configuration,
    setup.left_out,
)
"""In the order of the page: what is folded follows what everybody reads."""


def sections(data: ReportData) -> list[Section]:
    """Return the sections of a report; those without data are not there."""
    return [section for make in SECTIONS if (section := make(data)) is not None]


def pictures(data: ReportData) -> Iterator[Picture]:
    """Yield the figures of a report; each is drawn by its own function, for PNG as for the page."""
    for section in sections(data):
        yield from pictures_of(section.blocks)


def report_page(data: ReportData) -> str:
    """Return the report as a page that needs no other file and no network; equal data give an equal page."""
    comparison = data.comparison
    runs = dict.fromkeys(row.run for result in comparison.results for row in result.rows)
    jobs = sum(len(series.jobs) for part in data.parts for series in part.runs.values())
    return render_page(
        f"{len(runs)} runs on {listed(comparison.datasets or [part.name for part in data.parts])}",
        f"{jobs} trained and evaluated, compared by {listed(list(map(shown, comparison.metrics)))}",
        sections(data),
    )
