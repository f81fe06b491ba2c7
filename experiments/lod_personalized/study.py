"""Lists of six models in ten folds, and the same reordered by Linked Open Data: published numbers, ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.report import markdown_table
from recgauge.studies import Row, distinct, where
from recgauge.studies.published_lists import (
    JudgedLists,
    JudgingRows,
    PublishedLists,
    cells,
    graded,
    verdict_counts,
)
from recgauge.studies.published_table import verdict_lines
from recgauge.studies.repository_files import RepositoryFiles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NDCG, COVERAGE = "ndcg_at_10", "catalog_coverage_at_5"
REORDERED = "_lodreorder_path"
POLICIES = {
    "policy=last_items=01": "the last 10 % of a user's items",
    "policy=last_items=005": "the last 5 %",
    "policy=random_items=01": "10 % at random",
}


@dataclass(frozen=True)
class LodPersonalized(PublishedLists):
    """Judges the lists of every fold by the definitions of CaseRec and of the study's own code."""

    def read_lists(self, name: str, path: Path) -> dict[int, list[int]]:  # noqa: ARG002 - all have one form
        """Return users' items in the order of the file, whose mirror's form has a header."""
        users: dict[int, list[int]] = {}
        for user, item, *_ in cells(path, ","):
            if user != "user":
                users.setdefault(int(user), []).append(int(item))
        return users

    def judging_rows(self, lists: JudgedLists, files: RepositoryFiles) -> JudgingRows:
        """Return the rows of a fold."""
        train, test = (graded(cells(files.paths[name], ",")) for name in (lists.train, lists.test))
        return JudgingRows(train, test)

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return counts of verdicts, and what the reordering changes."""
        parts = [verdict_counts(rows, "fold"), *verdict_lines(rows)]
        if computed := [row for row in rows if row["ours"]]:
            parts += [
                "### What the reordering changes",
                _changes(computed),
                "![nDCG@10 and coverage of each model's lists, as they were and reordered](reordering.png)",
            ]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return accuracy against coverage, of the models' lists and of the reordered ones."""
        computed = [row for row in rows if row["ours"]]
        return {"reordering": plot_reordering(computed)} if computed else {}


def means(rows: Sequence[Row], dataset: str, model: str, metric: str) -> float | None:
    """Return the mean over the folds that have a value, None if none has."""
    values = [float(row["ours"]) for row in where(rows, dataset=dataset, model=model, metric=metric)]
    return sum(values) / len(values) if values else None


def _changes(rows: Sequence[Row]) -> str:
    """Return nDCG@10 and coverage of every model, as it was and under each reordering."""
    lines = []
    for dataset in distinct(rows, "dataset"):
        models = distinct(where(rows, dataset=dataset), "model")
        n_folds = len(distinct(where(rows, dataset=dataset), "settings")) // len(models)
        for model in (model for model in models if REORDERED not in model):
            names = [model, *(_reordered(model, models, policy) for policy in POLICIES)]
            line = [dataset, str(n_folds), model]
            for metric in (NDCG, COVERAGE):
                values = [means(rows, dataset, name, metric) if name else None for name in names]
                line += ["" if value is None else f"{value:.4f}" for value in values]
            lines.append(line)
    short = ["last 10 %", "last 5 %", "random 10 %"]
    header = ["data set", "folds", "model", "nDCG@10", *short, "coverage@5", *(f"{name} " for name in short)]
    table = markdown_table(lines, header, right=["folds", *header[3:]])
    meanings = "; ".join(f"*{name}*: {text}" for name, text in zip(short, POLICIES.values(), strict=True))
    return (
        f"{table}\n\nMeans over the folds at hand, by CaseRec's nDCG, whose best list is the list's own hits "
        f"moved to the front. A model's lists, and the same reordered by paths from {meanings}."
    )


def _reordered(model: str, models: Sequence[str], policy: str) -> str:
    """Return the name of a model's reordered lists, empty if there are none."""
    return next((name for name in models if name.startswith(f"{model}{REORDERED}[{policy}_")), "")


def plot_reordering(rows: Sequence[Row]) -> "Figure":
    """Return one panel per data set: nDCG@10 against coverage, an arrow from a model to each reordering."""
    from recgauge.report.figures.style import MARKERS, MUTED, PALETTE, new_figure

    datasets = distinct(rows, "dataset")
    with new_figure(None, height=4.2, panels=len(datasets)) as (figure, axes):
        for dataset, panel in zip(datasets, axes, strict=True):
            models = distinct(where(rows, dataset=dataset), "model")
            bases = [name for name in models if REORDERED not in name]
            for index, model in enumerate(bases):
                names = [model, *(_reordered(model, models, policy) for policy in POLICIES)]
                points = [
                    (means(rows, dataset, name, COVERAGE), means(rows, dataset, name, NDCG))
                    for name in names
                    if name
                ]
                drawn = [(x, y) for x, y in points if x is not None and y is not None]
                if not drawn:
                    continue
                colour, marker = PALETTE[index % len(PALETTE)], MARKERS[index % len(MARKERS)]
                for x, y in drawn[1:]:
                    panel.plot([drawn[0][0], x], [drawn[0][1], y], color=MUTED, linewidth=0.8)
                    panel.plot(x, y, marker, color=colour, markersize=4)
                panel.plot(*drawn[0], marker, color=colour, markerfacecolor="none", markersize=8, label=model)
            panel.set_title(dataset)
            panel.set_xlabel("coverage@5")
        axes[0].set_ylabel("nDCG@10")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
