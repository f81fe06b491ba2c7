"""Published numbers, and the study of most experiments: ours next to them, differences and verdicts."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from recgauge.errors import MissingDataError, SchemaError
from recgauge.runs.folder import JobOutcome
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import flat_settings, option_groups
from recgauge.studies import Row, Study, distinct, folded, label, open_text, table, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REPRODUCED = "reproduced"
CLOSE = "close"
NOT_REPRODUCED = "not reproduced"
UNKNOWN = "protocol unknown"
OPEN = "open"
MEANINGS = {
    REPRODUCED: "differs by at most the tolerance",
    CLOSE: "differs by at most three tolerances",
    NOT_REPRODUCED: "differs by more, although the protocol is fully stated",
    UNKNOWN: "differs by more, and the source leaves open what the number depends on",
    OPEN: "no number yet, for the reason given",
}
VERDICTS = tuple(MEANINGS)
CLOSE_TOLERANCES = 3
_ROUNDING = 1e-12  # relative; a difference of exactly the tolerance still counts

REQUIRED = ("key", "definition", "label", "dataset", "value", "tolerance", "why", "source")

NO_MODEL = "recgauge has no such model yet"
PICTURE = "Published values and ours"
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


@dataclass(frozen=True)
class PublishedNumber:
    """One row of published.csv; every column is text."""

    key: str  # the run's metric that it is compared with, such as ``rmse``
    definition: str  # the metric in the source's words
    label: str  # the model's name in the source
    dataset: str  # the option that the runs chose
    value: str  # the number as printed
    tolerance: str  # largest difference that still reproduces
    why: str  # why this tolerance
    source: str  # where the number was published
    model: str = ""  # the option that the runs chose; empty if recgauge has no such model yet
    filters: str = ""  # options that the runs chose; empty if it does not matter
    split: str = ""
    candidates: str = ""
    conventions: str = ""
    # resolved settings that the runs must have, such as ``model.n_factors=100 split.fold=0``
    settings: str = ""
    runs: str = ""  # how many runs are averaged, such as the folds; 1 if empty
    unknown: str = ""  # what the source leaves open that the number depends on; empty if nothing
    note: str = ""

    def __post_init__(self) -> None:
        for name in REQUIRED:
            if not getattr(self, name).strip():
                raise SchemaError(f"{name} must not be empty.")
        for name in ("value", "tolerance"):
            if not _is_number(getattr(self, name)):
                raise SchemaError(f"{name} must be a number, got {getattr(self, name)!r}.")
        if float(self.tolerance) <= 0:
            raise SchemaError(f"tolerance must be positive, got {self.tolerance}.")
        if self.runs and not (self.runs.isdecimal() and int(self.runs) > 0):
            raise SchemaError(f"runs must be a whole number >= 1, got {self.runs!r}.")
        if any("=" not in word for word in self.settings.split()):
            raise SchemaError(f"settings must be KEY=VALUE, separated by spaces, got {self.settings!r}.")

    @property
    def n_runs(self) -> int:
        """How many runs are averaged."""
        return int(self.runs or 1)

    def matches(self, run: JobOutcome) -> bool:
        """Whether a run is one of those that the number is compared with."""
        groups = option_groups("rows", "model")
        if not self.model or any(getattr(self, name) not in ("", run.names.get(name)) for name in groups):
            return False
        settings = flat_settings(run.settings)
        words = (word.split("=", 1) for word in self.settings.split())
        return all(settings.get(key) == value for key, value in words)


def read_published(path: Path) -> tuple[PublishedNumber, ...]:
    """Read and check a published.csv, plain or packed as gzip."""
    if not (path.is_file() or path.with_name(f"{path.name}.gz").is_file()):
        raise MissingDataError(
            f"{path}: there is no such file. It holds the published numbers of the experiment."
        )
    with open_text(path) as file:
        reader = csv.DictReader(file, strict=True)
        _check_columns(path, reader.fieldnames or ())
        numbers = []
        for row in reader:
            if None in row or None in row.values():
                raise SchemaError(f"{path} line {reader.line_num}: the row has too few or too many columns.")
            try:
                numbers.append(PublishedNumber(**row))
            except SchemaError as error:
                raise SchemaError(f"{path} line {reader.line_num}: {error}") from error
    if not numbers:
        raise SchemaError(f"{path}: there must be at least one row, got none.")
    return tuple(numbers)


def _check_columns(path: Path, names: Sequence[str]) -> None:
    columns = [field.name for field in fields(PublishedNumber)]
    if unknown := [name for name in names if name not in columns]:
        raise SchemaError(f"{path}: unknown column {', '.join(unknown)}; there are {', '.join(columns)}.")
    if absent := [name for name in REQUIRED if name not in names]:
        raise SchemaError(f"{path}: column {', '.join(absent)} is missing.")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def verdict(ours: float, published: float, tolerance: float, *, protocol_stated: bool = True) -> str:
    """Return the word for a pair of numbers; `tolerance` is the largest difference that still reproduces.

    Where the source leaves open what the number depends on, one that differs is "protocol unknown".

    Examples
    --------
    >>> verdict(0.9443, 0.944, 0.001), verdict(0.946, 0.944, 0.001), verdict(0.95, 0.944, 0.001)
    ('reproduced', 'close', 'not reproduced')
    >>> verdict(0.95, 0.944, 0.001, protocol_stated=False)
    'protocol unknown'
    """
    rounding = _ROUNDING * max(1.0, abs(published))
    difference = abs(ours - published)
    if difference <= tolerance + rounding:
        return REPRODUCED
    if difference <= CLOSE_TOLERANCES * tolerance + rounding:
        return CLOSE
    return NOT_REPRODUCED if protocol_stated else UNKNOWN


def tally(verdicts: Iterable[str]) -> str:
    """Return how often each verdict was given, as a phrase.

    Examples
    --------
    >>> tally(["open", "reproduced", "reproduced"])
    '2 reproduced, 1 open'
    """
    counts = Counter(verdicts)
    return ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])


@dataclass(frozen=True)
class PublishedTable(Study):
    """Compares every row of published.csv with the mean over the runs that match it.

    Notes
    -----
    A row is open, with the reason, as long as fewer runs match than it averages. The verdicts are defined in
    `MEANINGS`.
    """

    name: str  # name of the experiment
    # keys of metrics that are shown for runs which no published number of this key is compared with
    beside: Sequence[str] = ()
    # keys of metrics whose values are drawn, published and ours, also those of models that recgauge lacks
    drawn: Sequence[str] = ()
    # models left out of that figure, such as one so far off that the others would fall together
    not_drawn: Sequence[str] = ()

    def check(self, source: Path) -> None:
        """Read published.csv."""
        read_published(source / "published.csv")

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return one row per published number, in the order of published.csv, then rows of other metrics."""
        numbers = read_published(source / "published.csv")
        beside = []
        for run in runs:
            if run.record is not None:
                beside += self._beside(run, run.record, numbers)
        return [compare(number, runs) for number in numbers] + beside

    def _beside(self, run: JobOutcome, record: RunRecord, numbers: Sequence[PublishedNumber]) -> list[Row]:
        """Return the rows of a run's numbers without a published counterpart."""
        matching = [number for number in numbers if number.matches(run)]
        model = matching[0].label if matching else run.names["model"]
        about = dict.fromkeys(COLUMNS, "") | {"dataset": run.names["dataset"], "model": model, "runs": "1"}
        rows = []
        for key in self.beside:
            if all(number.key != key for number in matching):
                entry = record.result(key)
                ours = {} if entry is None else {"ours": f"{entry.value:.8g}", "definition": entry.definition}
                rows.append(about | {"metric": key} | ours)
        return rows

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the table, what lacks a model, the tally, the verdicts and the figures."""
        waiting = where(rows, reason=NO_MODEL)
        shown = [row for row in rows if row["reason"] != NO_MODEL]
        table = [published_markdown(shown)] if shown else []
        pictures = [f"![{PICTURE}]({name}.png)" for name in self._pictures(rows)]
        return "\n\n".join([*table, *waiting_lines(waiting), *verdict_lines(rows), *pictures])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the values, if requested, none as long as all rows are open."""
        return {name: plot_values(rows, self.drawn, self.not_drawn) for name in self._pictures(rows)}

    def _pictures(self, rows: Sequence[Row]) -> list[str]:
        return ["values"] if self.drawn and any(row["difference"] for row in rows) else []


def compare(number: PublishedNumber, runs: Sequence[JobOutcome]) -> Row:
    """Return the row of results.csv for one published number."""
    matching = [run for run in runs if number.matches(run)]
    entries = [
        entry
        for run in matching
        if run.record is not None and (entry := run.record.result(number.key)) is not None
    ]
    row = published_row(number) | {
        "reason": _reason(number, matching, len(entries)),
        "runs": str(len(entries)),
        "definition": entries[0].definition if entries else "",
    }
    return row if row["reason"] else row | judged(number, fmean(entry.value for entry in entries))


def published_row(number: PublishedNumber) -> Row:
    """Return the row of results.csv for a published number that has no counterpart yet."""
    return dict.fromkeys(COLUMNS, "") | {
        "dataset": number.dataset,
        "model": number.label,
        "metric": number.key,
        "published": number.value,
        "tolerance": number.tolerance,
        "verdict": OPEN,
        "published_definition": number.definition,
        "source": number.source,
    }


def judged(number: PublishedNumber, ours: float) -> Row:
    """Return what becomes known of a published number by ours."""
    published, stated = float(number.value), not number.unknown.strip()
    return {
        "ours": f"{ours:.8g}",
        "difference": f"{ours - published:+.3g}",
        "verdict": verdict(ours, published, float(number.tolerance), protocol_stated=stated),
    }


def _reason(number: PublishedNumber, matching: Sequence[JobOutcome], n_values: int) -> str:
    """Say why a row is open; empty if it is not."""
    if not number.model:
        return NO_MODEL
    if problems := [run.short_reason for run in matching if run.record is None]:
        return f"{len(problems)} of {number.n_runs} runs: {problems[0]}"
    if not matching:
        return "no run of this grid matches"
    if len(matching) > n_values:
        return f"the runs have no metric {number.key}"
    if n_values != number.n_runs:
        return f"{n_values} runs match where {number.n_runs} are averaged"
    return ""


def published_markdown(rows: Sequence[Row]) -> str:
    """Return published, ours, difference and verdict as a Markdown table, ours with a digit more."""
    shown_rows = [
        row
        | {
            "ours": shown(row["ours"], row["published"]),
            "verdict": row["verdict"] + (f": {row['reason']}" if row["reason"] else ""),
        }
        for row in rows
    ]
    return _table(shown_rows, "published", "ours", "difference", "verdict")


def waiting_lines(rows: Sequence[Row]) -> list[str]:
    """Return the numbers of models that recgauge lacks as a table that the page folds away."""
    if not rows:
        return []
    count = f"{len(rows)} more are open: {NO_MODEL}."
    return [count, folded("Their published values", _table(rows, "published"))]


def _table(rows: Sequence[Row], *names: str) -> str:
    """Return columns of the rows behind what the numbers are of."""
    labelled = [row | {"metric": label(row["metric"])} for row in rows]
    titles = {"dataset": "data set"} | {name: name for name in ("model", "metric", *names)}
    return table(labelled, titles, right=("published", "ours", "difference"))


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
    verdicts = [row["verdict"] for row in rows if row["verdict"]]
    meanings = "; ".join(f"*{word}*: {MEANINGS[word]}" for word in MEANINGS if word in verdicts)
    return [f"{len(verdicts)} published numbers: {tally(verdicts)}.", f"Verdicts: {meanings}."]


def plot_values(rows: Sequence[Row], metrics: Sequence[str], without: Sequence[str] = ()) -> "Figure":
    """Return one panel per data set and metric; models in the order of the first panel, largest on top."""
    from recgauge.report.figures.style import new_figure

    drawn = [
        row
        for row in rows
        if row["metric"] in metrics and row["model"] not in without and (row["published"] or row["ours"])
    ]
    panels = list(dict.fromkeys((row["dataset"], row["metric"]) for row in drawn))
    in_panel = [where(drawn, dataset=dataset, metric=metric) for dataset, metric in panels]
    ranked = sorted(in_panel[0], key=lambda row: -float(row["published"] or row["ours"]))
    models = distinct([*ranked, *drawn], "model")
    with new_figure(None, height=1.3 + 0.26 * len(models), panels=len(panels)) as (figure, axes):
        for (dataset, metric), its, panel in zip(panels, in_panel, axes, strict=True):
            _draw(panel, its, models)
            panel.set_title(f"{dataset}  {label(metric)}", loc="left")
            panel.set_yticks(range(len(models)), models if panel is axes[0] else [""] * len(models))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def _draw(axes: "Axes", rows: Sequence[Row], models: Sequence[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    from recgauge.report.figures.style import MUTED, PALETTE

    for column, edge, face, size in (
        ("published", MUTED, "none", 8.0),
        ("ours", PALETTE[0], PALETTE[0], 4.5),
    ):
        numbered = [row for row in rows if row[column]]
        axes.plot(
            [float(row[column]) for row in numbered],
            [models.index(row["model"]) for row in numbered],
            "o",
            markeredgecolor=edge,
            markerfacecolor=face,
            markersize=size,
            label=column,
        )
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(5))
