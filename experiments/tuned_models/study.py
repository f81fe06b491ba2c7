"""The study of tuned models: what each reaches on test rows, and what choosing and training it cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, Study, folded, label, missing_runs, number_row, table, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

MEASURED = ("search s", "fit s", "recommend s")
COSTS = ("trials", *MEASURED)
COLUMNS = (
    *("dataset", "model", "metric", "value", "stderr", *COSTS),
    *("decided by", "validation", "chosen", "definition", "reason"),
)


@dataclass(frozen=True)
class TunedModels(Study):
    """Puts tuned models side by side: numbers, budgets, costs and the settings that were chosen."""

    measured: ClassVar[tuple[str, ...]] = MEASURED
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    name: str
    shown: tuple[str, ...] = ("ndcg_at_10",)  # keys of results in the table, the one that orders it first

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return one row per result that is shown."""
        entries = [entry for key in self.shown if (entry := record.result(key)) is not None]
        return [_costs(record) | number_row(entry) for entry in entries]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the table, best model first, the total of the searches, the figure and what was chosen."""
        parts = missing_runs(rows, "{model} on {dataset}")
        best = sorted(where(rows, metric=self.shown[0]), key=lambda row: -float(row["value"]))
        if best:
            titles = (
                {"model": "model"} | {key: label(key) for key in self.shown} | {name: name for name in COSTS}
            )
            lines = [self._line(row, rows) for row in best]
            seconds = math.fsum(float(row["search s"] or 0) for row in best)
            parts += [
                table(lines, titles, right=[*titles.values()][1:]),
                "± is the standard error of the mean over users. The searches took "
                f"{seconds / 60:.0f} minutes altogether.",
                "![Quality and cost of the tuned models](cost.png)",
                folded("Chosen settings, and their value on validation rows", _chosen(best)),
            ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the models' quality over the seconds that training them takes."""
        found = where(rows, metric=self.shown[0])
        return {"cost": plot_costs(found)} if found else {}

    def _line(self, row: Row, rows: Sequence[Row]) -> Row:
        own = {found["metric"]: found for found in where(rows, dataset=row["dataset"], model=row["model"])}
        cells = {key: f"{float(found['value']):.4f}" for key, found in own.items()}
        if row["stderr"]:
            cells[self.shown[0]] += f" ± {float(row['stderr']):.4f}"
        return dict.fromkeys(self.shown, "") | cells | {name: row[name] for name in ("model", *COSTS)}


def _costs(record: "RunRecord") -> Row:
    """Return what the run cost; a model with nothing to search has no search."""
    found = {f"{stage} s": f"{record.seconds.get(stage, 0.0):.3g}" for stage in ("fit", "recommend")}
    if (search := record.search) is not None:
        found |= {
            "trials": str(len(search.trials)),
            "search s": f"{search.seconds:.3g}",
            "decided by": search.metric,
            "validation": f"{search.chosen.value:.4f}",
            "chosen": search.chosen.words,
        }
    return found


def _chosen(rows: Sequence[Row]) -> str:
    titles = {name: name for name in ("model", "decided by", "validation", "chosen")}
    return table([row for row in rows if row["chosen"]], titles, right=["validation"])


def plot_costs(rows: Sequence[Row]) -> "Figure":
    """Return each model as a named point: seconds of training and recommending, and its value."""
    from recgauge.report.figures.style import PALETTE, new_figure, write_beside

    points = {
        row["model"]: (float(row["fit s"]) + float(row["recommend s"]), float(row["value"])) for row in rows
    }
    with new_figure(None, height=4.6) as (figure, (axes,)):
        axes.plot(*zip(*points.values(), strict=True), "o", color=PALETTE[0], markersize=5)
        axes.set_xscale("log")
        axes.set_xlabel("seconds of training and recommending")
        axes.set_title(f"{label(rows[0]['metric'])} on test rows", loc="left")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.margins(x=0.16)
        most = max(value for _, value in points.values())
        axes.set_ylim(bottom=-0.05 * most)
        for name, (x, y) in points.items():
            others = [point for key, point in points.items() if key != name]
            gaps = [(math.hypot(math.log(x / u), 50 * (y - v) / most), u) for u, v in others]
            left = min(gaps, default=(0, x))[1] > x  # away from the nearest point
            look: dict[str, Any] = {"ha": "right" if left else "left", "va": "center"}
            write_beside(axes, name, (x, y), (-6 if left else 6, 0), **look)
    return figure
