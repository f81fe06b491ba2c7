"""The study of a published tuning curve: the numbers at many values of one setting, published and ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recgauge.studies import Row, label, table
from recgauge.studies.published_table import REPRODUCED, PublishedTable, published_markdown, verdict_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALUE = " = "  # what stands between the setting and its value in the label of a published number

_APART = 0.008  # of a metric: names nearer than this share a line


@dataclass(frozen=True)
class TuningCurve(PublishedTable):
    """Compares a published curve with ours, and its models with others at their best and without tuning."""

    setting: str = ""  # what the axis is called

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the curve as a table with the largest difference at each point, the others, the figure."""
        metric = self.drawn[0]
        points = list(dict.fromkeys(row["model"] for row in rows if is_point(row)))
        titles = {name: name for name in ("published", "ours", "largest difference", "reproduced")}
        others = [
            row | {"published": f"{float(row['published']):.6f}"}
            for row in rows
            if row["metric"] == metric and not is_point(row)
        ]
        return "\n\n".join(
            [
                f"{label(metric)}, and the largest difference among all metrics at this point:",
                table(
                    [_point(point, metric, rows) for point in points],
                    {"value": self.setting} | titles,
                    right=(self.setting, *titles),
                ),
                f"{label(metric)} of other models and settings:",
                published_markdown(sorted(others, key=lambda row: -float(row["published"]))),
                *verdict_lines(rows),
                "![Published curve and ours](curve.png)",
            ]
        )

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the curve, published and ours, with the other models as lines."""
        return {"curve": plot_curve(rows, self.drawn[0], self.setting)}


def is_point(row: Row) -> bool:
    """Whether a row is a point of the curve: its label ends with the value of the setting."""
    return VALUE in row["model"] and not row["model"].endswith(")")


def _value(row: Row) -> float:
    return float(row["model"].rpartition(VALUE)[2])


def _point(point: str, metric: str, rows: Sequence[Row]) -> Row:
    found = [row for row in rows if row["model"] == point]
    shown = next(row for row in found if row["metric"] == metric)
    differences = [abs(float(row["difference"])) for row in found if row["difference"]]
    done = sum(row["verdict"] == REPRODUCED for row in found)
    return {
        "value": point.rpartition(VALUE)[2],
        "published": f"{float(shown['published']):.7f}",
        "ours": f"{float(shown['ours']):.7f}" if shown["ours"] else "",
        "largest difference": f"{max(differences):.1e}" if differences else "",
        "reproduced": f"{done} of {len(found)}",
    }


def _lines(others: Sequence[Row]) -> list[tuple[float, str]]:
    """Return heights and names, those that would be written over each other on one line."""
    lines: list[tuple[float, str]] = []
    for row in sorted(others, key=lambda row: float(row["published"])):
        height = float(row["published"])
        if lines and height - lines[-1][0] < _APART:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]}; {row['model']}")
        else:
            lines.append((height, row["model"]))
    return lines


def plot_curve(rows: Sequence[Row], metric: str, setting: str) -> "Figure":
    """Return the curve, published as rings and ours as dots; other models as lines at their value."""
    from recgauge.report.figures.style import GREY, MUTED, PALETTE, count_axis, new_figure

    drawn = [row for row in rows if row["metric"] == metric]
    points = sorted((row for row in drawn if is_point(row)), key=_value)
    others = [row for row in drawn if not is_point(row)]
    with new_figure(None, height=4.6) as (figure, (axes,)):
        values = [_value(row) for row in points]
        published = [float(row["published"]) for row in points]
        axes.plot(values, published, "o", color=MUTED, fillstyle="none", markersize=8, label="published")
        ours = [(_value(row), float(row["ours"])) for row in points if row["ours"]]
        axes.plot(
            *(zip(*ours, strict=True) if ours else ([], [])),
            "o-",
            color=PALETTE[0],
            markersize=4,
            linewidth=1,
            label="ours",
        )
        for height, names in _lines(others):
            axes.axhline(height, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
            side = axes.get_yaxis_transform()
            axes.text(1.01, height, names, transform=side, va="center", fontsize=8)
        axes.set_xscale("log")
        count_axis(axes.xaxis)
        axes.set_xlabel(setting)
        axes.set_title(label(metric), loc="left")
        axes.set_ylim(bottom=0)
        axes.legend()
    return figure
