"""What searches chose, how much that gained over the defaults, and whether a range was too narrow."""

from dataclasses import MISSING, fields, is_dataclass, replace
from math import log
from typing import TYPE_CHECKING

from recgauge.errors import listed
from recgauge.metrics.names import metric_label
from recgauge.page.data import DatasetPart
from recgauge.page.protocol import model_class
from recgauge.report.blocks import Cell, Row, TableBlock
from recgauge.report.comparison_tables import number
from recgauge.runs.record import RunRecord

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

    from recgauge.search.trials import Trial

EDGE = 0.05  # of a range: a value that is nearer to its end is at its edge
_NOTE = (
    "Validation and test values are of other rows, and the final model has learned from the validation rows, "
    "too. A validation value is the best of all trials and so somewhat too high; the test value is not. "
    "Defaults: the first trial. At the edge of a range, a wider one may give more."
)


def with_chosen(table: TableBlock, part: DatasetPart) -> TableBlock:
    """Return a leaderboard with the chosen settings below the names of tuned runs."""
    rows: list[Row] = []
    for name, *cells in table.rows:
        text = name.text if isinstance(name, Cell) else name
        records = part.runs[text].records if text in part.runs else ()
        chosen = dict.fromkeys(each.search.chosen.words for each in records if each.search is not None)
        small = next(iter(chosen)) if len(chosen) == 1 else f"tuned: {len(chosen)} choices, see below"
        rows.append((Cell(text, (small,) if chosen else ()), *cells))
    return replace(table, rows=tuple(rows))


def tuned_table(part: DatasetPart) -> list[TableBlock]:
    """Return a row for each search: what it chose, what that reached, and what to know of it."""
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for run, record in part.records():
        if (search := record.search) is None:
            continue
        chosen, default = search.chosen, default_trial(record)
        value, entry = float(chosen.value or 0.0), record.result(search.metric)
        remarks = [f"{name} at the edge of its range, {ends}" for name, ends in edges(record).items()]
        before = None if default is None else default.value
        gain = "" if not before else f"{100 * (value - before) / abs(before):+.1f} %"
        if default is chosen:
            gain, remarks = "", ["the defaults won", *remarks]
        metrics[metric_label(search.metric)] = None
        rows.append(
            (
                run,
                f"{record.seed}",
                chosen.words,
                "" if before is None else number(before),
                number(value),
                gain,
                "" if entry is None else number(entry.value),
                "; ".join(remarks),
                f"{len(search.trials)} {search.sampler}, {search.seconds:.0f} s",
            )
        )
    header = (
        *("run", "seed", "chosen", "defaults, validation", "chosen, validation", "gain", "chosen, test"),
        *("remarks", "trials"),
    )
    caption = (
        f"{part.name}: settings chosen by {listed(metrics)} of validation rows, without a look at test rows"
    )
    words = ("chosen", "remarks", "trials")
    table = TableBlock(caption, header, tuple(rows), words=words, note=_NOTE, look="tuned")
    return [table] if rows else []


def default_trial(record: RunRecord) -> "Trial | None":
    """Return the trial of the model's own defaults, which is the first if they are in the ranges."""
    kind = model_class(record.settings)
    if record.search is None or kind is None or not is_dataclass(kind):
        return None
    defaults = {field.name: field.default for field in fields(kind)}
    first = record.search.trials[0]
    alike = all(defaults.get(name, MISSING) == value for name, value in first.settings.items())
    return first if alike and first.state == "finished" else None


def edges(record: RunRecord) -> dict[str, str]:
    """Return the chosen settings that lie at an end of what was tried, with its ends."""
    if record.search is None:
        return {}
    return {
        name: ends
        for name, distribution in record.search_space.items()
        if (ends := _edge(distribution, record.search.chosen.settings[name]))
    }


def _edge(distribution: "BaseDistribution", value: object) -> str:
    """Return the ends of a range that a value is at an end of; empty if it is not."""
    low, high = getattr(distribution, "low", None), getattr(distribution, "high", None)
    if low is None or high is None or not isinstance(value, int | float) or low >= high:
        return ""
    scale = log if getattr(distribution, "log", False) else float
    place = (scale(value) - scale(low)) / (scale(high) - scale(low))
    return f"{low:g} to {high:g}" if not EDGE < place < 1 - EDGE else ""
