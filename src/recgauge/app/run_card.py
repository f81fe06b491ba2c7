"""The data card and the figures that a run leaves behind."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recgauge.app.data_card_command import split_settings, write_card
from recgauge.datasets.citations import citation_of
from recgauge.records import RunRecord
from recgauge.report.card_numbers import data_card
from recgauge.run_results import RankingResult, RunResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# metrics in [0, 1] that one axis can hold, drawn if the run has them
_DRAWN = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


def write_run_card(result: RunResult, record: RunRecord, folder: Path) -> list[Path]:
    """Write data_card.json and data_card.md of the run's data and split.

    Parameters
    ----------
    result : RunResult
    record : RunRecord
        Has the digests of the rows already, and how the split was made; gets the seconds spent.
    folder : Path
    """
    begin = perf_counter()
    digests = {
        name: record.split.get(f"{name}_sha256", "") for name in ("train", "fold_in", "validation", "test")
    }
    card = data_card(
        result.dataset,
        result.split,
        citation=citation_of(result.dataset),
        split_settings=split_settings(record.settings["split"], record.seed),
        digests=digests,
    )
    files = write_card(card, folder)
    record.seconds["card"] = perf_counter() - begin
    return files


def draw_run(
    result: RunResult, names: Mapping[str, str], seconds: dict[str, float], folder: Path
) -> list[Path]:
    """Write figures/*.png: the training rows' long tail, the ratings, and what the lanes that ran can show.

    Parameters
    ----------
    result : RunResult
    names : mapping of str to str
        The chosen option of each group, for titles.
    seconds : dict of str to float
        Gets the seconds spent.
    folder : Path
    """
    begin = perf_counter()
    from recgauge.report.figures.style import save_png

    drawn = _figures(result, names["model"], names["dataset"])
    files = [save_png(figure, folder / "figures" / f"{name}.png") for name, figure in drawn]
    seconds["figures"] = perf_counter() - begin
    return files


def _figures(result: RunResult, model: str, dataset: str) -> Iterator[tuple[str, "Figure"]]:
    from recgauge.report.figures import (
        plot_long_tail,
        plot_predicted_against_actual,
        plot_rating_distribution,
    )
    from recgauge.report.long_tail import long_tail
    from recgauge.report.rating_distribution import rating_distribution

    train = result.split.train
    yield "long_tail", plot_long_tail(long_tail(train.item_counts()), title=f"Long tail of {dataset}, train")
    if result.dataset.feedback == "explicit":
        table = rating_distribution(train.value)
        yield "rating_distribution", plot_rating_distribution(table, title=f"Ratings of {dataset}, train")
    if result.ranking is not None:
        yield from _ranking_figures(result.ranking, f"{model} on {dataset}")
    if result.rating is not None:
        made = result.rating.predictions
        title = f"Predicted against actual ratings, {model} on {dataset}"
        figure = plot_predicted_against_actual(made.actual, made.predicted, title=title)
        yield "predicted_against_actual", figure


def _ranking_figures(lane: RankingResult, title: str) -> Iterator[tuple[str, "Figure"]]:
    from recgauge.judging import judge
    from recgauge.metrics.curves.precision_recall import precision_recall_over_k
    from recgauge.report.figures import plot_metric_over_k, plot_precision_recall_over_k

    results = [one for one in lane.evaluation.results if one.name in _DRAWN and one.k is not None]
    cutoffs = sorted({one.k for one in results if one.k is not None})
    lines = {one.name: [r for r in results if r.name == one.name] for one in results}
    whole = {name: line for name, line in lines.items() if len(line) == len(cutoffs)}
    if len(cutoffs) > 1 and whole:
        figure = plot_metric_over_k(
            cutoffs,
            {name: [one.value for one in line] for name, line in whole.items()},
            stderr={name: [one.stderr or 0.0 for one in line] for name, line in whole.items()},
            metric="mean over users",
            title=f"Metrics over k, {title}",
        )
        yield "metrics_over_k", figure
    curve = precision_recall_over_k(judge(lane.top_k, lane.relevant), lane.top_k.items.shape[1])
    figure = plot_precision_recall_over_k({title: curve}, title=f"Precision and recall over k, {title}")
    yield "precision_recall_over_k", figure
