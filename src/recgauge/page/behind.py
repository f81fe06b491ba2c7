"""What the numbers stand on, folded in one section: popularity, errors, training, data, guards, protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from recgauge.errors import DataError, listed
from recgauge.metrics.names import metric_label
from recgauge.page.data import DatasetPart, ReportData, cutoff_of
from recgauge.page.protocol import cited, protocol_words
from recgauge.report.blocks import (
    Cell,
    Code,
    Folded,
    Heading,
    Lines,
    PageBlock,
    Row,
    Section,
    TableBlock,
    Text,
    lines,
)
from recgauge.report.card_tables import card_tables, percent
from recgauge.report.comparison_tables import number
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import flat_settings, numeric_settings, part
from recgauge.runs.stored import PREDICTIONS, read_table
from recgauge.utils.checks import DoubleArray

MOST_RATINGS = 10  # that errors are shown for; of finer scales, whole ratings


def behind(data: ReportData) -> Section:
    """Return the section; parts of it that have no data are left out."""
    parts = {
        "Popular and rare items": [_popularity(data, part) for part in data.parts],
        "Predicted ratings": [_errors(part) for part in data.parts],
        "Training in epochs": [_epochs(part) for part in data.parts],
        "Data": [_data_card(part) for part in data.parts],
        "Guards": [_guards(data)],
        "Protocol in words": [_protocol(data)],
        "Configuration": [_configuration(data)],
        "Left out": [_left_out(data)],
    }
    blocks: list[PageBlock] = []
    for title, contents in parts.items():
        if any(contents):
            blocks += [Heading(title), *(block for content in contents for block in content)]
    lead = "Data, guards, the protocol for a paper, settings and commands that repeat the runs."
    return Section("Behind the numbers", lead, tuple(blocks), folded=True, printed=True)


def _popularity(data: ReportData, part: DatasetPart) -> list[PageBlock]:
    """Return what each run recommends of popular and of rare items."""
    if not part.popularity:
        return []
    rows = tuple((run, *map(percent, shares.tolist())) for run, shares in part.popularity.items())
    header = ("run", *(f"{tenth}." for tenth in range(1, len(rows[0]))))
    k = cutoff_of(data.comparison.metrics[0])
    caption = f"{part.name}: share of the top {k} recommendations by tenths of the training rows"
    return [TableBlock(caption, header, rows, note="The first tenth are rows of the most popular items.")]


def _errors(part: DatasetPart) -> list[PageBlock]:
    """Return mean errors of predicted ratings by the rating that the user gave."""
    predictions = {run: pair for run in part.runs if (pair := _predictions(part, run)) is not None}
    if not predictions:
        return []
    values = np.unique(np.concatenate([actual for actual, _ in predictions.values()]))
    if len(values) > MOST_RATINGS:
        values = np.unique(np.round(values))
    rows: list[Row] = []
    for run, (actual, predicted) in predictions.items():
        nearest = np.abs(actual[:, None] - values[None, :]).argmin(axis=1)
        counts = np.bincount(nearest, minlength=len(values))
        means = np.bincount(nearest, predicted - actual, len(values)) / np.maximum(counts, 1)
        texts = [number(mean, sign=True) if n else "" for mean, n in zip(means, counts, strict=True)]
        cells = [Cell(text, order=mean) for text, mean in zip(texts, means.tolist(), strict=True)]
        rows.append((run, *cells))
    header = ("run", *(f"{value:g}" for value in values))
    caption = f"{part.name}: mean of predicted less actual rating, by the actual rating"
    return [TableBlock(caption, header, tuple(rows), sortable=True)]


def _predictions(part: DatasetPart, run: str) -> tuple[DoubleArray, DoubleArray] | None:
    """Return the actual and predicted ratings of a run's first seed and fold; None if it has none."""
    try:
        rows = read_table(part.runs[run].runs[0].folder / PREDICTIONS, ["rating", "predicted"])
    except DataError:
        return None
    actual, predicted = (rows[name].to_numpy().astype(np.float64) for name in ("rating", "predicted"))
    return (actual, predicted) if len(actual) else None


def _epochs(part: DatasetPart) -> list[PageBlock]:
    """Return loss and validation value of models that learn in epochs."""
    rows: list[Row] = []
    for run in part.runs:
        record = part.record(run)
        if points := record.learned:
            values = [f"{point.epoch}: {number(point.value)}" for point in points if point.value is not None]
            metric = metric_label(points[0].metric) if values else ""
            losses = f"{number(points[0].loss)} to {number(points[-1].loss)}"
            rows.append((run, f"{len(points)}", f"{record.kept_epoch}", losses, metric, ", ".join(values)))
    header = ("run", "epochs", "kept", "training loss", "metric", "on validation rows, by epoch")
    caption = f"{part.name}: training in epochs"
    return [TableBlock(caption, header, tuple(rows), words=header[3:])] if rows else []


def _data_card(part: DatasetPart) -> list[PageBlock]:
    if part.card is None:
        return []
    return [
        replace(table, caption=f"{part.name}: {table.caption.lower()}" if n else f"Data card of {part.name}")
        for n, table in enumerate(card_tables(part.card))
    ]


def _guards(data: ReportData) -> list[PageBlock]:
    """Return the guards that fired, and the names of those that did not."""
    guards = [(run, guard) for run, record in _records(data) for guard in record.guards]
    fired: dict[tuple[str, str, str], dict[str, None]] = {}
    for run, guard in guards:
        if guard.fired:
            level = "overridden" if guard.overridden else guard.level
            fired.setdefault((guard.name, level, guard.message), {})[run] = None
    names = dict.fromkeys(name for name, _, _ in fired)
    quiet = [name for name in dict.fromkeys(guard.name for _, guard in guards) if name not in names]
    blocks: list[PageBlock] = []
    if fired:
        header = ("guard", "message, and runs")
        rows = tuple(
            (Cell(name, (level,)), Cell(message, (listed(runs, most=6),)))
            for (name, level, message), runs in fired.items()
        )
        blocks.append(TableBlock("Guards that fired", header, rows, words=header[1:], look="guards"))
    if quiet:
        blocks.append(Text(f"Looked at without a warning: {', '.join(quiet)}.", "explanation"))
    return blocks


def _records(data: ReportData) -> list[tuple[str, RunRecord]]:
    """Return all records with the names of their runs, and of their data sets where there are several."""
    return [
        (f"{part.name}, {run}" if data.several else run, record)
        for part in data.parts
        for run, record in part.records()
    ]


def _protocol(data: ReportData) -> list[PageBlock]:
    """Return the protocol in words, and the sources of data sets, models and metrics."""
    citations = [part.card.citation if part.card else None for part in data.parts]
    sources = cited([record for _, record in _records(data)], citations)
    blocks: list[PageBlock] = [Text(text) for text in protocol_words(data)]
    if sources:
        blocks.append(Folded("What to cite", (Lines(tuple(sources)),), printed=True))
    return blocks


def _configuration(data: ReportData) -> list[PageBlock]:
    """Return commands, settings that runs share and those in which they differ, and the environment."""
    records = _records(data)
    commands = "\n".join(dict.fromkeys(record.command for _, record in records if record.command))
    settings = [_shown(record) for _, record in records]
    environments = [flat_settings(dict(record.environment)) for _, record in records]
    blocks: list[PageBlock] = [Code("Commands that repeat the runs", commands)] if commands else []
    seeds = [(name, f"{record.seed}") for name, record in records]
    blocks += _common_and_different("settings", settings, seeds)
    blocks += _common_and_different("environment", environments, seeds)
    return blocks


def _shown(record: RunRecord) -> dict[str, str]:
    """Return the settings that can change a number, without paths; of a search, what chose the model's."""
    settings = numeric_settings(record.settings) | {"filters": record.settings.get("filters") or {}}
    return flat_settings(settings | (part(record.settings, "search") if record.search is not None else {}))


def _common_and_different(
    name: str, settings: Sequence[Mapping[str, str]], seeds: Sequence[tuple[str, str]]
) -> list[PageBlock]:
    """Return what all runs have in common, and a row for each run of what they have not.

    `seeds` are the run and the seed of each; seeds that differ in nothing else share a row.
    """
    keys = dict.fromkeys(key for own in settings for key in own)
    common = {key: settings[0][key] for key in keys if len({own.get(key) for own in settings}) == 1}
    differing = [key for key in keys if key not in common and key != "seed"]
    seeds_of: dict[str, dict[str, list[str]]] = {}
    for (run, seed), own in zip(seeds, settings, strict=True):
        text = ", ".join(f"{key}={own[key]}" for key in differing if key in own)
        seeds_of.setdefault(run, {}).setdefault(text, []).append(seed)
    rows = [
        (run if len(texts) == 1 else f"{run}, seed {listed(of)}", text)
        for run, texts in seeds_of.items()
        for text, of in texts.items()
    ]
    tables = {
        f"{name.capitalize()} of all runs": tuple(common.items()),
        f"{name.capitalize()} in which runs differ": tuple(rows) if any(text for _, text in rows) else (),
    }
    return [TableBlock(caption, (), rows, look="facts") for caption, rows in tables.items() if rows]


def _left_out(data: ReportData) -> list[PageBlock]:
    """Return which parts of the report are missing, and why."""
    notes = [f"{part.name}: {note}" if data.several else note for part in data.parts for note in part.notes]
    return [*lines(notes)]
