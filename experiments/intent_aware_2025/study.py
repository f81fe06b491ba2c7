"""The study of a paper with many numbers of each model: a line for each model, all numbers in results.csv."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recgauge.studies import Row, distinct, label, table, where
from recgauge.studies.published_table import (
    NO_MODEL,
    PICTURE,
    VERDICTS,
    PublishedTable,
    plot_values,
    verdict_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ManyNumbers(PublishedTable):
    """Compares many numbers of a model; the page shows `drawn`, the verdicts and the largest difference."""

    # of the models on a job's data set, where the files of a grid look them up
    settings: Mapping[str, Any] = field(default_factory=dict)

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return a table with a line for each model and data set, the tally, the verdicts and the figure."""
        known = [row for row in rows if row["reason"] != NO_MODEL]
        of_models = [
            of_model
            for dataset in distinct(known, "dataset")
            for model in distinct(where(known, dataset=dataset), "model")
            if (of_model := where(known, dataset=dataset, model=model))
        ]
        words = [word for word in VERDICTS if any(row["verdict"] == word for row in known)]
        columns = [column for metric in self.drawn for column in (label(metric), f"ours {label(metric)}")]
        titles = {"dataset": "data set", "model": "model"} | {name: name for name in (*columns, *words)}
        lines = [self._line(of_model, words) for of_model in of_models]
        right = (*columns, *words)
        worst = {"largest": "largest difference, in tolerances"}
        parts = [table(lines, titles | worst, right), *verdict_lines(rows)]
        if waiting := where(rows, reason=NO_MODEL):
            models = ", ".join(distinct(waiting, "model"))
            parts.append(f"{len(waiting)} of them are open since recgauge has no such model: {models}.")
        return "\n\n".join([*parts, *(f"![{PICTURE}]({name}.png)" for name in self._pictures(rows))])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the values of the first metric of `drawn`, of the models that recgauge has."""
        paper = r"^[a-z]+20\d\d_"  # begins the name of its split, which is too long above a panel
        known = [
            row | {"dataset": re.sub(paper, "", row["dataset"])} for row in rows if row["reason"] != NO_MODEL
        ]
        drawn = self.drawn[:1]
        return {name: plot_values(known, drawn, self.not_drawn) for name in self._pictures(rows)}

    def _line(self, rows: Sequence[Row], words: Sequence[str]) -> Row:
        """Return what the page says of the numbers of one model on one data set."""
        line = {name: rows[0][name] for name in ("dataset", "model")}
        for metric in self.drawn:
            row = next(iter(where(rows, metric=metric)), dict.fromkeys(("published", "ours"), ""))
            for column, text in ((label(metric), row["published"]), (f"ours {label(metric)}", row["ours"])):
                line[column] = f"{float(text):.5f}" if text else ""
        counted = Counter(row["verdict"] for row in rows)
        line |= {word: str(counted[word] or "") for word in words}
        compared = [row for row in rows if row["difference"]]
        worst = max(compared, key=_tolerances, default=None)
        line["largest"] = "" if worst is None else f"{_tolerances(worst):.1f} ({label(worst['metric'])})"
        return line


def _tolerances(row: Row) -> float:
    return abs(float(row["difference"])) / float(row["tolerance"])
