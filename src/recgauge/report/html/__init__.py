"""One page that shows a comparison: self-contained HTML, read offline and without script."""

from collections.abc import Iterator

from recgauge.report.html.blocks import Picture, Section, pictures_of
from recgauge.report.html.data import ReportData


def sections(data: ReportData) -> list[Section]:
    """Return the sections of a report; those without data are not there.

    Parameters
    ----------
    data : ReportData
    """
    from recgauge.report.html import groups, results, setup, tradeoffs, training

    made = (
        results.answer,
        results.leaderboards,
        results.pairs,
        results.over_cutoffs,
        tradeoffs.costs,
        tradeoffs.beyond,
        groups.stability,
        groups.segments,
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
    return [section for make in made if (section := make(data)) is not None]


def pictures(data: ReportData) -> Iterator[Picture]:
    """Yield the figures of a report; each is drawn by its own function, for PNG as for the page."""
    for section in sections(data):
        yield from pictures_of(section.blocks)


def report_page(data: ReportData) -> str:
    """Return the report as a page in HTML.

    Parameters
    ----------
    data : ReportData

    Returns
    -------
    str
        Needs no other file and no network. Equal data give an equal page.
    """
    from recgauge.report.html.page import render

    return render(data, sections(data))
