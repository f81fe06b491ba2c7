"""Whether the best of some models would be another one under other choices of the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recgauge.comparison.runs import reference_key
from recgauge.comparison.stability import AxisOrders, Stability, compare_orders
from recgauge.comparison.stability_axes import reference_runs, stability_of
from recgauge.report import render_markdown
from recgauge.report.blocks import Row as TableRow
from recgauge.report.blocks import TableBlock
from recgauge.report.stability_tables import choice_table
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import LISTS, PER_USER, TEST
from recgauge.studies import Row, Study, distinct, folded, where

from .list_axes import list_axes

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
        rows = [row for axis in (self.axes(stored) if len(stored) > 1 else ()) for row in rows_of(axis)]
        missing = [run for run in runs if run.record is None]
        return rows + [no_order() | {"model": run.label, "reason": run.short_reason} for run in missing]

    def axes(self, runs: Sequence[FinishedRun]) -> list[AxisOrders]:
        """Return the choices that runs and their lists show."""
        base = reference_runs(runs)
        of_runs = stability_of(runs, self.metric).axes
        of_lists = compare_orders(list_axes(base, reference_key(base, self.metric))).axes
        first = [axis for axis in of_runs if axis.axis in ("metric", "cutoff")]
        return [*first, *of_lists, *(axis for axis in of_runs if axis not in first)]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return what becomes of order and winner along each choice; missing runs are named."""
        lines = [f"- open: {row['model']}: {row['reason']}" for row in where(rows, choice="")]
        parts = ["\n".join(lines)] if lines else []
        if stability := read_rows(rows):
            parts += [
                render_markdown([replace(choice_table(stability), caption="")]),
                "![Share of pairs of models that turn along each choice](turns.png)",
                folded(
                    "The order of the models under every option",
                    render_markdown([replace(option_table(stability), caption="")]),
                ),
            ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the share of pairs that turn along each choice as a figure."""
        from .turns import plot_stability

        stability = read_rows(rows)
        return {"turns": plot_stability(stability)} if stability else {}


def option_table(stability: Stability) -> TableBlock:
    """Return one row per order of models; options of a choice that give the same order share it."""
    rows: list[TableRow] = []
    for axis in stability.axes:
        groups: dict[tuple[str, str], list[str]] = {}
        for option in axis.options:
            groups.setdefault((axis.order_text(option), axis.turns_text(option)), []).append(option)
        for (order, turned), options in groups.items():
            users = [axis.n_users[axis.options.index(option)] for option in options]
            n_users = dict.fromkeys(f"{n:,}" for n in (min(users), max(users)))
            lowest = f"{min(map(axis.agreement, options)):.2f}"
            rows.append((axis.axis, ", ".join(options), "–".join(n_users), order, lowest, turned))
    return TableBlock(
        "The order under each option",
        ("choice", "option", "users", "order", "τ", "what turns"),
        tuple(rows),
        words=("option", "order", "what turns"),
    )


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
                    other for other, is_below in zip(axis.models, below[j], strict=True) if is_below
                ),
            }
            rows.append(no_order() | about)
    return rows


def read_rows(rows: Sequence[Row]) -> Stability | None:
    """Return the orders that rows tell; None where no run has ended."""
    finished = [row for row in rows if row["choice"]]
    axes = tuple(_axis(where(finished, choice=choice)) for choice in distinct(finished, "choice"))
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
