"""The study of repeats: how often few seeds or folds name another model as the better one than all do."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recgauge.comparison.tests_of_pairs import paired_t
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import PER_USER
from recgauge.studies import Row, Study, folded, label, missing_runs, number_row, plain_table, where
from recgauge.utils.checks import DoubleArray

from .repeats import BETWEEN, NEAR, Repeats, repeats_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

COLUMNS = (
    *("dataset", "split", "fold", "seed", "model", "metric", "value", "stderr"),
    *("surely_below", "definition", "reason"),
)
_ALPHA = 0.05


@dataclass(frozen=True)
class SeedsAndFolds(Study):
    """Judges what single splits, several of them and folds say of pairs of models by what all say."""

    artifacts: ClassVar[tuple[str, ...]] = (PER_USER,)
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    name: str
    metric: str = "ndcg_at_10"

    def about(self, run: JobOutcome) -> Row:
        """Return split, fold, seed and model; several of a kind differ in their number of factors."""
        split, model = run.settings.get("split", {}), run.names.get("model", "")
        return {
            "dataset": run.names.get("dataset", ""),
            "split": str(split.get("random_state", "")),
            "fold": str(split.get("fold", "")),
            "seed": str(run.settings.get("seed", "")),
            "model": f"{model} {run.settings['model']['n_factors']}" if model == "svd" else model,
        }

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return the row of the metric."""
        entry = record.result(self.metric)
        return [] if entry is None else [number_row(entry)]

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return one row per run; `surely_below`: models above it by a paired t-test over users."""
        rows = {tuple(self.about(run).values()): run for run in runs}  # fold 0 of split 0 is run twice
        found = super().rows(list(rows.values()), source)
        values = {
            about: FinishedRun(run.record, run.folder).per_user([self.metric])[self.metric]
            for about, run in rows.items()
            if run.record is not None
        }
        for row, (*of_split, _) in zip(found, rows, strict=True):
            on_split = {about[-1]: each for about, each in values.items() if list(about[:-1]) == of_split}
            if (own := on_split.get(row["model"])) is not None:
                gains = {name: (each - own).to_numpy() for name, each in on_split.items()}
                above = [name for name, gain in gains.items() if gain.mean() > 0 and paired_t(gain) <= _ALPHA]
                row["surely_below"] = BETWEEN.join(above)
        return found

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return what varies how much, how often few runs err, and what saving folds costs."""
        parts = missing_runs(rows, "{model} with seed {seed}, split {split}, fold {fold}")
        if not parts:
            repeats = repeats_of(rows)
            parts = [
                _spreads(repeats),
                f"### How often few runs name the wrong one of two models, by {label(self.metric)}",
                _claims(repeats),
                "![Share of single splits, and of five folds, that name the wrong model](wrong.png)",
                "### May folds be saved?",
                _saved(repeats),
                folded("Every pair of models, the nearest first", _pairs(repeats)),
            ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return how often a pair is named wrong over how far apart the models are."""
        return (
            {"wrong": plot_wrong(repeats_of(rows), label(self.metric))} if not where(rows, metric="") else {}
        )


def _share(part: float, of: float = 1.0) -> str:
    return f"{100 * part / of:.1f} %" if of else ""


def _spreads(repeats: Repeats) -> str:
    """Return how far each model's value moves by start, split and users."""
    lines = []
    for i in np.argsort(-repeats.values.mean(axis=(1, 2))).tolist():
        values = repeats.values[i]
        spread = {
            "other starts, one split": repeats.starts[i].std(ddof=1),
            "other splits": values.std(ddof=1),
            "mean of five folds": values.mean(axis=1).std(ddof=1),
            "users": repeats.stderr[i],
        }
        cells = {name: f"{each:.4f}" for name, each in spread.items()}
        lines.append({"model": repeats.models[i], "mean": f"{values.mean():.4f}"} | cells)
    n_seeds, n_folds = repeats.values.shape[1:]
    return f"{plain_table(lines)}\n\n" + (
        f"Standard deviations over {n_seeds} starts, {n_seeds * n_folds} splits and {n_seeds} times "
        f"{n_folds} folds; users: the standard error of the mean over one split's users."
    )


def _claims(repeats: Repeats) -> str:
    """Return for each way to judge how often it decides, and how often wrongly."""
    best = repeats.values.mean(axis=(1, 2)).argmax()
    lines = []

    def add(judged_by: str, n_runs: int, verdicts: DoubleArray, values: DoubleArray | None) -> None:
        """Add a line: verdicts (n_pairs, ...) are above zero if right, 0 if there is no claim."""
        each = verdicts.reshape(len(verdicts), -1)
        near = each[repeats.near]
        lines.append(
            {
                "judged by": judged_by,
                "runs of a model": str(n_runs),
                "claims": _share((each != 0).sum(), each.size),
                "wrong": _share((each < 0).sum(), (each != 0).sum()),
                "claims, near pairs": _share((near != 0).sum(), near.size),
                "wrong, near pairs": _share((near < 0).sum(), (near != 0).sum()),
                "best model is that of all": ""
                if values is None
                else _share((values.argmax(axis=0) == best).mean()),
            }
        )

    gains, values = repeats.gains, repeats.values
    add("one split", 1, gains, values)
    add("one split, where users show it", 1, repeats.shown, None)
    for n in (n for n in (2, 3, 5) if n <= values.shape[1]):
        add(f"mean of {n} splits", n, repeats.of_seeds(gains, n), repeats.of_seeds(values, n))
    add("mean of five folds", 5, gains.mean(axis=2), values.mean(axis=2))
    return f"{plain_table(lines)}\n\n" + (
        f"Wrong: of the claims, those against the mean of all {gains[0].size} splits. Near: "
        f"{repeats.near.sum()} of {len(gains)} pairs, less than {NEAR:g} apart. Users: a paired t-test, "
        f"p up to {_ALPHA}."
    )


def _saved(repeats: Repeats) -> str:
    """Return what becomes of claims if folds end as soon as the first ones agree."""
    gains, lines = repeats.gains, []
    n_folds, five = gains.shape[2], np.sign(gains.mean(axis=2))
    for k in range(1, n_folds + 1):
        chosen = [np.sign(gains[..., list(each)]) for each in combinations(range(n_folds), k)]
        agree = np.array([(each == each[..., :1]).all(axis=2) for each in chosen])
        said = np.where(
            agree, np.array([each[..., 0] for each in chosen]), five
        )  # (n_choices, n_pairs, n_seeds)
        told = {"first folds": str(k), "folds run": f"{np.where(agree, k, n_folds).mean():.2f}"}
        for name, which in (("", slice(None)), (", near pairs", repeats.near)):
            other, wrong = (said != five)[:, which], (said < 0)[:, which]
            told[f"other than five folds{name}"] = _share(other.sum(), other.size)
            told[f"wrong{name}"] = _share(wrong.sum(), wrong.size)
        lines.append(told)
    return f"{plain_table(lines, 0)}\n\n" + (
        "Two models are trained on the first folds. If all of these put the same one first, that is it; else "
        "the mean of five decides. Every choice of first folds, every pair; wrong: against all splits."
    )


def _pairs(repeats: Repeats) -> str:
    gains, lines = repeats.gains, []
    for (a, b), gain, shown in zip(repeats.pairs, gains, repeats.shown, strict=True):
        turns = repeats.starts[a] < repeats.starts[b]
        lines.append(
            {
                "pair": f"{repeats.models[a]} > {repeats.models[b]}",
                "difference": f"{gain.mean():.4f}",
                "σ over splits": f"{gain.std(ddof=1):.4f}",
                "one split wrong": _share((gain < 0).mean()),
                "five folds wrong": _share((gain.mean(axis=1) < 0).mean()),
                "other starts wrong": _share(turns.mean()),
                "shown on one split": _share((shown > 0).mean()),
                "wrongly shown": _share((shown < 0).mean()),
            }
        )
    return plain_table(lines)


def plot_wrong(repeats: Repeats, metric: str) -> "Figure":
    """Return one point per pair and way to judge: how far apart the models are, how often it errs."""
    from matplotlib.ticker import LogLocator

    from recgauge.report.figures.style import (
        MARKERS,
        PALETTE,
        REFERENCE,
        new_figure,
        percent_axis,
        write_at_edge,
    )

    gains = repeats.gains
    ways = {
        "one split": gains,
        "mean of 3 splits": repeats.of_seeds(gains, 3),
        "mean of 5 folds": gains.mean(axis=2),
    }
    apart = gains.mean(axis=(1, 2))
    with new_figure(f"How often few runs name the wrong one of two models, {metric}") as (figure, (axes,)):
        for i, (name, each) in enumerate(ways.items()):
            shares = (each.reshape(len(each), -1) < 0).mean(axis=1)
            axes.plot(apart, shares, MARKERS[i], color=PALETTE[i], fillstyle="none", markersize=6, label=name)
        axes.axhline(0.5, **REFERENCE)
        write_at_edge(axes, "a coin", 0.5)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel(f"how far apart the two models are by all {gains[0].size} splits; one point a pair")
        axes.set_ylim(-0.02, 0.56)
        percent_axis(axes.yaxis)
        axes.legend(title="judged by")
    return figure
