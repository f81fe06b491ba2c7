"""The order of models under every option of a choice, as rows of results.csv and back."""

from collections.abc import Sequence

import numpy as np

from recgauge.comparison.stability import AxisOrders, Stability
from recgauge.studies import Row, distinct, where

COLUMNS = ("choice", "option", "n_users", "model", "value", "higher_is_better", "surely_below", "reason")
_BETWEEN = "; "


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
