"""The same models under full, sampled and test-only candidates, and whether their order is the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recgauge.report import markdown_table
from recgauge.runs.outcome import JobOutcome
from recgauge.studies import Row, Study, distinct, label, missing_runs, number_row, where
from recgauge.studies.ranks import agreement_table, plot_ranks, rank_table, turned, values_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

COLUMNS = ("dataset", "candidates", "model", "metric", "value", "stderr", "definition", "reason")
FULL = "all"
SURE = 2
SHOWN = "ndcg"
"""The metric whose values and ranks are shown in full; the others are in results.csv."""


@dataclass(frozen=True)
class SampledMetrics(Study):
    """Collects the metrics of every model under every candidate rule."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS
    name: str
    k: int = 10  # the cutoff that is looked at

    def about(self, run: JobOutcome) -> Row:
        """Return data set, candidate rule and model."""
        return {"dataset": run.names.get("dataset", ""), "candidates": _rule(run), "model": _model(run)}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return one row per metric."""
        return [number_row(entry) for entry in record.results if entry.k == self.k]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return values, rank agreement and what changes in the order; missing runs are named."""
        lines = missing_runs(rows, "{model} under {candidates}")
        if found := [row for row in rows if row["value"]]:
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
                f"### Which pairs of models change order, by {label(shown)}",
                _turned(found, shown),
            ]
        return "\n\n".join(lines)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the ranks of the models as a figure."""
        found = [row for row in rows if row["value"]]
        if not found:
            return {}
        ticks = {rule: rule.replace(" by=", "\nby ") for rule in distinct(found, "candidates")}
        return {"ranks": plot_ranks(found, "candidates", _shown(found), ticks)}


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
