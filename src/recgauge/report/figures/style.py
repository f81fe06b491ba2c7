"""One look for all figures: colours, sizes and texts, and how a figure becomes a file or a part of a page."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
from matplotlib import rc_context, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from PIL import Image

from recgauge.errors import MetricError, printable
from recgauge.utils.checks import DoubleArray

# Okabe and Ito's colours, distinguished with any kind of colour vision, the dark ones first
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D5D5D")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, MUTED, GREY, RULE = "#222222", "#5D5D5D", "#9A9A9A", "#E3E3E3"
REFERENCE: dict[str, Any] = {"color": GREY, "linewidth": 1, "linestyle": (0, (4, 3))}
"""Look of lines to compare with, such as chance."""
SMALL = 9.0  # points; pages show figures about 850 pixels wide, so that these are 13 pixels high
LONGEST_NAME = 26  # characters of a run's name beside a row or a point
WIDTH, _DPI = 7.2, 150  # inches and pixels per inch: 1080 pixels, sharp on high-resolution screens too
COLUMN = 4.9  # inches: the width of figures two of which stand side by side, and of a telephone
_LOOK: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # part of matplotlib: the same figure on every machine
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "lines.linewidth": 1.8,
    "text.color": INK,
    "figure.constrained_layout.w_pad": 0.055,
    "figure.constrained_layout.h_pad": 0.055,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "text.parse_math": False,  # names of runs are no formulas, whatever signs are in them
}
_THEME = {
    "#ffffff": "paper",
    INK: "ink",
    MUTED.lower(): "muted",
    GREY.lower(): "grey",
    RULE.lower(): "rule",
    **{colour.lower(): f"series-{number}" for number, colour in enumerate(PALETTE[:-1])},
}
"""Colour of a figure to the CSS variable that replaces it in a page, light or dark."""


def look() -> AbstractContextManager[None]:
    """Apply the common look inside a ``with`` block, whatever matplotlib's settings are around it."""
    plain = {name: rcParamsDefault[name] for name in rcParamsDefault if name != "backend"}
    return rc_context(plain | _LOOK)


@contextmanager
def new_figure(
    title: str | None, *, height: float = 3.7, panels: int = 1, width: float = WIDTH
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give an empty figure and its panels, side by side, with the common look inside a ``with`` block."""
    with look():
        figure = NotebookFigure(figsize=(width, height), dpi=_DPI, layout="constrained")
        axes = list(figure.subplots(1, panels, squeeze=False)[0])
        if title is not None:
            figure.suptitle(title, x=0.012, ha="left", fontsize=11.5, fontweight="bold")
        for panel in axes:
            panel.tick_params(color=GREY, length=3)
        yield figure, axes


class NotebookFigure(Figure):
    """A figure that notebooks show as a picture, also where nobody has imported pyplot."""

    def _repr_png_(self) -> bytes:
        return _png(self)


def save_png(figure: Figure, path: Path) -> Path:
    """Write a figure; the same figure has the same bytes.

    Parameters
    ----------
    path : Path
        Its folder is made if missing.

    Returns
    -------
    Path
        The file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_png(figure))
    return path


def _png(figure: Figure) -> bytes:
    canvas = FigureCanvasAgg(figure)
    with look():
        canvas.draw()
    # 256 colours are enough for these figures and take half of the bytes
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(256)
    written = BytesIO()
    pixels.save(written, format="PNG", optimize=True, dpi=(_DPI, _DPI))
    return written.getvalue()


def svg_text(figure: Figure, name: str, label: str) -> str:
    """Return a figure as an ``<svg>`` element for a page in HTML, in the page's font and colours.

    Figures of one page need distinct names, which their ids are made from; screen readers say the label.
    """
    text = _svg(figure, name).replace("xlink:href", "href")
    text = text.replace(f"font-family: '{_LOOK['font.family']}'; ", "")
    twice = r'<metadata>.*?</metadata>|<style.*?</style>|(?<=<g) id="[^"]*"'  # equal in every figure
    text = re.sub(twice, "", text, flags=re.DOTALL)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
    for colour, variable in _THEME.items():
        text = re.sub(rf'((?:fill|stroke)(?:: |=")){colour}', rf"\1var(--{variable})", text)
    box = " ".join(f"{end:g}" for end in (0, 0, *(72 * figure.get_size_inches())))
    start = f'<svg viewBox="{box}" class="chart" role="img" aria-label={quoteattr(label)}'
    return f'{start} stroke-linejoin="round">{re.split("<svg [^>]*>", text, maxsplit=1)[1]}'


def save_svg(figure: Figure, path: Path) -> Path:
    """Write a figure as SVG; texts stay texts."""
    path.write_text(_svg(figure, path.stem), encoding="utf-8")
    return path


def _svg(figure: Figure, name: str) -> str:
    written = StringIO()
    with look(), rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the page's font has other characters
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})
    return written.getvalue()


def check_numbers(owner: str, values: Mapping[str, npt.ArrayLike], size: int) -> dict[str, DoubleArray]:
    """Return as many finite numbers by label; MetricError if there is no label, or other numbers."""
    columns = {label: np.asarray(column, dtype=np.float64) for label, column in values.items()}
    wrong = [label for label, each in columns.items() if each.shape != (size,) or not np.isfinite(each).all()]
    if wrong or not columns:
        raise MetricError(f"{owner}: expected {size} finite numbers by label, got {dict(values)}.")
    return columns


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    r"""Return a name as figures write it: on one line, its end replaced by an ellipsis where it is long.

    Examples
    --------
    >>> short_name("svd\nn_factors=8"), short_name("a" * 30, 5)
    ('svd\\nn_factors=8', 'aaaa…')
    """
    text = printable(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def short_names(names: Sequence[str]) -> list[str]:
    """Return names as figures write them; names that would look the same are numbered.

    Examples
    --------
    >>> short_names(["svd", "ease with a long setting, A", "ease with a long setting, B"])
    ['svd', 'ease with a long setting…2', 'ease with a long setting…3']
    """
    shortened = list(map(short_name, names))
    return [
        f"{short_name(name, LONGEST_NAME - len(str(place)))}{place}" if shortened.count(short) > 1 else short
        for place, (name, short) in enumerate(zip(names, shortened, strict=True), 1)
    ]


def line_look(index: int, *, marker: bool = False) -> dict[str, Any]:
    """Return the look of a label by its index: seven colours, with solid, then dashed, then dotted lines."""
    style = ("-", "--", ":")[index // len(PALETTE) % 3]
    marks = {"marker": MARKERS[index % len(MARKERS)], "markersize": 5} if marker else {}
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": style, **marks}


def percent_axis(axis: Axis) -> None:
    """Write the ticks of shares as percentages."""
    axis.set_major_formatter(lambda value, _: f"{value * 100:.6g} %")
    axis.set_minor_formatter(NullFormatter())


def count_axis(axis: Axis) -> None:
    """Write the ticks of counts with commas between thousands."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Give a panel one named row for each thing, the first on top, with space above it."""
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.set_yticks(range(len(names)), list(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def draw_interval(
    axes: Axes,
    row: int,
    values: tuple[float, float, float],
    *,
    filled: bool = True,
    ink: str = PALETTE[0],
    marker: str = "o",
) -> None:
    """Draw low end, middle and high end in a row; the middle is filled where a difference is shown."""
    low, middle, high = values
    if np.isfinite(low):
        axes.plot([low, high], [row, row], color=ink, linewidth=1.6, solid_capstyle="butt")
    face = ink if filled else "white"
    axes.plot([middle], [row], marker=marker, markersize=6, color=ink, markerfacecolor=face)


def write_beside(
    axes: Axes, text: str, point: tuple[float, float], shift: tuple[float, float], **look_of: Any
) -> None:
    """Write a small text next to a point, `shift` in points from it; the rest goes to matplotlib."""
    look_of = {"fontsize": SMALL} | look_of
    axes.annotate(text, point, xytext=shift, textcoords="offset points", **look_of)


def write_at_edge(axes: Axes, text: str, height: float) -> None:
    """Write a small text at the right edge of a panel."""
    at_edge = axes.get_yaxis_transform()
    write_beside(axes, text, (1.0, height), (7, 0), xycoords=at_edge, va="center", color=MUTED)
