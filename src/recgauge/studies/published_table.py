"""The study that most experiments need: published, ours, difference, verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from recgauge.runs.facts import MetricValue
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
        Keys of metrics that are shown for runs which no published number of this key is compared with.
    drawn : sequence of str
        Keys of metrics whose values are drawn, published and ours, those of models to come among them.
    not_drawn : sequence of str
        Models left out of that figure, such as one so far off that the others would fall together.

    Notes
    -----
    A row is open, with the reason, as long as fewer runs match than it averages. The verdicts are defined in
    `recgauge.studies.verdicts`.
    """

    name: str
    beside: Sequence[str] = ()
    drawn: Sequence[str] = ()
    not_drawn: Sequence[str] = ()

    def check(self, source: Path) -> None:
        """Read published.csv."""
        read_published(source / "published.csv")

    def rows(self, runs: Sequence[StudyRun], source: Path) -> list[Row]:
        """Return one row a published number, in the order of published.csv, then those beside."""
        numbers = read_published(source / "published.csv")
        beside = [row for run in runs if run.record is not None for row in self._beside(run, numbers)]
        return [compare(number, runs) for number in numbers] + beside

    def _beside(self, run: StudyRun, numbers: Sequence[PublishedNumber]) -> list[Row]:
        """Return the rows of a run's numbers that nothing published stands against."""
        matching = [number for number in numbers if number.matches(run)]
        label = matching[0].label if matching else run.names["model"]
        known = {number.key for number in matching}
        return [_beside(run, label, key) for key in self.beside if key not in known]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the table, what is open for want of a model, the tally, the verdicts and the figures."""
        waiting = [row for row in rows if row["reason"] == NO_MODEL]
        shown = [row for row in rows if row not in waiting]
        parts = [published_markdown(shown)] if shown else []
        pictures = [f"![{PICTURES[name]}]({name}.png)" for name in self._pictures(rows)]
        return "\n\n".join([*parts, *waiting_lines(waiting), *verdict_lines(rows), *pictures])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the values, if asked for, and the differences, none as long as all rows are open."""
        from recgauge.studies.differences import plot_differences
        from recgauge.studies.values import plot_values

        draw = {
            "values": lambda: plot_values(rows, self.drawn, self.not_drawn),
            "differences": lambda: plot_differences(_compared(rows)),
        }
        return {name: draw[name]() for name in self._pictures(rows)}

    def _pictures(self, rows: Sequence[Row]) -> list[str]:
        if not _compared(rows):
            return []
        return ["values", "differences"] if self.drawn else ["differences"]


NO_MODEL = "recgauge has no such model yet"
PICTURES = {"values": "Published values and ours", "differences": "Differences in tolerances"}
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
    values = [entry.value for entry in entries if entry is not None]
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
        "definition": next((entry.definition for entry in entries if entry is not None), ""),
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


def _beside(run: StudyRun, label: str, key: str) -> Row:
    """Return the row of a number that nothing published stands against."""
    entry = _entry(run, key)
    known = {"dataset": run.names["dataset"], "model": label, "metric": key, "runs": "1"}
    ours = {} if entry is None else {"ours": f"{entry.value:.8g}", "definition": entry.definition}
    return dict.fromkeys(COLUMNS, "") | known | ours


def _entry(run: StudyRun, key: str) -> MetricValue | None:
    return None if run.record is None else run.record.result(key)


def _reason(number: PublishedNumber, found: Sequence[StudyRun], n_values: int) -> str:
    """Say why a row is open; empty if it is not."""
    if not number.model:
        return NO_MODEL
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


def waiting_lines(rows: Sequence[Row]) -> list[str]:
    """Return the numbers of models that are still to come as a table that the page folds away."""
    if not rows:
        return []
    header = ("data set", "model", "metric", "published")
    cells = [
        (row["dataset"], row["model"], row["metric"].replace("_at_", "@"), row["published"]) for row in rows
    ]
    told = f"{len(rows)} more are open: {NO_MODEL}."
    table = markdown_table(cells, header, right=("published",))
    return [told, "<details><summary>Their published values</summary>", table, "</details>"]


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
