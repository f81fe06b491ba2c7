"""Whether the best of some models would be another one under other choices of the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recgauge.comparison.stability import AxisOrders, Stability
from recgauge.comparison.stability_axes import stability_of
from recgauge.report import render_markdown
from recgauge.report.stability_tables import choice_table, claims, option_table
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import LISTS, PER_USER, TEST
from recgauge.studies import Row, Study, distinct, folded, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("choice", "option", "n_users", "model", "value", "higher_is_better", "surely_below", "reason")
_BETWEEN = "; "


@dataclass(frozen=True)
class WinnerStability(Study):
    """Compares the order of models along every choice that the runs and their lists show."""

    artifacts: ClassVar[tuple[str, ...]] = (LISTS, TEST, PER_USER)
    name: str
    metric: str = "ndcg_at_10"

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:  # noqa: ARG002 - has no inputs
        """Return one row per choice, option and model, and one with the reason for a missing run.

        ``surely_below`` names the models that are above this one beyond noise.
        """
        stored = [FinishedRun(run.record, run.folder) for run in runs if run.record is not None]
        found = stability_of(stored, self.metric).axes if len(stored) > 1 else ()
        rows = [row for axis in found for row in rows_of(axis)]
        missing = [run for run in runs if run.record is None]
        return rows + [no_order() | {"model": run.label, "reason": run.short_reason} for run in missing]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return what becomes of order and winner along each choice; missing runs are named."""
        lines = [f"- open: {row['model']}: {row['reason']}" for row in where(rows, choice="")]
        parts = ["\n".join(lines)] if lines else []
        if found := read_rows(rows):
            parts += [
                "\n".join(f"- {claim}" for claim in claims(found)),
                render_markdown([replace(choice_table(found), caption="")]),
                "![Share of pairs of models that turn along each choice](turns.png)",
                folded(
                    "The order of the models under every option",
                    render_markdown([replace(option_table(found), caption="")]),
                ),
            ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the share of pairs that turn along each choice as a figure."""
        from recgauge.report.figures.compared import plot_stability

        found = read_rows(rows)
        return {"turns": plot_stability(found)} if found else {}


def no_order() -> Row:
    """Return a row without values."""
    return dict.fromkeys(COLUMNS, "")


def rows_of(axis: AxisOrders) -> list[Row]:
    """Return one row per option and model; ``surely_below`` names the models above it beyond noise."""
    rows = []
    for i, option in enumerate(axis.options):
        below = axis.significant[i] & (axis.directions[i] < 0)
        for j, model in enumerate(axis.models):
            about = {
                "choice": axis.axis,
                "option": option,
                "n_users": str(axis.n_users[i]),
                "model": model,
                "value": f"{axis.values[i, j]:.10g}",
                "higher_is_better": str(axis.higher_is_better[i]).lower(),
                "surely_below": _BETWEEN.join(
                    other for other, one in zip(axis.models, below[j], strict=True) if one
                ),
            }
            rows.append(no_order() | about)
    return rows


def read_rows(rows: Sequence[Row]) -> Stability | None:
    """Return the orders that rows tell; None where no run has ended."""
    known = [row for row in rows if row["choice"]]
    axes = tuple(_axis(where(known, choice=choice)) for choice in distinct(known, "choice"))
    return Stability(axes) if axes else None


def _axis(rows: Sequence[Row]) -> AxisOrders:
    options, models = distinct(rows, "option"), distinct(rows, "model")
    p = np.ones((len(options), len(models), len(models)))
    values = np.empty((len(options), len(models)))
    for row in rows:
        i, j = options.index(row["option"]), models.index(row["model"])
        values[i, j] = float(row["value"])
        for above in filter(None, row["surely_below"].split(_BETWEEN)):
            p[i, j, models.index(above)] = p[i, models.index(above), j] = 0.0
    first = [where(rows, option=option)[0] for option in options]
    return AxisOrders(
        rows[0]["choice"],
        tuple(options),
        tuple(models),
        values,
        p,
        tuple(row["higher_is_better"] == "true" for row in first),
        tuple(int(row["n_users"]) for row in first),
    )
