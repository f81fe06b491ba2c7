"""The study that most experiments need: published, ours, difference, verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from recgauge.studies import Row, Study, StudyRun
from recgauge.studies.files import markdown_table
from recgauge.studies.published import PublishedNumber, read_published
from recgauge.studies.verdicts import MEANINGS, OPEN, tally, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PublishedTable(Study):
    """Compares every row of published.csv with the mean over the runs that match it.

    Parameters
    ----------
    name : str
        Name of the experiment.
    beside : sequence of str
        Keys of metrics that are shown beside the published ones, for runs that no published number is
        compared with.

    Notes
    -----
    A row is open, with the reason, as long as fewer runs match than it averages. The verdicts are defined in
    `recgauge.studies.verdicts`.
    """

    name: str
    beside: Sequence[str] = ()

    def check(self, source: Path) -> None:
        """Read published.csv."""
        read_published(source / "published.csv")

    def rows(self, runs: Sequence[StudyRun], source: Path) -> list[Row]:
        """Return one row a published number, in the order of published.csv, then those beside."""
        numbers = read_published(source / "published.csv")
        others = [run for run in runs if not any(number.matches(run) for number in numbers)]
        beside = [_beside(run, key) for run in others if run.record is not None for key in self.beside]
        return [compare(number, runs) for number in numbers] + beside

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the table, the tally, what the verdicts mean, and the figure if there is one."""
        picture = ["![Differences in tolerances](differences.png)"] if _compared(rows) else []
        return "\n\n".join([published_markdown(rows), *verdict_lines(rows), *picture])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the differences as a figure, none as long as all rows are open."""
        from recgauge.studies.differences import plot_differences

        compared = _compared(rows)
        return {"differences": plot_differences(compared)} if compared else {}


COLUMNS = (
    "dataset",
    "model",
    "metric",
    "published",
    "ours",
    "difference",
    "tolerance",
    "verdict",
    "reason",
    "runs",
    "definition",
    "published_definition",
    "source",
)


def compare(number: PublishedNumber, runs: Sequence[StudyRun]) -> Row:
    """Return the row of results.csv for one published number."""
    found = [run for run in runs if number.matches(run)]
    entries = [_entry(run, number.key) for run in found]
    values = [entry["value"] for entry in entries if entry is not None]
    row = {
        "dataset": number.dataset,
        "model": number.label,
        "metric": number.key,
        "published": number.value,
        "ours": "",
        "difference": "",
        "tolerance": number.tolerance,
        "verdict": OPEN,
        "reason": _reason(number, found, len(values)),
        "runs": str(len(values)),
        "definition": next((entry["definition"] for entry in entries if entry is not None), ""),
        "published_definition": number.definition,
        "source": number.source,
    }
    if row["reason"]:
        return row
    ours = fmean(values)
    published = float(number.value)
    row["ours"] = f"{ours:.8g}"
    row["difference"] = f"{ours - published:+.3g}"
    row["verdict"] = verdict(
        ours, published, float(number.tolerance), protocol_known=not number.unknown.strip()
    )
    return row


def _compared(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have a published number and ours."""
    return [row for row in rows if row["difference"]]


def _beside(run: StudyRun, key: str) -> Row:
    """Return the row of a number that nothing published stands against."""
    entry = _entry(run, key) or {"value": None, "definition": ""}
    known = {"dataset": run.names["dataset"], "model": run.names["model"], "metric": key, "runs": "1"}
    ours = "" if entry["value"] is None else f"{entry['value']:.8g}"
    return dict.fromkeys(COLUMNS, "") | known | {"ours": ours, "definition": entry["definition"]}


def _entry(run: StudyRun, key: str) -> dict[str, Any] | None:
    if run.record is None:
        return None
    return next((entry for entry in run.record.results if entry["key"] == key), None)


def _reason(number: PublishedNumber, found: Sequence[StudyRun], n_values: int) -> str:
    """Say why a row is open; empty if it is not."""
    if not number.model:
        return "recgauge has no such model yet"
    problems = [run.reason for run in found if run.problem]
    if problems:
        return f"{len(problems)} of {number.n_runs} runs: {problems[0]}"
    if not found:
        return "no run of this grid matches"
    if len(found) > n_values:
        return f"the runs have no metric {number.key}"
    if n_values != number.n_runs:
        return f"{n_values} runs match where {number.n_runs} are averaged"
    return ""


def published_markdown(rows: Sequence[Row]) -> str:
    """Return published, ours, difference and verdict as a Markdown table, ours with a digit more."""
    header = ("data set", "model", "metric", "published", "ours", "difference", "verdict")
    cells = [
        (
            row["dataset"],
            row["model"],
            row["metric"].replace("_at_", "@"),
            row["published"],
            shown(row["ours"], row["published"]),
            row["difference"],
            row["verdict"] + (f": {row['reason']}" if row["reason"] else ""),
        )
        for row in rows
    ]
    return markdown_table(cells, header, right=("published", "ours", "difference"))


def shown(ours: str, published: str) -> str:
    """Return a number with one decimal more than the published one.

    Examples
    --------
    >>> shown("0.94402717", "0.944"), shown("", "0.944")
    ('0.9440', '')
    """
    decimals = len(published.partition(".")[2]) if published else 3
    return f"{float(ours):.{decimals + 1}f}" if ours else ""


def verdict_lines(rows: Sequence[Row]) -> list[str]:
    """Return the tally and what the verdicts in it mean."""
    given = [row["verdict"] for row in rows if row["verdict"]]
    meanings = "; ".join(f"*{word}*: {MEANINGS[word]}" for word in MEANINGS if word in given)
    return [f"{len(given)} published numbers: {tally(given)}.", f"Verdicts: {meanings}."]
