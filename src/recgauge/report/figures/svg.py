"""A figure as SVG inside a page: text stays text, and colours follow the page, light or dark."""

import re
import warnings
from io import StringIO
from xml.etree import ElementTree

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from recgauge.report.figures.style import GREY, INK, MUTED, PALETTE, RULE, look

THEME = {
    "#ffffff": "paper",
    INK.lower(): "ink",
    MUTED.lower(): "muted",
    GREY.lower(): "grey",
    RULE.lower(): "rule",
    **{colour.lower(): f"series-{number}" for number, colour in enumerate(PALETTE[:-1])},
}
"""Colour of a figure to the CSS variable that replaces it in a page."""
_LINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {"metadata", "style"}
_FONT = "font-family"
_GEOMETRY = ("d", "x", "y", "points", "transform")
_DECIMALS = re.compile(r"(\d+\.\d{2})\d+")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def svg_text(figure: Figure, alt: str, name: str) -> str:
    """Return a figure as an ``<svg>`` element for a page in HTML.

    Readers who cannot see it are told `alt`; `name` (letters, digits, hyphens) begins every id. It has no
    size and font of its own, and colours are attributes that a style sheet replaces, see `theme_rules`.

    Examples
    --------
    >>> from recgauge.report.figures.bars import plot_bars
    >>> text = svg_text(plot_bars({"svd": 0.18, "<b>": 0.09}), "Two bars", "bars")
    >>> text[:64]
    '<svg viewBox="0 0 518.4 141.84" class="chart" role="img" aria-la'
    >>> "&lt;b&gt;" in text, "0.180" in text
    (True, True)
    """
    written = StringIO()
    with look(), rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the page's font has other characters
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})
    found = ElementTree.fromstring(_NOT_XML.sub("", written.getvalue()))
    box = found.get("viewBox", "")
    found.attrib.clear()
    _clean(found, name)
    found.attrib.update(
        {"viewBox": box, "class": "chart", "role": "img", "aria-label": alt, "stroke-linejoin": "round"}
    )
    found.tag = _local(found)
    return ElementTree.tostring(found, encoding="unicode")


def svg_file(figure: Figure, alt: str, name: str) -> str:
    """Return a figure as the text of a file of its own; see `svg_text`."""
    text = svg_text(figure, alt, name.replace("_", "-"))
    return (
        text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" ', 1) + "\n"
    )


def _clean(node: ElementTree.Element, name: str) -> None:
    """Leave out what a page does not need, and move styles to attributes."""
    for part in list(node):
        part.tag = _local(part)
        if part.tag in _DROPPED:
            node.remove(part)
            continue
        _clean_attributes(part, name)
        _clean(part, name)
        part.tail = None
        if part.tag in ("g", "defs"):
            part.text = None
            if not len(part):
                node.remove(part)
    node.text = node.text if node.text and node.text.strip() else None


def _local(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _clean_attributes(part: ElementTree.Element, name: str) -> None:
    kept: dict[str, str] = {}
    for key, value in part.attrib.items():
        if key == "style":
            pairs = (one.partition(":")[::2] for one in value.split(";") if one.strip())
            kept |= {one.strip(): text.strip() for one, text in pairs if one.strip() != _FONT}
        elif key == "id":
            kept |= {"id": f"{name}-{value}"} if re.fullmatch(r"[mpHh][0-9a-f]{6,}", value) else {}
        elif key == _LINK:
            kept["href"] = f"#{name}-{value.removeprefix('#')}"
        elif not (key == "transform" and value.startswith("rotate(-0 ")):
            kept[key] = value.replace("url(#", f"url(#{name}-")
        if key in _GEOMETRY and key in kept:
            kept[key] = _DECIMALS.sub(r"\1", " ".join(kept[key].split()))
    part.attrib.clear()
    part.attrib.update(kept)


def theme_rules() -> str:
    """Return the rules of a style sheet that let figures follow the colours of their page."""
    rules = [
        f'.chart [{what}="{colour}"] {{ {what}: var(--{name}); }}'
        for colour, name in THEME.items()
        for what in ("fill", "stroke")
    ]
    rules += [
        f'.chart text[fill="{colour}"] {{ fill: color-mix(in srgb, var(--{name}) 55%, var(--ink)); }}'
        for colour, name in THEME.items()
        if name.startswith("series")  # some are too light for letters
    ]
    return "\n".join(rules)
