"""Blocks as HTML: the page of a report, and parts of it for notebooks. Every text is escaped."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recgauge._version import __version__
from recgauge.report.blocks import Block, Picture, Section

if TYPE_CHECKING:
    from jinja2 import Environment

_KEPT = "\n\t\u200c\u200d"  # what joins and parts letters belongs to some scripts
_TOGETHER = re.compile(r"(?<=\d) (?=%|(?:s|ms|[KMGT]i?B)\b)|(?<=,) (?=[-+−]?[\d.]+\])|(?<=p) (?==)|(?<=p =) ")
"""Where no line ends: between a number and its unit, inside an interval, of a p."""
_TEMPLATES = Path(__file__).parent / "templates"


def render_html(blocks: Sequence[Block]) -> str:
    """Return blocks as a part of a page, without style and script."""
    module = _environment().get_template("blocks.html.j2").module
    return _visible("".join(str(module.show(block, False)) for block in blocks))  # type: ignore[attr-defined]


def render_page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """Return sections as a page that needs no other file and no network; equal ones give an equal page."""
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            subtitle=subtitle,
            sections=sections,
            version=__version__,
            style=_read("report.css"),
            script=_read("report.js"),
        )
    )
    return _visible(page) + "\n"


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_unbroken,
    )
    environment.filters["svg"] = _svg
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment


def _unbroken(value: Any) -> Any:
    """Keep numbers and units of a text on one line; what is safe or escaped already stays as it is."""
    from markupsafe import Markup, escape

    return Markup(_TOGETHER.sub("&nbsp;", escape(value))) if type(value) is str else value


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _svg(picture: Picture) -> str:
    """Draw a figure into the page; its texts are escaped by the writer of the SVG."""
    from recgauge.report.figures.style import svg_text

    return svg_text(picture.draw(), picture.name, f"{picture.caption}. {picture.shows}")


def _visible(text: str) -> str:
    """Return a text that says what it seems to: no sign that hides others, turns them round or is none."""
    wrong = {sign for sign in set(text) if not sign.isprintable() and sign not in _KEPT}
    return text.translate(
        {ord(sign): " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}" for sign in wrong}
    )
