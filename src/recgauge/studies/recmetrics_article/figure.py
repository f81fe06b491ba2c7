"""The figures of the recmetrics article, MAR over the cutoff and coverage: data sets by protocols."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recgauge.report.figures.bars import draw_bars
from recgauge.report.figures.style import INK, MARKERS, MUTED, color, look, percent_axis
from recgauge.studies import Row
from recgauge.studies.metric_disagreement.page import distinct
from recgauge.studies.recmetrics_article.page import (
    ARTICLE,
    COVERAGE,
    HONEST,
    LABELS,
    PROTOCOLS,
    K,
    as_measured,
    value,
)

_SIZES = (10.0, 6.5, 3.0)  # where lines lie on each other, the lower ones show around the upper ones


def plot_mar(rows: Sequence[Row]) -> Figure:
    """Return MAR@K of the three models under each protocol, scaled alike within a data set.

    Parameters
    ----------
    rows : sequence of dict
        Rows of results.csv; the published numbers have a row of panels of their own.
    """
    published = as_measured([row for row in rows if row["published"]])
    ours = [row for row in rows if not row["published"] and row["ours"]]
    sets = [(name, "published\n", published) for name in distinct(published, "dataset")]
    sets += [(name, "", ours) for name in distinct(ours, "dataset")]
    with look():
        figure = Figure(figsize=(7.2, 1.0 + 1.75 * len(sets)), dpi=150, layout="constrained")
        panels = figure.subplots(len(sets), len(PROTOCOLS), squeeze=False, sharex=True, sharey="row")
        for line, (dataset, whose, its) in zip(panels, sets, strict=True):
            for panel, protocol in zip(line, PROTOCOLS, strict=True):
                _draw(panel, its, dataset, protocol)
            line[0].set_ylabel(f"{dataset}\n{whose}MAR@K", color=INK)
            line[0].set_ylim(bottom=0)
        for panel, protocol in zip(panels[0], PROTOCOLS, strict=True):
            panel.set_title(protocol)
        for panel in panels[-1]:
            panel.set_xlabel("cutoff K")
            panel.set_xticks([1, 5, 10])
        figure.legend(
            *panels[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False
        )
        return figure


def plot_coverages(rows: Sequence[Row]) -> Figure | None:
    """Return the coverage of the three models at K = 10 as bars, None if no row has one.

    Parameters
    ----------
    rows : sequence of dict
        Rows of results.csv; the published numbers have a row of panels of their own.

    Notes
    -----
    What the article draws with recmetrics' coverage_plot, for its protocol and the honest one.
    """
    covered = [row for row in rows if row["metric"] == COVERAGE]
    published = as_measured([row for row in covered if row["published"]])
    ours = [row for row in covered if not row["published"] and row["ours"]]
    if not ours:
        return None
    sets = [(name, "\npublished", published) for name in distinct(published, "dataset")]
    sets += [(name, "", ours) for name in distinct(ours, "dataset")]
    protocols = (ARTICLE, HONEST)
    with look():
        figure = Figure(figsize=(7.2, 0.7 + 1.05 * len(sets)), dpi=150, layout="constrained")
        panels = figure.subplots(len(sets), len(protocols), squeeze=False, sharex=True)
        for line, (dataset, whose, its) in zip(panels, sets, strict=True):
            for place, protocol in enumerate(protocols):
                found = {model: value(its, dataset, protocol, model, COVERAGE) for model in LABELS.values()}
                shares = {model: float(row["ours"]) / 100 for model, row in found.items() if row is not None}
                _draw_coverage(line[place], shares, names=place == 0)
            line[0].set_ylabel(f"{dataset}{whose}", color=INK)
        for panel, protocol in zip(panels[0], protocols, strict=True):
            panel.set_title(protocol)
        for panel in panels[-1]:
            percent_axis(panel, "x")
            panel.set_xlabel("items in at least one list")
    return figure


def _draw_coverage(panel: Axes, shares: dict[str, float], *, names: bool) -> None:
    if not shares:
        panel.text(0.5, 0.5, "not published", transform=panel.transAxes, ha="center", color=MUTED)
        panel.set_yticks([])
        return
    draw_bars(panel, "coverage", shares, text=lambda share: f"{share * 100:.2f} %", highest=1.0, names=names)


def _draw(panel: Axes, rows: Sequence[Row], dataset: str, protocol: str) -> None:
    if not any(row["dataset"] == dataset and row["protocol"] == protocol for row in rows):
        panel.text(0.5, 0.5, "not published", transform=panel.transAxes, ha="center", color=MUTED)
    for place, model in enumerate(LABELS.values()):
        found = [value(rows, dataset, protocol, model, f"mar_at_{k}") for k in range(1, K + 1)]
        points = [(k, float(row["ours"])) for k, row in enumerate(found, start=1) if row is not None]
        panel.plot(
            [k for k, _ in points],
            [number for _, number in points],
            color=color(place),
            marker=MARKERS[place],
            markersize=_SIZES[place] if protocol == PROTOCOLS[1] else 4.0,
            linewidth=1.4,
            label=model,
        )
