"""experiments/published_numbers.png: all published numbers, ours against theirs, by verdict."""

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from recgauge.cli.commands.experiments import experiment_names
from recgauge.report.figures.style import GREY, MUTED, PALETTE, SMALL, new_figure
from recgauge.studies import read_results
from recgauge.studies.published_table import CLOSE, NOT_REPRODUCED, OPEN, REPRODUCED, UNKNOWN

FIGURE = "published_numbers.png"
LOOKS = {  # colour, sign and its size; later ones are drawn above earlier ones
    REPRODUCED: (PALETTE[0], "o", 2.0),
    CLOSE: (PALETTE[4], "^", 4.0),
    UNKNOWN: (PALETTE[3], "D", 3.5),
    NOT_REPRODUCED: (PALETTE[1], "s", 4.0),
}
LEAST, NEAREST = 1e-6, 1e-12
"""Smaller numbers, and numbers that are nearer to each other, are drawn here."""
Point = tuple[float, float, float]
"""The magnitudes of a published number, ours, and their difference, as drawn."""


def read_numbers(folder: Path) -> tuple[dict[str, list[Point]], Counter[str]]:
    """Return the points of each verdict but open ones, and how often each verdict was given."""
    points: dict[str, list[Point]] = {verdict: [] for verdict in LOOKS}
    verdicts: Counter[str] = Counter()
    for name in experiment_names():
        rows = []
        with suppress(FileNotFoundError):  # an experiment without a study
            rows = read_results(folder / name / "results.csv")
        for row in rows:
            verdict = row.get("verdict", "")
            verdicts[verdict] += 1
            if verdict in points:
                published = row.get("published") or row["code"]  # of worked examples the article's own code
                with suppress(ValueError):  # texts, such as an error that is reproduced
                    points[verdict].append(_point(published, row["ours"], row["difference"]))
    return points, verdicts


def _point(published: str, ours: str, difference: str) -> Point:
    smallest = (published, LEAST), (ours, LEAST), (difference, NEAREST)
    across, up, apart = (max(abs(float(text)), least) for text, least in smallest)
    return across, up, apart


def plot_numbers(folder: Path) -> Figure:
    """Return ours against the published numbers, and how far they are apart."""
    points, verdicts = read_numbers(folder)
    drawn = [point for of_verdict in points.values() for point in of_verdict]
    largest = max(number for point in drawn for number in point[:2])
    with new_figure(None, height=4.3, panels=2) as (figure, (left, right)):
        left.plot([LEAST, largest], [LEAST, largest], color=GREY, linewidth=0.8, zorder=0)
        for verdict, (ink, sign, size) in LOOKS.items():
            columns = list(zip(*points[verdict], strict=True)) or [()] * 3
            look: dict[str, Any] = {"color": ink, "markersize": size, "markeredgewidth": 0}
            left.plot(columns[0], columns[1], sign, label=f"{verdict} {verdicts[verdict]:,}", **look)
            right.plot(columns[0], columns[2], sign, **look)
        for panel, title in ((left, "ours against published"), (right, "how far they are apart")):
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_title(title)
            panel.set_xlabel("published")
            _tick(panel.xaxis, LEAST)
        _tick(left.yaxis, LEAST)
        _tick(right.yaxis, NEAREST)
        names = left.get_legend_handles_labels()
        figure.legend(*names, loc="outside upper left", ncols=4, markerscale=1.5, columnspacing=1.2)
        n_equal = sum(point[2] == NEAREST for point in drawn)
        n_texts = sum(verdicts[verdict] for verdict in LOOKS) - len(drawn)
        note = (
            f"{n_equal:,} differ by 1e-12 or less. Not drawn: {verdicts[OPEN]:,} open ones, "
            f"{n_texts:,} that are no single numbers."
        )
        figure.supxlabel(note, x=0.012, ha="left", fontsize=SMALL, color=MUTED)
    return figure


def _tick(axis: Axis, least: float) -> None:
    """Write every other power of ten, at the least one that smaller numbers are there, too."""
    axis.set_major_locator(LogLocator(100, numticks=20))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{'≤ ' if value < 1.5 * least else ''}{value:g}")
    )
