"""The page of a report: templates, style and script, filled with sections."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from recgauge._version import __version__
from recgauge.errors import listed
from recgauge.report.comparison_tables import shown
from recgauge.report.figures.svg import svg_text, theme_rules
from recgauge.report.html.blocks import Picture, Section
from recgauge.report.html.data import ReportData

_KEPT = "\n\t\u200c\u200d"  # what joins and parts letters belongs to some scripts
TEMPLATES = Path(__file__).parent / "templates"


def render(data: ReportData, sections: Sequence[Section]) -> str:
    """Return the page.

    Parameters
    ----------
    data : ReportData
    sections : sequence of Section

    Returns
    -------
    str
        Texts are escaped, whatever is in them.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["svg"] = _svg
    comparison = data.comparison
    runs = dict.fromkeys(row.run for one in comparison.results for row in one.rows)
    jobs = sum(len(series.jobs) for part in data.parts for series in part.runs.values())
    page = environment.get_template("report.html.j2").render(
        title=f"{len(runs)} runs on {listed(comparison.datasets or [part.name for part in data.parts])}",
        subtitle=f"{jobs} trained and evaluated, compared by {listed(list(map(shown, comparison.metrics)))}",
        sections=sections,
        version=__version__,
        style=f"{_read('report.css')}\n{theme_rules()}",
        script=_read("report.js"),
    )
    return _visible(page) + "\n"


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _svg(picture: Picture) -> str:
    """Draw a figure into the page; its texts are escaped by the writer of the SVG."""
    return svg_text(picture.draw(), picture.alt, picture.name.replace("_", "-"))


def _visible(text: str) -> str:
    r"""Return a text that says what it seems to say: no sign that hides others, turns them round or is none.

    Examples
    --------
    >>> _visible("a\u202eb\u00a0c").replace("\ufffd", "?")
    'a?b c'
    """
    wrong = {sign for sign in set(text) if not sign.isprintable() and sign not in _KEPT}
    return text.translate(
        {ord(sign): " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}" for sign in wrong}
    )
