"""The study of unequal tuning: which model is best, and which pairs turn, if not all are tuned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recgauge.runs.folder import JobOutcome
from recgauge.studies import (
    Row,
    Study,
    distinct,
    folded,
    label,
    missing_runs,
    number_row,
    plain_table,
    where,
)
from recgauge.utils.checks import DoubleArray
from recgauge.utils.randomness import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

COLUMNS = (
    *("dataset", "model", "seed", "trials", "metric", "value", "stderr"),
    *("validation", "chosen", "drawn", "definition", "reason"),
)
_N_DRAWS, _TUNED = 10_000, 20
Values = dict[str, dict[int, float]]
"""Mean over seeds by model and number of trials."""


@dataclass(frozen=True)
class TunedOrNot(Study):
    """Puts models of several budgets of tuning against each other."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS
    name: str
    metric: str = "ndcg_at_10"

    def about(self, run: JobOutcome) -> Row:
        """Return data set, model, seed and budget."""
        budget = run.settings.get("tune", {}).get("trials", "")
        return super().about(run) | {"seed": str(run.settings.get("seed", "")), "trials": str(budget)}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return the row of the metric, with what the search chose."""
        entry, search = record.result(self.metric), record.search
        if entry is None or search is None:
            return []
        drawn = [trial.value for trial in search.trials[1:] if trial.value is not None]
        told = {
            "validation": f"{search.chosen.value:.4f}",
            "chosen": search.chosen.words,
            "drawn": " ".join(f"{value:.5f}" for value in drawn),
        }
        return [number_row(entry) | told]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return values by budget, who wins if who was tuned, the pairs that turn, and what was chosen."""
        parts = missing_runs(rows, "{model} with {trials} trials, seed {seed}")
        if not parts:
            values = values_of(rows)
            parts = [
                f"### {label(self.metric)} on test rows by trials of tuning",
                _by_budget(rows, values),
                "![Value of each model by trials of tuning](budgets.png)",
                "### Who is best if who was tuned",
                _winners(values),
                "### How many pairs of models turn",
                _turns(values),
                "### And if the others are taken with any settings",
                _careless(rows),
                folded("Chosen settings, and their value on validation rows", _chosen(rows)),
            ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return each model's values by budget."""
        return {"budgets": plot_budgets(values_of(rows), self.metric)} if not where(rows, metric="") else {}


def values_of(rows: Sequence[Row]) -> Values:
    """Return the means over seeds."""
    return {
        model: {
            int(trials): fmean(float(row["value"]) for row in where(rows, model=model, trials=trials))
            for trials in distinct(rows, "trials")
        }
        for model in distinct(rows, "model")
    }


def order_of(values: Values, trials: Mapping[str, int]) -> list[str]:
    """Return the models, best first, each with its own number of trials.

    Examples
    --------
    >>> values = {"svd": {1: 0.3, 50: 0.35}, "ease": {1: 0.32, 50: 0.34}}
    >>> order_of(values, {"svd": 1, "ease": 1}), order_of(values, {"svd": 50, "ease": 1})
    (['ease', 'svd'], ['svd', 'ease'])
    """
    return sorted(values, key=lambda model: -values[model][trials[model]])


def depends(values: Values, a: str, b: str, trials: int) -> bool:
    """Return whether each of two models is above the other if it alone is tuned.

    Examples
    --------
    >>> depends({"svd": {1: 0.3, 50: 0.35}, "ease": {1: 0.32, 50: 0.34}}, "svd", "ease", 50)
    True
    """
    none = min(values[a])
    return values[a][trials] > values[b][none] and values[b][trials] > values[a][none]


def _budget(trials: int, none: int) -> str:
    return "as they are" if trials == none else f"{trials} trials"


def _by_budget(rows: Sequence[Row], values: Values) -> str:
    budgets = list(next(iter(values.values())))
    none, most = budgets[0], budgets[-1]
    lines = []
    for model in sorted(values, key=lambda model: -values[model][most]):
        cells = {_budget(trials, none): f"{value:.4f}" for trials, value in values[model].items()}
        gains = [
            float(tuned["value"]) - float(plain["value"])
            for tuned, plain in zip(
                where(rows, model=model, trials=str(most)),
                where(rows, model=model, trials=str(none)),
                strict=True,
            )
        ]
        lines.append({"model": model} | cells | {"gain": f"{fmean(gains):+.4f}"})
    n_seeds = len(distinct(rows, "seed"))
    stderr = fmean(float(row["stderr"]) for row in rows)
    return f"{plain_table(lines)}\n\n" + (
        f"{'One seed' if n_seeds == 1 else f'Means over {n_seeds} seeds'}; gain: of {most} trials. Standard "
        f"error over users of one value is {stderr:.4f}."
    )


def _winners(values: Values) -> str:
    """Return, for each model, what becomes of it if it alone is tuned."""
    none, most = min(next(iter(values.values()))), max(next(iter(values.values())))
    lines = []
    for tuned, others in (("nobody", none), ("everybody", most)):
        order = order_of(values, dict.fromkeys(values, others))
        lines.append({"tuned": tuned, "best": order[0], "its rank": "", "order": " > ".join(order)})
    for model in values:
        order = order_of(values, dict.fromkeys(values, none) | {model: most})
        rank = str(order.index(model) + 1)
        lines.append(
            {"tuned": f"{model} alone", "best": order[0], "its rank": rank, "order": " > ".join(order)}
        )
    return f"{plain_table(lines, 4)}\n\nTuned: with {most} trials. Its rank: of the model that is named."


def _turns(values: Values) -> str:
    """Return by budget how many pairs turn if both are tuned, and how many if either is tuned alone."""
    budgets = list(next(iter(values.values())))
    none, most, pairs = budgets[0], budgets[-1], list(combinations(values, 2))

    def ahead(a: str, b: str, trials: int) -> bool:
        return values[a][trials] > values[b][trials]

    lines = []
    for trials in budgets[1:]:
        either = [f"{a}, {b}" for a, b in pairs if depends(values, a, b, trials)]
        lines.append(
            {
                "trials": str(trials),
                "other than untuned": str(sum(ahead(*p, trials) != ahead(*p, none) for p in pairs)),
                f"other than with {most}": str(sum(ahead(*p, trials) != ahead(*p, most) for p in pairs)),
                "each wins if it alone is tuned": str(len(either)),
                "which": "; ".join(either),
            }
        )
    return f"{plain_table(lines, 0)}\n\nOf {len(pairs)} pairs of models."


def _careless(rows: Sequence[Row]) -> str:
    """Return by model what drawn settings are worth, and how often it is best if it alone is tuned."""
    most = max(distinct(rows, "trials"), key=int)
    drawn = {
        row["model"]: np.array(row["drawn"].split(), np.float64)
        for row in where(rows, trials=most, seed=rows[0]["seed"])
    }
    if not all(map(len, drawn.values())):
        return "No settings were drawn."
    rng = stream(0, "drawn settings")
    one, best = (
        {model: rng.choice(values, (_N_DRAWS, n)).max(axis=1) for model, values in drawn.items()}
        for n in (1, _TUNED)
    )
    lines = []
    for model in sorted(drawn, key=lambda model: -best[model].mean()):
        others = np.array([values for name, values in one.items() if name != model])
        tuned = np.array([values for name, values in best.items() if name != model])
        lines.append(
            {
                "model": model,
                "one setting": f"{one[model].mean():.4f}",
                f"best of {_TUNED}": f"{best[model].mean():.4f}",
                "best, if nobody is tuned": _share(one[model], others),
                "if it alone is": _share(best[model], others),
                "if all are": _share(best[model], tuned),
                "if all but it": _share(one[model], tuned),
            }
        )
    return f"{plain_table(lines)}\n\n" + (
        f"Means of {label(rows[0]['metric'])} on validation rows, and how often the model is best. "
        f"Settings are drawn {_N_DRAWS:,} times from the trials: one for a model that is not tuned, the "
        f"best of {_TUNED} for one that is. A trial that was pruned has its last value."
    )


def _share(own: DoubleArray, others: DoubleArray) -> str:
    return f"{100 * float((own > others.max(axis=0)).mean()):.0f} %"


def _chosen(rows: Sequence[Row]) -> str:
    names = ("model", "seed", "trials", "validation", "chosen")
    return plain_table([{name: row[name] for name in names} for row in rows], 5)


def plot_budgets(values: Values, metric: str) -> "Figure":
    """Return a row for each model, best tuned on top, with a mark for each number of trials."""
    from recgauge.report.figures.style import GREY, MARKERS, PALETTE, name_rows, new_figure

    budgets = list(next(iter(values.values())))
    models = sorted(values, key=lambda model: -values[model][budgets[-1]])
    title = f"{label(metric)} of each model, by trials of tuning"
    with new_figure(title, height=1.6 + 0.42 * len(models)) as (figure, (axes,)):
        for row, model in enumerate(models):
            own = values[model].values()
            axes.plot([min(own), max(own)], [row, row], color=GREY, linewidth=1, zorder=1)
        for i, trials in enumerate(budgets):
            face = "white" if i == 0 else PALETTE[i]
            heights = [values[model][trials] for model in models]
            look: dict[str, Any] = {"color": PALETTE[i], "markerfacecolor": face, "zorder": 9 - i}
            axes.plot(
                heights,
                range(len(models)),
                MARKERS[i],
                markersize=4 + 1.5 * i,
                label=_budget(trials, budgets[0]),
                **look,
            )
        name_rows(axes, models)
        axes.margins(x=0.05)
        axes.set_xlabel(f"{label(metric)} on test rows, best tuned model on top")
        figure.legend(loc="outside lower left", ncols=len(budgets))
    return figure
