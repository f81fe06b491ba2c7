"""The same models under full, sampled and test-only candidates, and whether their order stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.studies import Row, Study, StudyRun
from recgauge.studies.sampled_metrics.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("dataset", "candidates", "model", "metric", "value", "stderr", "definition", "reason")


@dataclass(frozen=True)
class SampledMetrics(Study):
    """Collects the metrics of every model under every candidate rule.

    Parameters
    ----------
    name : str
        Name of the experiment.
    k : int
        The cutoff that is looked at.
    """

    name: str
    k: int = 10

    def rows(self, runs: Sequence[StudyRun], source: Path) -> list[Row]:  # noqa: ARG002 - has no inputs
        """Return one row a candidate rule, model and metric; one with the reason for a missing run."""
        return [row for run in runs for row in self._rows_of(run)]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return values, rank agreement and what changes in the order."""
        return page(rows)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the places of the models as a figure."""
        from recgauge.studies.sampled_metrics.figure import plot_places

        measured = [row for row in rows if row["value"]]
        return {"places": plot_places(measured)} if measured else {}

    def _rows_of(self, run: StudyRun) -> list[Row]:
        about = {
            "dataset": run.names.get("dataset", ""),
            "candidates": _rule(run),
            "model": _model(run),
        }
        if run.record is None:
            empty = dict.fromkeys(("metric", "value", "stderr", "definition"), "")
            return [about | empty | {"reason": run.reason}]
        return [
            about
            | {
                "metric": entry.key,
                "value": f"{entry.value:.8g}",
                "stderr": "" if entry.stderr is None else f"{entry.stderr:.3g}",
                "definition": entry.definition,
                "reason": "",
            }
            for entry in run.record.results
            if entry.k == self.k
        ]


def _rule(run: StudyRun) -> str:
    """Name the candidate rule with what tells it from others."""
    name = run.names.get("candidates", "")
    settings = run.settings.get("candidates", {})
    return f"{name} {settings['n']} by={settings['by']}" if name == "sampled" else name


def _model(run: StudyRun) -> str:
    """Name the model; several of a kind differ in their number of factors."""
    name = run.names.get("model", "")
    return f"{name} {run.settings['model']['n_factors']}" if name == "svd" else name
