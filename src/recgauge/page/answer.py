"""The first screen of a report: the answer in plain words, the exact one, one figure, what it is of."""

import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from math import prod

from recgauge.comparison.plain import plain_claim, winners_claim
from recgauge.errors import listed
from recgauge.metrics.names import metric_label
from recgauge.page.data import DatasetPart, ReportData
from recgauge.report import comparison_tables as tables
from recgauge.report.blocks import (
    Folded,
    Lines,
    PageBlock,
    Picture,
    Pictures,
    Section,
    TableBlock,
    lines,
    slug,
)
from recgauge.report.figures.compared import plot_means

MOST_ROWS = 12  # runs of the figure; the leaderboard has all
MOST_FIGURES = 4  # data sets
MOST_NOTES = 3  # more are folded


def answer(data: ReportData) -> Section:
    """Return the claims by the first metric for all to see, those by the others folded."""
    comparison = data.comparison
    first, over = comparison.metrics[0], comparison.over_datasets
    results = [result for result in comparison.results if result.metric == first]
    plain = {dataset: plain_claim(comparison, dataset) for dataset in comparison.datasets}
    blocks: list[PageBlock] = []
    if len(plain) > 1:
        blocks.append(Lines(tuple(f"{dataset}: {text}" for dataset, text in plain.items()), "claims"))
    exact = [claim for result in results for claim in result.claims]
    exact += [claim for result in over[:1] for claim in result.claims]
    exactly = lines(exact, "exact")
    blocks += exactly if len(results) == 1 else [Folded("In exact words", tuple(exactly), printed=True)]
    blocks += [_figures(data), TableBlock("", (), tuple(_facts(data)), look="facts")]
    blocks += lines(tables.marks_of(comparison), "marks")
    more = [claim for result in comparison.results if result.metric != first for claim in result.claims]
    more += [claim for result in over[1:] for claim in result.claims]
    if more:
        labels = ", ".join(map(metric_label, comparison.metrics[1:]))
        blocks.append(Folded(f"By other metrics: {labels}", (Lines(tuple(more)),)))
    notes = lines(comparison.notes, "notes")
    many = len(comparison.notes) > MOST_NOTES
    blocks += [Folded(f"{len(comparison.notes)} notes", tuple(notes), printed=True)] if many else notes
    headline = winners_claim(comparison) if len(plain) > 1 else next(iter(plain.values()))
    return Section("The answer", headline, tuple(blocks))


def _figures(data: ReportData) -> Pictures:
    """Return the means of all runs with their intervals, a figure for each of the first data sets."""
    comparison, drawn = data.comparison, []
    for dataset in comparison.datasets[:MOST_FIGURES]:
        result = comparison.result(comparison.metrics[0], dataset)
        n_more = len(result.rows) - MOST_ROWS
        more = f"; {n_more} more runs are in the leaderboard" if n_more > 0 else ""
        caption = (
            f"{metric_label(result.metric)}{data.place(dataset)}, mean over users with its "
            f"{100 * comparison.procedure.confidence:g} % interval{more}"
        )
        draw = partial(plot_means, result, most=MOST_ROWS)
        shows = f"{result.rows[0].run} has the best mean, {tables.number(result.rows[0].mean)}."
        drawn.append(Picture(f"means_{slug(dataset)}", draw, caption, shows))
    return Pictures(tuple(drawn))


def _facts(data: ReportData) -> list[tuple[str, str]]:
    """Return what the numbers are of, when the runs ended, and the command that repeats them."""
    rows = [("data", _data(data, part)) for part in data.parts]
    records = [record for part in data.parts for _, record in part.records()]
    if ended := [record.job.ended for record in records if record.job is not None and record.job.ended]:
        days = dict.fromkeys(f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d}" for t in (min(ended), max(ended)))
        rows.append(("date", " to ".join(days)))
    records.sort(key=lambda record: 0.0 if record.job is None else record.job.started)
    commands = list(dict.fromkeys(record.command for record in records if record.command))
    if commands:
        n_more = len(commands) - 1
        more = f", and {n_more} more: see Behind the numbers" if n_more else ""
        rows.append(("command", sweep_command(commands) or f"{commands[0]}{more}"))
    return rows


def _data(data: ReportData, part: DatasetPart) -> str:
    records = [record for _, record in part.records()]
    facts, splits = records[0].dataset, dict.fromkeys(record.names.get("split", "none") for record in records)
    seeds = sorted({record.seed for record in records})
    users = data.comparison.result(data.comparison.metrics[0], part.name).users
    return (
        f"{part.name}: {facts.n_rows:,} rows of {facts.n_users:,} users and {facts.n_items:,} items; "
        f"split {listed(splits)}, seed{'s' if len(seeds) > 1 else ''} {listed(seeds, 5)}; evaluated: {users}"
    )


def sweep_command(commands: Sequence[str]) -> str:
    """Return the sweep that makes the runs of some commands, empty if there is none.

    Examples
    --------
    >>> sweep_command(["recgauge run model=svd seed=1", "recgauge run model=ease seed=1"])
    'recgauge run -m model=svd,ease seed=1'
    >>> sweep_command(["recgauge run model=svd", "recgauge run model=ease seed=1"])
    ''
    """
    rows = [shlex.split(command) for command in commands]
    if len({len(row) for row in rows}) > 1 or any("hydra." in command for command in commands):
        return ""
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    if prod(map(len, columns)) != len(set(commands)):
        return ""
    words = []
    for column in columns:
        keys, values = zip(
            *(word.split("=", 1) if "=" in word else (word, "") for word in column), strict=True
        )
        if len(column) > 1 and (len(set(keys)) > 1 or not all(re.fullmatch(r"[\w./-]+", v) for v in values)):
            return ""
        words.append(column[0] if len(column) == 1 else f"{keys[0]}={','.join(values)}")
    first = next((place for place, word in enumerate(words) if "=" in word), len(words))
    return shlex.join([*words[:first], *(["-m"] if len(commands) > 1 else []), *words[first:]])
