"""The recmetrics article: its protocol exactly, and what its own numbers become under an honest one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.runs.facts import MetricValue
from recgauge.studies import Row, Study, StudyRun
from recgauge.studies.published import read_published
from recgauge.studies.published_table import COLUMNS, compare
from recgauge.studies.recmetrics_article.page import ARTICLE, CURVE, HONEST, LABELS, TEST_ITEMS, K, page

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class RecmetricsArticle(Study):
    """Compares with the article's numbers, and the three models' numbers under three protocols.

    Parameters
    ----------
    name : str
        Name of the experiment.
    more_than : mapping of str to int
        Data set to the number of rows that users must exceed; the experiment's filter is set from it.

    Notes
    -----
    The protocols are told apart by candidates and rows that the model learns from: *article* is the test
    items for the factor model and everything, with counts over all rows, for the others; *test items* gives
    them to all three; *honest* gives all three the catalogue without what the user has seen in training.
    """

    name: str
    more_than: Mapping[str, int] = field(default_factory=dict)

    def check(self, source: Path) -> None:
        """Read published.csv."""
        read_published(source / "published.csv")

    def rows(self, runs: Sequence[StudyRun], source: Path) -> list[Row]:
        """Return one row a published number, then one a data set, protocol, model and metric at K = 10.

        The MAR has one at every cutoff.
        """
        numbers = read_published(source / "published.csv")
        nothing = {"protocol": ARTICLE, "stderr": ""}
        published = [compare(number, runs) | nothing for number in numbers]
        return published + [row for run in runs for row in _rows_of(run)]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the article's numbers, the three protocols, the line, and the other metrics."""
        return page(rows)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the MAR over the cutoff and the coverage under each protocol as figures."""
        from recgauge.studies.recmetrics_article.figure import plot_coverages, plot_mar

        figures = {"mar": plot_mar(rows)} if any(row["ours"] for row in rows) else {}
        coverage = plot_coverages(rows)
        return figures if coverage is None else figures | {"coverage": coverage}


def _rows_of(run: StudyRun) -> list[Row]:
    about = dict.fromkeys((*COLUMNS, "protocol", "stderr"), "") | {
        "dataset": run.names.get("dataset", ""),
        "model": LABELS.get(run.names.get("model", ""), run.names.get("model", "")),
    }
    if run.record is None:
        first = _protocols(run)[0]
        return [about | {"protocol": first, "reason": run.reason}]
    return [
        about | {"protocol": protocol} | _measured(entry)
        for protocol in _protocols(run)
        for entry in run.record.results
        if entry.name == CURVE or entry.k in (None, K)
    ]


def _measured(entry: MetricValue) -> Row:
    return {
        "metric": entry.key,
        "ours": f"{entry.value:.8g}",
        "stderr": "" if entry.stderr is None else f"{entry.stderr:.3g}",
        "runs": "1",
        "definition": entry.definition,
    }


def _protocols(run: StudyRun) -> tuple[str, ...]:
    """Name the protocols that a run belongs to: the article's factor model is the one on test items, too."""
    if run.settings.get("fit_on") == "all":
        return (ARTICLE,)
    if run.names.get("candidates") != "test_items":
        return (HONEST,)
    return (ARTICLE, TEST_ITEMS) if run.names.get("model") == "biased_mf" else (TEST_ITEMS,)
