"""The study of published transformers beside models that count pairs, ours trained, and what each costs."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, distinct, folded, table, where
from recgauge.studies.published_table import (
    COLUMNS,
    NO_MODEL,
    OPEN,
    PublishedTable,
    compare,
    published_markdown,
    read_published,
    verdict_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIT_RATE, NDCG = "hit_rate_at_10", "ndcg_at_10"
SAMPLED = (
    ", 99 negatives"  # ends the label of a number that ranks the test item among the published negatives
)
BEST = "the best"
TRAINED = "SASRec of RecTools with 50 items"  # its label in trained.csv
_ALSO_HIT_RATE = ("recall_at_10",)  # of one test item it is the same
_OTHER = ", "  # in the label of a number of other candidates, another split, or a point of a grid


@dataclass(frozen=True)
class CountingRivals(PublishedTable):
    """Compares PopRec with ours, and shows published models beside those that count.

    A published number without a model is open for the reason in its note. `trained.csv` has the numbers of
    models whose training took too long for the grid, by the command that the page names.
    """

    compressed: ClassVar[bool] = True
    measured: ClassVar[tuple[str, ...]] = ("seconds",)

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return the published numbers, those of the runs, and those of models that were trained apart."""
        numbers = read_published(source / "published.csv")
        rows = []
        for number in numbers:
            row = compare(number, runs) | {"seconds": ""}
            rows.append(row if number.model else row | {"reason": number.note})
        for run in runs:
            rows += _of_run(run)
        with (source / "trained.csv").open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                for metric in (HIT_RATE, NDCG):
                    own = {"ours": line[metric], "seconds": line["seconds"], "metric": metric}
                    rows.append(_own_row(line["dataset"], line["label"]) | own)
        return rows

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return both kinds of models side by side, PopRec's numbers, why others are open, and the figure."""
        compared = [row for row in rows if row["difference"]]
        parts = [_beside(rows, dataset) for dataset in _datasets(rows)]
        own = [row for row in rows if row["seconds"] and row["model"].endswith(SAMPLED)]
        parts += [_beside(rows, dataset, sampled=True) for dataset in distinct(own, "dataset")]
        if compared:
            parts += ["### PopRec, test rows counted", published_markdown(compared)]
        parts += [*verdict_lines(rows), _open(rows)]
        return "\n\n".join([*parts, *(f"![{ALT}]({name}.png)" for name in self._pictures(rows))])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return hit rates of published models, sorted, with the counting models as lines."""
        return {name: plot_rivals(rows) for name in self._pictures(rows)}

    def _pictures(self, rows: Sequence[Row]) -> list[str]:
        return ["rivals"] if any(row["seconds"] for row in rows) else []


ALT = "Hit rates at 10 of published models and of ours, as shares of that of sequential rules"


def name_of(run: JobOutcome) -> str:
    """Return what the page calls the model of a run."""
    model = run.names.get("model", "")
    settings = run.settings.get("model", {})
    if model == "popularity" and run.settings.get("fit_on") == "all":
        return "popularity with test rows"
    if model == "sequential_rules" and settings.get("last_n") == 1:
        return "Markov chain" if settings.get("steps") == 1 else "sequential_rules of the last item"
    return model


def _own_row(dataset: str, model: str) -> Row:
    return dict.fromkeys((*COLUMNS, "seconds"), "") | {"dataset": dataset, "model": model, "runs": "1"}


def _of_run(run: JobOutcome) -> list[Row]:
    """Return the rows of a run's numbers, or one with the reason why there are none."""
    sampled = SAMPLED if run.names.get("candidates") == "sampled_file" else ""
    row = _own_row(run.names.get("dataset", ""), name_of(run) + sampled)
    if run.record is None:
        return [row | {"reason": run.short_reason, "runs": "0"}]
    seconds = f"{run.record.seconds['fit']:.2f}"
    return [
        row
        | {
            "metric": key,
            "ours": f"{entry.value:.8g}",
            "definition": entry.definition,
            "seconds": seconds,
        }
        for key in (HIT_RATE, NDCG)
        if (entry := run.record.result(key)) is not None
    ]


def _datasets(rows: Sequence[Row]) -> list[str]:
    """Return the data sets that a run has a number of."""
    return distinct([row for row in rows if row["seconds"]], "dataset")


def _beside(rows: Sequence[Row], dataset: str, *, sampled: bool = False) -> str:
    """Return published models and ours on one data set, the best hit rate first."""
    its = [
        row
        for row in where(rows, dataset=dataset)
        if row["metric"] in (HIT_RATE, NDCG, *_ALSO_HIT_RATE)
        and (row["seconds"] or row["verdict"] == OPEN)
        and (row["model"].endswith(SAMPLED) if sampled else is_drawn(row))
    ]
    lines = []
    for model in distinct(its, "model"):
        of_model = where(its, model=model)
        seconds = of_model[0]["seconds"]
        kind = "ours" if seconds else "published"
        hit_rate = _value(of_model, kind, (HIT_RATE, *_ALSO_HIT_RATE))
        ndcg = _value(of_model, kind, (NDCG,))
        cells = dict.fromkeys(("published", "ours", "training, s"), "")
        cells[kind] = " / ".join(f"{value:.4f}" for value in (hit_rate, ndcg) if value is not None)
        cells["training, s"] = f"{float(seconds):,.1f}" if seconds else ""
        lines.append((hit_rate or 0.0, {"model": model.removesuffix(SAMPLED)} | cells))
    lines.sort(key=lambda line: -line[0])
    names = ("model", "published", "ours", "training, s")
    columns = table([line for _, line in lines], {name: name for name in names}, right=names[1:])
    return f"### {dataset}{SAMPLED if sampled else ''}\n\nHit rate and nDCG at 10:\n\n{columns}"


def _value(rows: Sequence[Row], column: str, metrics: Sequence[str]) -> float | None:
    return next((float(row[column]) for row in rows if row["metric"] in metrics and row[column]), None)


def is_drawn(row: Row) -> bool:
    """Whether a number is of leave last out, the whole catalogue and no mere point of a grid."""
    return _OTHER not in row["model"]


def _open(rows: Sequence[Row]) -> str:
    """Return why published numbers are open, with how many and of which models."""
    waiting = where(rows, verdict=OPEN)
    lines = []
    for reason in distinct(waiting, "reason"):
        of_reason = where(waiting, reason=reason)
        models = ", ".join(dict.fromkeys(row["model"].partition(",")[0] for row in of_reason))
        datasets = ", ".join(distinct(of_reason, "dataset"))
        lines.append(
            {"numbers": f"{len(of_reason):,}", "reason": reason, "models": models, "data sets": datasets}
        )
    lines.sort(key=lambda line: line["reason"] == NO_MODEL, reverse=True)
    names = ("reason", "models", "data sets", "numbers")
    return folded("Why numbers are open", table(lines, {name: name for name in names}, right=("numbers",)))


def plot_rivals(rows: Sequence[Row]) -> "Figure":
    """Return a line for each data set: hit rates as shares of that of sequential rules, which are at 1."""
    from recgauge.report.figures.style import MARKERS, MUTED, PALETTE, new_figure

    datasets = _datasets(rows)
    drawn = [row for row in rows if is_drawn(row) and row["metric"] in (HIT_RATE, *_ALSO_HIT_RATE)]
    with new_figure(None, height=1.6 + 0.45 * len(datasets)) as (figure, (axes,)):
        published = [row for row in drawn if row["published"]]
        looks = {"SASRec": ("s", PALETTE[1]), BEST: ("D", PALETTE[3]), "": ("o", MUTED)}
        for name, (marker, color) in looks.items():
            chosen = [row for row in published if _kind(row, published) == name]
            style: dict[str, Any] = {
                "marker": marker,
                "color": color,
                "fillstyle": "none" if not name else "full",
            }
            label = f"published: {name or 'others'}"
            axes.plot(*_points(chosen, "published", rows, datasets), linestyle="none", label=label, **style)
        for index, name in enumerate(("sequential_rules", "session_knn", "item_knn", TRAINED)):
            chosen = [row for row in drawn if row["ours"] and row["model"] == name]
            style = {"marker": MARKERS[index + 2], "color": PALETTE[(0, 2, 5, 4)[index]], "markersize": 7}
            points = _points(chosen, "ours", rows, datasets)
            axes.plot(*points, linestyle="none", label=f"ours: {name}", **style)
        axes.axvline(1.0, color=PALETTE[0], linewidth=1, zorder=0)
        axes.set_yticks(range(len(datasets)), datasets)
        axes.set_ylim(len(datasets) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel("hit rate at 10, that of sequential_rules = 1")
        figure.legend(loc="outside upper left", ncols=3, fontsize=8)
    return figure


def _kind(row: Row, published: Sequence[Row]) -> str:
    """Return how a published number is drawn."""
    highest = max(float(other["published"]) for other in where(published, dataset=row["dataset"]))
    if float(row["published"]) == highest:
        return BEST
    return "SASRec" if row["model"] == "SASRec" else ""


def _points(
    chosen: Sequence[Row], column: str, rows: Sequence[Row], datasets: Sequence[str]
) -> tuple[list[float], list[int]]:
    """Return shares of the hit rate of sequential rules, and the line of each."""
    unit = {
        row["dataset"]: float(row["ours"]) for row in where(rows, model="sequential_rules", metric=HIT_RATE)
    }
    there = [row for row in chosen if row["dataset"] in unit]
    shares = [float(row[column]) / unit[row["dataset"]] for row in there]
    return shares, [datasets.index(row["dataset"]) for row in there]
