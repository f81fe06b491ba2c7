"""The study of a published table of models and data sets: ranks, scores, and how far they carry."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recgauge.comparison import DatasetsResult, compare_datasets
from recgauge.comparison.over_datasets import ranked
from recgauge.metrics.names import metric_label
from recgauge.report.comparison_tables import p_value
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, Study, distinct, folded, label, plain_table, read_results, where
from recgauge.studies.published_table import COLUMNS, judged, published_row, read_published, verdict_lines
from recgauge.utils.checks import DoubleArray
from recgauge.utils.randomness import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "ndcg_at_10.csv"
_FACTORS = np.linspace(1.0, 3.0, 21)
_ROPE = 0.001  # of nDCG: smaller differences are as good as none
_N_DRAWS = 2000
_ALPHA = 0.05
AGREEMENTS = ("best model", "pairs told apart by 30", "other pairs")
_DIGITS = 12  # beyond them a sum depends on its order


@dataclass(frozen=True)
class DozensOfDatasets(Study):
    """Compares models over data sets, and what their authors made of the same values with ours."""

    needs_runs: ClassVar[bool] = False
    name: str

    def check(self, source: Path) -> None:
        """Read the values and the published numbers."""
        read_published(source / "published.csv")
        _compared(source)

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:  # noqa: ARG002 - needs none
        """Return one row per published number, then one per model and data set with the value."""
        result = _compared(source)
        ours = {"mean_rank": result.mean_ranks, "dolan_more_score": scores(result)}
        rows = [
            published_row(number) | judged(number, ours[number.key][number.label])
            | {"ours": f"{ours[number.key][number.label]:.{_DIGITS}g}"}
            for number in read_published(source / "published.csv")
        ]  # fmt: skip
        empty = dict.fromkeys(COLUMNS, "") | {"metric": result.metric}
        return rows + [
            empty | {"dataset": dataset, "model": run, "ours": repr(result.values[run][dataset])}
            for dataset in result.datasets
            for run in result.runs
        ]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return ranks and scores with what the tests say, how far they carry, and the data sets."""
        result = result_of(rows)
        n_clear, n_pairs = sum(p <= _ALPHA for p in result.p_adjusted.values()), len(result.p_adjusted)
        tests = (
            f"Friedman's test: p = {result.p_friedman:.1g}. Nemenyi's critical difference of mean ranks is "
            f"{result.critical_difference:.2f}: {n_clear} of {n_pairs} pairs of models are shown to differ."
        )
        parts = [
            _models(rows, result),
            tests,
            "\n".join(f"- {claim}" for claim in result.claims),
            *verdict_lines(rows),
            "![Critical difference diagram of the models](ranks.png)",
            "### Would other data sets say the same?",
            _replications(result),
            "![How often two groups of data sets agree](replications.png)",
            folded("What each data set says alone", _alone(result)),
        ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the critical difference diagram, and how often groups of data sets agree."""
        from .diagram import critical_difference_diagram

        result = result_of(rows)
        return {"ranks": critical_difference_diagram(result), "replications": plot_replications(result)}


def _compared(source: Path) -> DatasetsResult:
    """Compare the models of the table."""
    values: dict[str, dict[str, float]] = {}
    for row in sorted(read_results(source / TABLE), key=lambda row: (row["model"], row["dataset"])):
        values.setdefault(row["model"], {})[row["dataset"]] = float(row["value"])
    return compare_datasets(values, metric="ndcg_at_10")


def result_of(rows: Sequence[Row]) -> DatasetsResult:
    """Return the comparison over data sets that the rows tell."""
    values = [row for row in rows if not row["published"]]
    by_run = {
        run: {row["dataset"]: float(row["ours"]) for row in where(values, model=run)}
        for run in distinct(values, "model")
    }
    return compare_datasets(by_run, metric=values[0]["metric"])


def scores(result: DatasetsResult) -> dict[str, float]:
    """Return the area under each model's performance profile, as its share of the sum over models."""
    shares = performance_profiles(result.table(), _FACTORS)
    areas = (shares[:, 1:] + shares[:, :-1]).sum(axis=1)
    return dict(zip(result.runs, (areas / areas.sum()).tolist(), strict=True))


def performance_profiles(values: DoubleArray, factors: DoubleArray) -> DoubleArray:
    """Return on what share of the data sets each model is within a factor of the best, (n_runs, n_factors).

    References
    ----------
    .. [1] E. D. Dolan, J. J. More, "Benchmarking optimization software with performance profiles",
       Mathematical Programming 91, 2002.
    """
    best = values.max(axis=1, keepdims=True)
    # a product, since a value may be zero: where all are zero, all are the best
    within = best[:, :, None] <= values[:, :, None] * factors
    shares: DoubleArray = within.mean(axis=0)
    return shares


def probability_better(result: DatasetsResult, a: str, b: str) -> float:
    """Return how probable it is that a is better than b by more than `_ROPE`, by Bayes' signed-rank test.

    Weights of the data sets are drawn from a Dirichlet distribution, and the mean of two differences drawn
    with them lies above `_ROPE`, within, or below. A probability is the share of draws in which that region
    is the likeliest.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for comparing
       multiple classifiers through Bayesian analysis", Journal of Machine Learning Research 18, 2017.
    """
    differences = np.array(
        [0.0, *(result.values[a][name] - result.values[b][name] for name in result.datasets)]
    )
    prior = [0.5, *np.ones(len(result.datasets))]
    weights = stream(0, "comparison signed rank").dirichlet(prior, 50_000)
    means = (differences[:, None] + differences) / 2
    above, below = (
        np.einsum("ni,ij,nj->n", weights, region.astype(np.float64), weights, optimize=True)
        for region in (means > _ROPE, means < -_ROPE)
    )
    return float((np.argmax([above, 1 - above - below, below], axis=0) == 0).mean())


def _models(rows: Sequence[Row], result: DatasetsResult) -> str:
    """Return one line per model, best mean rank first."""
    first, profiles = result.runs[0], performance_profiles(result.table(), np.array([1.0, 1.1]))
    n, lines = len(result.datasets), []
    for run, (best, near) in zip(result.runs, profiles.tolist(), strict=True):
        (rank,) = where(rows, model=run, metric="mean_rank")
        (score,) = where(rows, model=run, metric="dolan_more_score")
        line = {
            "model": run,
            "mean rank, published": f"{float(rank['published']):.4f}",
            "our mean rank": f"{float(rank['ours']):.4f}",
            "score, published": f"{float(score['published']):.6f}",
            "our score": f"{float(score['ours']):.6f}",
            "best on": f"{best * n:.0f}",
            "within 10 % of the best on": f"{near * n:.0f}",
            f"p, as good as {first}": "",
            f"{first} is better": "",
        }
        if run != first:
            better = probability_better(result, first, run)
            line[f"p, as good as {first}"] = p_value(result.p_adjusted[first, run])
            line[f"{first} is better"] = f"{100 * better:.0f} %"
        lines.append(line)
    note = (
        f"p: Nemenyi's test of mean ranks, all pairs at once. {first} is better: probability that it is, by "
        f"more than {_ROPE} {label(result.metric)}, by the Bayesian signed-rank test of this pair alone."
    )
    return f"{plain_table(lines)}\n\n{note}"


def replications(result: DatasetsResult) -> dict[str, list[float]]:
    """Return the share of two groups of n data sets, none of them in both, that agree; n = 1, 2, ..."""
    ranks, runs = ranked(result.table()), result.runs
    n_datasets, rng = len(ranks), stream(0, "groups of data sets")
    order = rng.permuted(np.tile(np.arange(n_datasets), (_N_DRAWS, 1)), axis=1)
    first, second = np.triu_indices(len(runs), 1)
    p = [result.p_adjusted[runs[i], runs[j]] for i, j in zip(first, second, strict=True)]
    clear = np.array(p) <= _ALPHA
    found: dict[str, list[float]] = {name: [] for name in AGREEMENTS}
    for n in range(1, n_datasets // 2 + 1):
        a, b = (ranks[order[:, start : start + n]].mean(axis=1) for start in (0, n))
        # products of signs: two groups agree by half where a pair is tied in one of them
        same = (1 + np.sign(a[:, first] - a[:, second]) * np.sign(b[:, first] - b[:, second])) / 2
        best = a.argmin(axis=1) == b.argmin(axis=1)
        for name, each in zip(AGREEMENTS, (best, same[:, clear], same[:, ~clear]), strict=True):
            found[name].append(float(each.mean()))
    return found


def _replications(result: DatasetsResult) -> str:
    found = replications(result)
    lines = [
        {"data sets": str(n)} | {name: f"{100 * shares[n - 1]:.0f} %" for name, shares in found.items()}
        for n in (1, 2, 3, 5, 10, 15)
    ]
    note = (
        "How often two groups of so many data sets, none of them in both, agree on the best model and on the "
        f"better of two: {_N_DRAWS:,} draws from the {len(result.datasets)}. A tie agrees by half."
    )
    return f"{plain_table(lines, 0)}\n\n{note}"


def _alone(result: DatasetsResult) -> str:
    """Return each data set's best model and how its order agrees with that of the mean ranks."""
    from scipy.stats import kendalltau

    values, mean = result.table(), [-result.mean_ranks[run] for run in result.runs]
    lines = [
        {
            "data set": dataset,
            "best": result.runs[int(row.argmax())],
            label(result.metric): f"{row.max():.4f}",
            "τ with the mean ranks": f"{kendalltau(row, mean).statistic:.2f}",
        }
        for dataset, row in zip(result.datasets, values, strict=True)
    ]
    lines.sort(key=lambda line: -float(line["τ with the mean ranks"]))
    return plain_table(lines, 2)


def plot_replications(result: DatasetsResult) -> "Figure":
    """Return one line per kind of agreement over the number of data sets in each group."""
    from matplotlib.ticker import MaxNLocator

    from recgauge.report.figures.style import line_look, new_figure, percent_axis

    agreed = replications(result)
    title = f"How often two groups of data sets agree which model is better, {metric_label(result.metric)}"
    with new_figure(title) as (figure, (axes,)):
        for index, (name, shares) in enumerate(agreed.items()):
            sizes = range(1, len(shares) + 1)
            axes.plot(sizes, shares, clip_on=False, label=name, **line_look(index, marker=len(shares) <= 30))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axes.set(xlabel="data sets in each of two groups", ylabel="the groups agree")
        axes.set(xlim=(None, max(map(len, agreed.values()))), ylim=(0, 1))
        percent_axis(axes.yaxis)
        figure.legend(loc="outside right center")
    return figure
