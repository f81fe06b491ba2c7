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
_HASHED = re.compile("[mpHh][0-9a-f]{6,}")  # other ids of matplotlib are numbers, the same in every figure
_GEOMETRY = ("d", "x", "y", "points", "transform")
_DECIMALS = re.compile(r"(\d+\.\d{2})\d+")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def svg_text(figure: Figure, alt: str, name: str) -> str:
    """Return a figure as an ``<svg>`` element for a page in HTML.

    Readers who cannot see it are told `alt`; figures of one page need distinct names, which their ids are
    made from. It has no size and font of its own, and colours are attributes that a style sheet replaces.
    """
    written = StringIO()
    with look(), rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the page's font has other characters
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})
    root = ElementTree.fromstring(_NOT_XML.sub("", written.getvalue()))
    _clean(root)
    own = {"viewBox": root.get("viewBox", ""), "class": "chart", "role": "img", "aria-label": alt}
    drawn = ElementTree.Element("svg", own | {"stroke-linejoin": "round"})
    drawn.extend(root)
    return ElementTree.tostring(drawn, encoding="unicode")


def svg_file(figure: Figure, alt: str, name: str) -> str:
    """Return a figure as the text of a file of its own; see `svg_text`."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" '
    return svg_text(figure, alt, name).replace("<svg ", head, 1) + "\n"


def _clean(node: ElementTree.Element) -> None:
    for part in list(node):
        part.tag = part.tag.rpartition("}")[2]
        if part.tag in _DROPPED:
            node.remove(part)
            continue
        _clean_attributes(part)
        _clean(part)
        part.tail = None
        if part.tag in ("g", "defs"):
            part.text = None
            if not len(part):
                node.remove(part)
    node.text = node.text if node.text and node.text.strip() else None


def _clean_attributes(part: ElementTree.Element) -> None:
    kept: dict[str, str] = {}
    for key, value in part.attrib.items():
        if key == "style":
            pairs = (rule.partition(":")[::2] for rule in value.split(";") if rule.strip())
            kept |= {name.strip(): text.strip() for name, text in pairs if name.strip() != "font-family"}
        elif key in _GEOMETRY:
            kept[key] = _DECIMALS.sub(r"\1", " ".join(value.split()))
        elif key != "id" or _HASHED.fullmatch(value):
            kept["href" if key == _LINK else key] = value
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
