"""One set of lists under all conventions: how far metrics spread, and whether the order of models changes."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, ClassVar

from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, Study, distinct, folded, label, missing_runs, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

COLUMNS = ("dataset", "model", "metric", "convention", "value", "definition", "reason")
DEFAULT = "standard"
MISSING = "{dataset} {model}"
# of the models, in the order of the grid: Okabe and Ito's, distinguished with any kind of colour vision
COLOURS = ("#5D5D5D", "#E69F00", "#D55E00", "#009E73", "#0072B2", "#CC79A7")


@dataclass(frozen=True)
class MetricDisagreement(Study):
    """Collects what every run stored of its lists under every convention (``conventions_table=true``)."""

    artifacts: ClassVar[tuple[str, ...]] = ("conventions.csv",)
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    name: str
    k: int = 10  # the cutoff that is looked at

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the file
        """Return one row per metric and convention."""
        with (run.folder / "conventions.csv").open(newline="", encoding="utf-8") as file:
            return [_row(row) for row in csv.DictReader(file) if row["metric"].endswith(f"_at_{self.k}")]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return ranges, orders of the models and who computes what; missing runs are named."""
        lines = missing_runs(rows, MISSING)
        if measured := [row for row in rows if row["value"]]:
            lines += [
                "### How far one number spreads by definition alone",
                ranges(measured),
                "![Each metric of each model under every convention](ranges.png)",
                "### Does the order of the models change?",
                orders(measured),
                "### Can a worse model look better, if two papers use two definitions?",
                _overlaps(measured),
                "### Who computes what",
                _definitions(measured),
                *refusals([row for row in rows if row["metric"] and not row["value"]]),
            ]
        return "\n\n".join(lines)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the ranges as a figure."""
        measured = [row for row in rows if row["value"]]
        return {"ranges": plot_ranges(measured)} if measured else {}


def _row(stored: Row) -> Row:
    found = {"metric": stored["metric"], "convention": stored["convention"]}
    if not stored["value"]:
        return found | {"reason": stored["definition"]}
    return found | {"value": f"{float(stored['value']):.8g}", "definition": stored["definition"]}


def by_convention(rows: Sequence[Row], dataset: str, metric: str, model: str) -> dict[str, float]:
    """Return one model's values by convention."""
    found = where(rows, dataset=dataset, metric=metric, model=model)
    return {row["convention"]: float(row["value"]) for row in found}


def _of_models(rows: Sequence[Row]) -> Iterator[tuple[str, str, dict[str, dict[str, float]]]]:
    """Yield data set, metric, and the values of each model by convention."""
    models = distinct(rows, "model")
    for dataset, metric in product(distinct(rows, "dataset"), distinct(rows, "metric")):
        yield dataset, metric, {model: by_convention(rows, dataset, metric, model) for model in models}


def ranges(rows: Sequence[Row]) -> str:
    """Return how far each metric of each model spreads over the conventions."""
    cells = []
    for dataset, metric, own in _of_models(rows):
        values = list(own.values())
        n_distinct = max(len({f"{value:.4f}" for value in its.values()}) for its in values)
        cells.append([dataset, label(metric), str(len(values[0])), str(n_distinct), *map(_range, values)])
    header = ["data set", "metric", "conventions", "different values", *distinct(rows, "model")]
    return markdown_table(cells, header, right=header[2:]) + (
        "\n\nLowest – highest over the conventions, and the ratio of the two."
    )


def _range(values: dict[str, float]) -> str:
    if not values:
        return ""
    low, high = min(values.values()), max(values.values())
    ratio = f" (×{high / low:.2f})" if low > 0 else ""
    return f"{low:.4f} – {high:.4f}{ratio}" if f"{low:.4f}" != f"{high:.4f}" else f"{low:.4f}"


def orders(rows: Sequence[Row]) -> str:
    """Return the orders of the models by each metric, and how many conventions give each."""
    cells = []
    for dataset, metric, values in _of_models(rows):
        names = [name for name in distinct(rows, "convention") if all(name in own for own in values.values())]
        counted = Counter(
            " > ".join(sorted(values, key=lambda model: -values[model][name])) for name in names
        )
        told = "; ".join(f"{order} ({n})" for order, n in counted.most_common())
        cells.append([dataset, label(metric), told])
    return markdown_table(cells, ["data set", "metric", "order of the models (conventions that give it)"])


def _overlaps(rows: Sequence[Row]) -> str:
    """Return, of each metric, the two models farthest apart whose order two conventions reverse."""
    cells = []
    for dataset, metric, own in _of_models(rows):
        ranked = sorted((m for m in own if DEFAULT in own[m]), key=lambda model: -own[model][DEFAULT])
        if found := _farthest(ranked, own):
            cells.append([dataset, label(metric), *found])
    if not cells:
        return "No: the ranges of the models do not overlap."
    header = ["data set", "metric", "the worse model's highest", "the better model's lowest", "ranks apart"]
    said = f"Yes. Of each metric, the pair farthest apart in the order under `{DEFAULT}`:"
    return f"{said}\n\n{markdown_table(cells, header, right=header[-1:])}"


def _farthest(ranked: Sequence[str], values: dict[str, dict[str, float]]) -> tuple[str, str, str] | None:
    """Return the pair farthest apart whose order two conventions reverse, and how far; None without one."""
    pairs = combinations(range(len(ranked)), 2)
    for first, second in sorted(pairs, key=lambda pair: pair[0] - pair[1]):
        (better, its), (worse, others) = ((ranked[rank], values[ranked[rank]]) for rank in (first, second))
        low = min(its, key=lambda name: its[name])
        high = max(others, key=lambda name: others[name])
        if others[high] > its[low]:
            told = f"{worse} {others[high]:.4f} ({high})", f"{better} {its[low]:.4f} ({low})"
            return (*told, str(second - first))
    return None


def _definitions(rows: Sequence[Row]) -> str:
    """Return the definitions of each metric with the conventions that share them, on the first data set."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        names = found.setdefault((row["metric"], row["definition"]), [])
        if row["convention"] not in names:
            names.append(row["convention"])
    cells = [[label(metric), definition, ", ".join(names)] for (metric, definition), names in found.items()]
    table = markdown_table(cells, ["metric", "definition", "conventions"])
    return folded("Definitions and their conventions", table)


def refusals(rows: Sequence[Row]) -> list[str]:
    """Return which conventions refuse lists, how many sets of them, and the first reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        found.setdefault((row["metric"], row["convention"]), []).append(row["reason"])
    cells = [
        [label(metric), name, str(len(reasons)), reasons[0]] for (metric, name), reasons in found.items()
    ]
    header = ["metric", "convention", "sets of lists refused", "why, for the first"]
    return ["Conventions whose own code stops at such lists:", markdown_table(cells, header)] if cells else []


def plot_ranges(rows: Sequence[Row]) -> "Figure":
    """Return one panel per data set; a line spans what the conventions make of one set of lists."""
    from recgauge.report.figures.style import new_figure

    datasets, metrics = distinct(rows, "dataset"), distinct(rows, "metric")
    height = 1.2 + 0.15 * (len(distinct(rows, "model")) + 1) * len(metrics)
    with new_figure(None, height=height, panels=len(datasets)) as (figure, axes):
        for panel, dataset in zip(axes, datasets, strict=True):
            _draw(panel, rows, dataset)
            names = [label(metric) for metric in metrics] if panel is axes[0] else [""] * len(metrics)
            panel.set_yticks(range(len(metrics)), names)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=6)
        return figure


def _draw(panel: "Axes", rows: Sequence[Row], dataset: str) -> None:
    models, metrics = distinct(rows, "model"), distinct(rows, "metric")
    for number, (model, colour) in enumerate(zip(models, COLOURS, strict=False), start=1):
        for row, metric in enumerate(metrics):
            values = list(by_convention(rows, dataset, metric, model).values())
            if values:
                y = row + number / (len(models) + 1) - 0.5
                panel.plot([min(values), max(values)], [y, y], color=colour, linewidth=2, alpha=0.5)
                name = model if row == 0 else None
                panel.plot(values, [y] * len(values), "o", color=colour, markersize=4, alpha=0.7, label=name)
    for border in range(1, len(metrics)):
        panel.axhline(border - 0.5, color="#C8C8C8", linewidth=0.8)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.set_ylim(len(metrics) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.set_title(dataset)
    panel.set_xlabel("value under each convention")
