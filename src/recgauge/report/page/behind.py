"""Sections of what the numbers stand on: data, guards, protocol, citations, configuration, environment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recgauge.errors import listed
from recgauge.report.blocks import Cell, Code, Folded, Lines, PageBlock, Section, TableBlock, Text
from recgauge.report.data_card import card_tables, percent
from recgauge.report.page.citations import cited
from recgauge.report.page.data import DatasetPart, ReportData, Told
from recgauge.report.page.words import protocol_words
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import counted_settings, flat_settings

NOT_SHOWN = ("tracking", "data", "engine", "jobs", "reuse", "force", "study")
"""Settings that say where files and results go and how work is divided; they change no number."""


def data_card(data: ReportData, part: DatasetPart) -> Told:  # noqa: ARG001 - as every section
    """Return the data card of a data set."""
    if part.card is None:
        return None
    whole = part.card.data
    lead = (
        f"{part.name}: {whole.n_rows:,} rows, {whole.n_users:,} users, {whole.n_items:,} items, density "
        f"{percent(whole.density, 3)}."
    )
    tables = [
        replace(table, caption=f"{part.name}: {table.caption.lower()}" if n else f"Data card of {part.name}")
        for n, table in enumerate(card_tables(part.card))
    ]
    blocks: list[PageBlock] = [*tables[:2]]
    if tables[2:]:
        blocks.append(Folded(f"Ratings, activity, popularity, drift: {part.name}", tuple(tables[2:])))
    return lead, blocks


def guards(data: ReportData) -> Section:
    """Return the guards that fired, and the names of those that did not."""
    fired: dict[tuple[str, str, str], dict[str, None]] = {}
    checked: dict[str, None] = {}
    for run, record in _records(data):
        for guard in record.guards:
            checked[guard.name] = None
            if guard.fired:
                level = "overridden" if guard.overridden else guard.level
                fired.setdefault((guard.name, level, guard.message), {})[run] = None
    if not checked:
        return Section("Guards", "The runs have no guards on record.", folded=True)
    names = dict.fromkeys(name for name, _, _ in fired)
    quiet = [name for name in checked if name not in names]
    lead = f"None of {len(checked)} guards fired."
    blocks: list[PageBlock] = []
    if fired:
        lead = f"{len(names)} of {len(checked)} guards fired: {listed(list(names))}."
        header = ("guard", "what was found, and in which runs")
        rows = tuple(
            (Cell(name, (level,)), Cell(message, (listed(list(runs), most=6),)))
            for (name, level, message), runs in fired.items()
        )
        blocks.append(TableBlock("Guards that fired", header, rows, words=header[1:], look="guards"))
    if quiet:
        blocks.append(Text(f"Looked at without a warning: {', '.join(quiet)}.", "explanation"))
    return Section("Guards", lead, tuple(blocks), folded=True)


def _records(data: ReportData) -> list[tuple[str, RunRecord]]:
    """Return all records with the names of their runs, and of their data sets where there are several."""
    return [
        (f"{part.name}, {run}" if data.several else run, record)
        for part in data.parts
        for run, record in part.records()
    ]


def protocol(data: ReportData) -> Section:
    """Return the protocol in words, and the sources of what it uses."""
    citations = [part.card.citation if part.card else None for part in data.parts]
    sources = cited([record for _, record in _records(data)], citations)
    blocks: list[PageBlock] = [Text(text) for text in protocol_words(data)]
    if sources:
        blocks.append(Folded("What to cite", (Lines(tuple(sources)),), printed=True))
    lead = "Ready to be pasted into a paper's experimental setup."
    return Section("Protocol in words", lead, tuple(blocks), folded=True, printed=True)


def configuration(data: ReportData) -> Section:
    """Return commands, settings that runs share and those in which they differ, and the environment."""
    records = _records(data)
    commands = "\n".join(dict.fromkeys(record.command for _, record in records if record.command))
    settings = [_shown(record) for _, record in records]
    environments = [flat_settings(dict(record.environment)) for _, record in records]
    blocks: list[PageBlock] = [Code("Commands that repeat the runs", commands)] if commands else []
    seeds = [(name, f"{record.seed}") for name, record in records]
    blocks += _common_and_different("settings", settings, seeds)
    blocks += _common_and_different("environment", environments, seeds)
    lead = "Everything that decides a number; settings of paths and of tracking are left out."
    return Section("Configuration", lead, tuple(blocks), folded=True, printed=True)


def _shown(record: RunRecord) -> dict[str, str]:
    hidden = NOT_SHOWN if record.search is not None else (*NOT_SHOWN, "search")
    counted = counted_settings(record.settings)
    parts = {key: counted[key] for key in ("dataset", "split", "model") if key in counted}  # without paths
    shown = record.settings | parts
    return flat_settings({key: value for key, value in shown.items() if key not in hidden})


def _common_and_different(
    what: str, settings: Sequence[Mapping[str, str]], seeds: Sequence[tuple[str, str]]
) -> list[PageBlock]:
    """Return what all runs have in common, and a row for each run of what they have not.

    `seeds` are the run and the seed of each; seeds that differ in nothing else share a row.
    """
    keys = dict.fromkeys(key for own in settings for key in own)
    common = {key: settings[0][key] for key in keys if len({own.get(key) for own in settings}) == 1}
    differing = [key for key in keys if key not in common and key != "seed"]
    told: dict[str, dict[str, list[str]]] = {}
    for (name, seed), own in zip(seeds, settings, strict=True):
        text = ", ".join(f"{key}={own[key]}" for key in differing if key in own)
        told.setdefault(name, {}).setdefault(text, []).append(seed)
    rows = [
        (name if len(texts) == 1 else f"{name}, seed {listed(of)}", text)
        for name, texts in told.items()
        for text, of in texts.items()
    ]
    tables = {
        f"{what.capitalize()} of all runs": tuple(common.items()),
        f"{what.capitalize()} in which runs differ": tuple(rows) if any(text for _, text in rows) else (),
    }
    return [TableBlock(caption, (), rows, look="facts") for caption, rows in tables.items() if rows]


def left_out(data: ReportData) -> Section | None:
    """Return which sections are not there, and why."""
    notes = [f"{part.name}: {note}" if data.several else note for part in data.parts for note in part.notes]
    lead = "What this report does not show."
    return Section("Left out", lead, (Lines(tuple(notes)),), folded=True) if notes else None
