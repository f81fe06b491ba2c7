"""Lists that session-rec published for each click of 99 sessions, beside those of recgauge's rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recgauge.evaluation.evaluate import evaluate
from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, distinct, label, table, where
from recgauge.studies.published_table import (
    COLUMNS,
    PublishedNumber,
    judged,
    published_row,
    read_published,
    shown,
    verdict_lines,
)
from recgauge.studies.repository_files import PUBLISHED, RepositoryStudy
from recgauge.utils.checks import DoubleArray, IntArray

from .queries import SAME, Clicks, Likeness, likeness, read_lists

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAIN, TEST = "train.txt", "test.txt"
KINDS = dict(
    zip(
        (field.name for field in fields(Likeness)),
        (
            "same items, same order",
            "same items, equal scores in another order",
            "of items that share the lowest score, others are kept",
            "more differs, but no score",
        ),
        strict=True,
    )
)
"""How a list is like the published one, by the first field of `Likeness` that holds."""
DIFFERENT = "scores differ"
METRICS, CUTOFFS = ("hit_rate", "mrr", "ndcg"), (5, 10, 20)
_ORDERS = ("listed", "expected", "low", "high")


@dataclass(frozen=True)
class SessionLists(RepositoryStudy):
    """Fits the rules, compares their lists with the published ones, and judges both.

    A row of published.csv names its lists as ``model``. ``listed`` is the number of the published lists as
    recgauge judges them, ``low``, ``high`` and ``expected`` those that orders of equal scores give.
    """

    columns: ClassVar[tuple[str, ...]] = (*COLUMNS, *_ORDERS, "kind", "lists")

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:  # noqa: ARG002 - needs none
        """Return a row per published number, then a row per kind of list."""
        files = self.files(source)
        numbers = read_published(source / PUBLISHED)
        rows: dict[PublishedNumber, Row] = {}
        kinds: list[Row] = []
        for model in dict.fromkeys(number.model for number in numbers):
            own = [number for number in numbers if number.model == model]
            reason = files.reason([TRAIN, TEST, model])
            if reason:
                rows |= {number: published_row(number) | {"reason": reason} for number in own}
                continue
            both = compare_lists(Clicks(files.paths[TRAIN], files.paths[TEST]), model, files.paths[model])
            rows |= {number: both.row(number) for number in own}
            kinds += [
                {"dataset": own[0].dataset, "model": own[0].label, "kind": kind, "lists": str(count)}
                for kind, count in both.kinds.items()
            ]
        return [dict.fromkeys(self.columns, "") | row for row in (*map(rows.__getitem__, numbers), *kinds)]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return how the lists are alike, and the numbers."""
        kinds = [row for row in rows if row["kind"]]
        numbers = [row for row in rows if row["verdict"]]
        parts = [_kind_table(kinds)] if kinds else []
        cells = [
            row
            | {
                "metric": label(row["metric"]),
                "verdict": row["verdict"] + (f": {row['reason']}" if row["reason"] else ""),
            }
            | {name: shown(row[name], "0.0000") for name in ("published", "ours", *_ORDERS)}
            for row in numbers
        ]
        titles = {"model": "lists", "metric": "metric", "published": "published"}
        titles |= {name: name for name in ("ours", "low", "expected", "high", "verdict")}
        parts += [table(cells, titles, right=("published", "ours", "low", "expected", "high")), _NOTE]
        pictures = ["![Numbers of the lists, and those that orders of equal scores give](orders.png)"]
        return "\n\n".join([*parts, *verdict_lines(numbers), *(pictures if kinds else [])])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the numbers within those that orders of equal scores give."""
        computed = [row for row in rows if row["ours"]]
        return {"orders": plot_orders(computed)} if computed else {}


_NOTE = (
    "*published*: of the published lists as they are; *ours*: of lists by recgauge's rules, equal scores in "
    "the order of items' codes. *low* to *high*: what orders of equal scores give, those among equal weights "
    "of which 20 rules are kept among them; *expected*: their mean."
)


@dataclass(frozen=True)
class BothLists:
    """What the published lists and recgauge's, of the same queries, are worth, and how they are alike.

    Parameters
    ----------
    ours, listed, definitions : mapping of str
        By metric: of recgauge's lists, of the published ones, and what both are.
    best, worst : ndarray of int32, shape (n,)
        Ranks of the targets, see `Clicks.ranks`.
    kinds : mapping of str to int
        How many lists are of each of `KINDS`, or `DIFFERENT`.
    """

    ours: Mapping[str, float]
    listed: Mapping[str, float]
    definitions: Mapping[str, str]
    best: IntArray
    worst: IntArray
    kinds: Mapping[str, int]

    def row(self, number: PublishedNumber) -> Row:
        """Return the row of a published number."""
        metric, _, cutoff = number.key.rpartition("_at_")
        gains = np.concatenate([[0.0], _gains(metric, int(cutoff), int(self.worst.max()))])
        totals = np.cumsum(gains)
        counts = self.worst - self.best + 1
        orders = {
            "listed": self.listed[number.key],
            "expected": float(((totals[self.worst] - totals[np.maximum(0, self.best - 1)]) / counts).mean()),
            "low": float(gains[self.worst].mean()),
            "high": float(gains[self.best].mean()),
        }
        ours = judged(number, self.ours[number.key]) | {"definition": self.definitions[number.key]}
        return published_row(number) | ours | {name: f"{value:.8g}" for name, value in orders.items()}


def compare_lists(clicks: Clicks, model: str, path: Path) -> BothLists:
    """Make recgauge's lists of these rules, compare them with the published ones, and judge both."""
    published, top_k, test = read_lists(path), clicks.lists(model), clicks.split.test
    queries = test.user_ids[top_k.users].tolist()
    items = dict(zip(queries, test.item_ids[top_k.items].tolist(), strict=True))
    largest = np.maximum(top_k.scores[:, :1].astype(np.float64), SAME)
    relevant = {query: [item] for query, item in clicks.targets.items()}
    both = [
        evaluate(lists, relevant, metrics=METRICS, cutoffs=CUTOFFS)
        for lists in (items, {query: [*scores] for query, scores in published.items()})
    ]
    kinds = dict.fromkeys([*KINDS.values(), DIFFERENT], 0)
    for query, scores in zip(queries, top_k.scores / largest, strict=True):
        alike = likeness(published[query], items[query], scores)
        kinds[next((KINDS[name] for name in KINDS if getattr(alike, name)), DIFFERENT)] += 1
    return BothLists(both[0].values(), both[1].values(), both[0].definitions(), *clicks.ranks(model), kinds)


def _gains(metric: str, cutoff: int, n_ranks: int) -> DoubleArray:
    """Return what a target at each rank from 1 on is worth, shape (n_ranks,)."""
    rank = np.arange(1.0, n_ranks + 1.0)
    gain = {"hit_rate": np.ones(n_ranks), "mrr": 1.0 / rank, "ndcg": 1.0 / np.log2(rank + 1.0)}[metric]
    return np.where(rank <= cutoff, gain, 0.0)


def _kind_table(rows: Sequence[Row]) -> str:
    models = distinct(rows, "model")
    cells = [
        [kind, *("".join(row["lists"] for row in where(rows, kind=kind, model=model)) for model in models)]
        for kind in distinct(rows, "kind")
    ]
    return markdown_table(cells, ["lists", *models], right=models)


def plot_orders(rows: Sequence[Row]) -> "Figure":
    """Return a row per number: what orders of equal scores give, the published number, and ours."""
    from recgauge.report.figures.style import GREY, MUTED, PALETTE, SMALL, name_rows, new_figure

    models = distinct(rows, "model")
    names = [label(row["metric"]) for row in where(rows, model=models[0])]
    with new_figure(None, height=1.2 + 0.27 * len(names), panels=len(models)) as (figure, panels):
        for axes, model in zip(panels, models, strict=True):
            for place, row in enumerate(where(rows, model=model)):
                low, high = float(row["low"]), float(row["high"])
                axes.plot([low, high], [place, place], color=GREY, linewidth=5, solid_capstyle="butt")
                axes.plot(
                    [float(row["published"])],
                    [place],
                    "o",
                    markersize=8,
                    markeredgecolor=MUTED,
                    markerfacecolor="none",
                )
                axes.plot([float(row["ours"])], [place], "o", color=PALETTE[0], markersize=4)
            name_rows(axes, names if axes is panels[0] else [""] * len(names))
            axes.set_title(model, loc="left")
        note = "grey: orders of equal scores; ring: published; dot: ours"
        figure.supxlabel(note, x=0.012, ha="left", fontsize=SMALL, color=MUTED)
        return figure
