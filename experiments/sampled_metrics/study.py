"""The same models under full, sampled and test-only candidates: their order, and what corrections mend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recgauge.report import markdown_table
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import PER_USER
from recgauge.studies import Row, Study, distinct, folded, label, missing_runs, number_row, where
from recgauge.utils.checks import DoubleArray

from .corrections import CORRECTIONS, METRICS, corrections, draw
from .one_item import OthersOfOne, RankOfOne
from .ranks import agreement_table, plot_ranks, rank_table, ranks_of, turned, values_of

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

COLUMNS = (
    *("dataset", "candidates", "model", "metric", "value", "stderr", "definition", "reason"),
    *("negatives", "correction", "spread", "turned"),
)
FULL = "all"
SURE = 2
ALL = "all"
"""What stands in the column negatives where the rank is exact."""
NAMES = {"none": "no correction", "rank": "estimated rank"}
"""What corrections are called on the page, the others by their own names."""
_EXAMPLE = "100"
SHOWN = "ndcg"
"""The metric whose values and ranks are shown in full; the others are in results.csv."""


@dataclass(frozen=True)
class SampledMetrics(Study):
    """Collects the metrics of every model under every candidate rule, and corrects sampled ranks."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS
    artifacts: ClassVar[tuple[str, ...]] = (PER_USER,)
    name: str
    k: int = 10  # the cutoff that is looked at
    negatives: Sequence[int] = (10, 20, 50, 100, 200, 500, 1000)  # how many are drawn for one relevant item
    draws: int = 100  # how often

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return one row per run and metric, then those of one relevant item of each user: see `one_item`."""
        rows = super().rows(runs, source)
        full = [run for run in runs if run.record is not None and _rule(run) == FULL]
        return rows + (self._one_item(full) if full and self.negatives else [])

    def about(self, run: JobOutcome) -> Row:
        """Return data set, candidate rule and model."""
        return {"dataset": run.names.get("dataset", ""), "candidates": _rule(run), "model": _model(run)}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return one row per metric."""
        return [number_row(entry) for entry in record.results if entry.k == self.k]

    def _one_item(self, runs: Sequence[JobOutcome]) -> list[Row]:
        """Return the exact value of each model, and what draws of negatives make of it, also corrected."""
        ranks, others = zip(*map(_ranks, runs), strict=True)
        exact = {name: [float(metric(each).mean()) for each in ranks] for name, metric in METRICS.items()}
        about = [self.about(run) for run in runs]
        rows = [
            dict.fromkeys(COLUMNS, "") | one | {"metric": name, "value": f"{value:.6g}", "negatives": ALL}
            for name, values in exact.items()
            for one, value in zip(about, values, strict=True)
        ]
        for m in self.negatives:
            estimates = _estimates(ranks, others, m, self.draws)
            for (name, correction), values in estimates.items():
                wrong = _turned_in_draws(np.array(exact[name]), values)
                for one, drawn, pairs in zip(about, values, wrong, strict=True):
                    rows.append(
                        dict.fromkeys(COLUMNS, "")
                        | one
                        | {"metric": name, "value": f"{drawn.mean():.6g}", "negatives": str(m)}
                        | {"correction": correction, "spread": f"{drawn.std(ddof=1):.3g}"}
                        | {"turned": f"{pairs:.4g}"}
                    )
        return rows

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return values, rank agreement, what changes in the order, corrections; missing runs are named."""
        lines = missing_runs(rows, "{model} under {candidates}")
        if found := _of_lists(rows):
            shown = _shown(found)
            lines += [
                f"### {label(shown)} of the same models under each candidate rule",
                rank_table(found, "candidates", shown, FULL),
                f"![Ranks of the models by {label(shown)}](ranks.png)",
                "### Do the rules agree on the order?",
                agreement_table(found, "candidates", FULL),
                "Kendall's τ between the order of the models under the whole catalogue and under the rule "
                "(1: the same order, 0: unrelated, -1: the reverse); after it, how many pairs of models "
                "change order, and the best model where it is another one.",
                folded(f"Which pairs of models change order, by {label(shown)}", _turned(found, shown)),
            ]
        if drawn := _of_one_item(rows):
            lines += ["### What corrections mend", *_told_corrections(drawn)]
        return "\n\n".join(lines)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the ranks of the models, and errors by the number of negatives."""
        figures = {}
        if found := _of_lists(rows):
            ticks = {rule: rule.replace(" by=", "\nby ") for rule in distinct(found, "candidates")}
            figures["ranks"] = plot_ranks(found, "candidates", _shown(found), ticks)
        if drawn := _of_one_item(rows):
            figures["corrections"] = plot_corrections(drawn)
        return figures


def _of_lists(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["value"] and not row["negatives"]]


def _of_one_item(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["negatives"]]


def _rule(run: JobOutcome) -> str:
    """Name the candidate rule with what distinguishes it from others."""
    name = run.names.get("candidates", "")
    settings = run.settings.get("candidates", {})
    return f"{name} {settings['n']} by={settings['by']}" if name == "sampled" else name


def _model(run: JobOutcome) -> str:
    """Name the model; several of a kind differ in their number of factors."""
    name = run.names.get("model", "")
    return f"{name} {run.settings['model']['n_factors']}" if name == "svd" else name


def _shown(rows: Sequence[Row]) -> str:
    return next(metric for metric in distinct(rows, "metric") if metric.startswith(SHOWN))


def _ranks(run: JobOutcome) -> "tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]":
    """Return the rank of one relevant item of each user, and how many other candidates the user has."""
    assert run.record is not None
    values = FinishedRun(run.record, run.folder).per_user([RankOfOne.name, OthersOfOne.name])
    ranks, others = (values[name].to_numpy(np.int64) for name in values.columns)
    return ranks, others


def _estimates(
    ranks: "Sequence[npt.NDArray[np.int64]]", others: "Sequence[npt.NDArray[np.int64]]", m: int, n_draws: int
) -> dict[tuple[str, str], DoubleArray]:
    """Return, by metric and correction, each model's mean over users in each draw: (models, draws).

    Corrections are made for numbers of items rounded to hundreds.
    """
    found = {(name, how): np.zeros((len(ranks), n_draws)) for name in METRICS for how in CORRECTIONS}
    sampled = [
        draw(of_model, rest, m, np.random.default_rng((m, model)), n_draws)
        for model, (of_model, rest) in enumerate(zip(ranks, others, strict=True))
    ]
    for n in np.unique(np.round((others[0] + 1) / 100) * 100):
        values = corrections(int(n), m)
        for model, rest in enumerate(others):
            chosen = sampled[model][:, np.round((rest + 1) / 100) * 100 == n] - 1
            for about, totals in found.items():
                totals[model] += values[about][chosen].sum(axis=1)
    return {about: totals / len(others[0]) for about, totals in found.items()}


def _turned_in_draws(exact: DoubleArray, drawn: DoubleArray) -> DoubleArray:
    """Return of each model how many others are in another order with it than exactly, the mean over draws.

    A pair that a draw does not tell apart counts half.
    """
    signs = np.sign(exact[:, None] - exact[None, :])[:, :, None]
    agree = signs * np.sign(drawn[:, None, :] - drawn[None, :, :])
    wrong = np.where(signs == 0, 0.0, (1.0 - agree) / 2.0)
    of_models: DoubleArray = wrong.sum(axis=1).mean(axis=1)
    return of_models


def summed_up(rows: Sequence[Row], metric: str, m: str, correction: str) -> tuple[float, float, float]:
    """Return bias and spread, root mean squares over the models, and the pairs that turn in a draw."""
    exact = {row["model"]: float(row["value"]) for row in where(rows, metric=metric, negatives=ALL)}
    found = where(rows, metric=metric, negatives=m, correction=correction)
    bias = math.sqrt(fmean((float(row["value"]) - exact[row["model"]]) ** 2 for row in found))
    spread = math.sqrt(fmean(float(row["spread"]) ** 2 for row in found))
    return bias, spread, math.fsum(float(row["turned"]) for row in found) / 2


def _told_corrections(rows: Sequence[Row]) -> list[str]:
    shown, *others = distinct(rows, "metric")
    n_pairs = math.comb(len(distinct(rows, "model")), 2)
    mean = fmean(float(row["value"]) for row in where(rows, metric=shown, negatives=ALL))
    text = (
        f"{label(shown)} with one relevant item for each user: bias ± spread over draws of negatives, as "
        f"root mean squares over the models, whose mean value is {mean:.4f}; then Kendall's τ with the exact "
        f"order and, in brackets, how many of the {n_pairs} pairs of models a draw puts in another order."
    )
    more = "\n\n".join(f"{label(metric)}:\n\n{_table(rows, metric)}" for metric in others)
    models = folded(f"{label(shown)} of the models with {_EXAMPLE} negatives", _values(rows, shown))
    return [
        _table(rows, shown),
        text,
        f"![Error of {label(shown)} and pairs that turn, by correction](corrections.png)",
        folded("The same of the other metrics", more),
        models,
    ]


def _table(rows: Sequence[Row], metric: str) -> str:
    n_pairs = math.comb(len(distinct(rows, "model")), 2)
    cells = []
    for m in distinct(rows, "negatives"):
        if m == ALL:
            continue
        found = [summed_up(rows, metric, m, correction) for correction in CORRECTIONS]
        told = [f"{b:.4f} ± {s:.4f}; {1 - 2 * p / n_pairs:.2f} ({p:.1f})" for b, s, p in found]
        cells.append([m, *told])
    header = [NAMES.get(correction, correction) for correction in CORRECTIONS]
    return markdown_table(cells, ["negatives", *header], right=["negatives", *header])


def _values(rows: Sequence[Row], metric: str) -> str:
    """Return the models' values, exact and with a common number of negatives."""
    exact = ranks_of(values_of(rows, metric, negatives=ALL))
    told = {ALL: values_of(rows, metric, negatives=ALL)}
    told |= {
        NAMES.get(how, how): values_of(rows, metric, negatives=_EXAMPLE, correction=how)
        for how in CORRECTIONS
    }
    cells = [[model, *(f"{values[model]:.4f}" for values in told.values())] for model in exact]
    header = ["exact", *list(told)[1:]]
    return markdown_table(cells, ["model", *header], right=header)


def clear(rows: Sequence[Row], rule: str, metric: str, pair: tuple[str, str]) -> bool:
    """Return whether the values of two models are more than `SURE` standard errors apart under a rule.

    The users are the same for all models, which makes differences surer than taken here.
    """
    one, other = (where(rows, candidates=rule, metric=metric, model=model)[0] for model in pair)
    if not (one["stderr"] and other["stderr"]):
        return False
    apart = abs(float(one["value"]) - float(other["value"]))
    return apart > SURE * math.hypot(float(one["stderr"]), float(other["stderr"]))


def _turned(rows: Sequence[Row], metric: str) -> str:
    full = values_of(rows, metric, candidates=FULL)
    cells = []
    for rule in _other_rules(rows):
        pairs = turned(full, values_of(rows, metric, candidates=rule))
        sure = {pair for pair in pairs if clear(rows, FULL, metric, pair) and clear(rows, rule, metric, pair)}
        told = {pair: f"{pair[1]} above {pair[0]}" for pair in pairs}
        listed = "; ".join(f"**{text}**" if pair in sure else text for pair, text in told.items())
        cells.append([rule, str(len(pairs)), str(len(sure)), listed or "none"])
    header = ["candidates", "pairs", "of them clear", "which"]
    return markdown_table(cells, header, right=header[1:3]) + (
        f"\n\nClear, in bold: under both rules the two values are more than {SURE} standard errors apart."
    )


def _other_rules(rows: Sequence[Row]) -> list[str]:
    return [rule for rule in distinct(rows, "candidates") if rule != FULL]


def plot_corrections(rows: Sequence[Row]) -> "Figure":
    """Return error and pairs in another order over the number of negatives, a line for each correction."""
    from recgauge.report.figures.style import REFERENCE, line_look, new_figure

    shown, recall, _ = distinct(rows, "metric")
    drawn = [m for m in distinct(rows, "negatives") if m != ALL]
    n_pairs = math.comb(len(distinct(rows, "model")), 2)
    title = "One relevant item among sampled negatives, uncorrected and corrected"
    with new_figure(title, height=4.1, panels=3) as (figure, (error, order, of_recall)):
        for number, correction in enumerate(CORRECTIONS):
            name = NAMES.get(correction, correction)
            look = line_look(number, marker=True)
            found = [summed_up(rows, shown, m, correction) for m in drawn]
            heights = {error: [math.hypot(b, s) for b, s, _ in found], order: [p for _, _, p in found]}
            heights[of_recall] = [summed_up(rows, recall, m, correction)[2] for m in drawn]
            for axes, values in heights.items():
                axes.plot([int(m) for m in drawn], values, label=name, **look)
        mean = fmean(float(row["value"]) for row in where(rows, metric=shown, negatives=ALL))
        error.axhline(mean, label="mean of exact values", **REFERENCE)
        error.set_title(f"error of {label(shown)}")
        order.set_title(f"{label(shown)}: wrong pairs of {n_pairs}")
        of_recall.set_title(f"{label(recall)}: wrong pairs")
        error.set_yscale("log")
        error.yaxis.set_major_formatter("{x:g}")
        for axes in (error, order, of_recall):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set_xlabel("negatives")
        for axes in (order, of_recall):
            axes.set_ylim(bottom=0)
        handles, names = error.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        return figure
