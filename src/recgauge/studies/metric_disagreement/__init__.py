"""One set of lists under all conventions: how far metrics spread, and whether the order of models changes."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from recgauge.studies import Row, Study, StudyRun
from recgauge.studies.metric_disagreement.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("dataset", "model", "metric", "convention", "value", "definition", "reason")


@dataclass(frozen=True)
class MetricDisagreement(Study):
    """Collects what every run stored of its lists under every convention (``conventions_table=true``).

    Parameters
    ----------
    name : str
        Name of the experiment.
    k : int
        The cutoff that is looked at.
    """

    artifacts: ClassVar[tuple[str, ...]] = ("conventions.csv",)
    name: str
    k: int = 10

    def rows(self, runs: Sequence[StudyRun], source: Path) -> list[Row]:  # noqa: ARG002 - has no inputs
        """Return one row a data set, model, metric and convention; one with the reason for a missing run."""
        return [row for run in runs for row in self._rows_of(run)]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return ranges, orders of the models, and who computes what."""
        return page(rows)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the ranges as a figure."""
        from recgauge.studies.metric_disagreement.figure import plot_ranges

        measured = [row for row in rows if row["value"]]
        return {"ranges": plot_ranges(measured)} if measured else {}

    def _rows_of(self, run: StudyRun) -> list[Row]:
        about = {"dataset": run.names.get("dataset", ""), "model": run.names.get("model", "")}
        if run.record is None:
            empty = dict.fromkeys(("metric", "convention", "value", "definition"), "")
            return [about | empty | {"reason": (run.problem or "no run").splitlines()[0]}]
        with (run.folder / "conventions.csv").open(newline="", encoding="utf-8") as file:
            stored = [row for row in csv.DictReader(file) if row["metric"].endswith(f"_at_{self.k}")]
        return [about | _row(row) for row in stored]


def _row(stored: Row) -> Row:
    refused = not stored["value"]
    return {
        "metric": stored["metric"],
        "convention": stored["convention"],
        "value": "" if refused else f"{float(stored['value']):.8g}",
        "definition": "" if refused else stored["definition"],
        "reason": stored["definition"] if refused else "",
    }
