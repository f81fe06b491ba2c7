"""Sections of what the numbers stand on: data, guards, protocol, citations, configuration, environment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recgauge.errors import listed
from recgauge.report.blocks import Block, Cell, Code, Folded, Lines, Section, TableBlock, Text
from recgauge.report.data_card.page import card_tables, percent
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
    blocks: list[Block] = [*tables[:2]]
    if tables[2:]:
        blocks.append(Folded(f"Ratings, activity, popularity, drift: {part.name}", tuple(tables[2:])))
    return lead, blocks


def guards(data: ReportData) -> Section:
    """Return the guards that fired, and the names of those that did not."""
    fired: dict[tuple[str, str, str], list[str]] = {}
    checked: dict[str, None] = {}
    for part in data.parts:
        for run, record in part.records():
            for guard in record.guards:
                checked[guard.name] = None
                if guard.fired:
                    told = "overridden" if guard.overridden else guard.level
                    runs = fired.setdefault((guard.name, told, guard.message), [])
                    name = f"{part.name}, {run}" if data.several else run
                    runs += [] if name in runs else [name]
    if not checked:
        return Section("Guards", "The runs have no guards on record.", folded=True)
    quiet = [name for name in checked if name not in {name for name, _, _ in fired}]
    rows = tuple(
        (Cell(name, (level,)), Cell(message, (listed(runs, most=6),)))
        for (name, level, message), runs in fired.items()
    )
    lead = f"None of {len(checked)} guards fired."
    if fired:
        names = dict.fromkeys(name for name, _, _ in fired)
        lead = f"{len(names)} of {len(checked)} guards fired: {listed(list(names))}."
    header = ("guard", "what was found, and in which runs")
    table = TableBlock("Guards that fired", header, rows, words=header[1:], look="guards")
    silent = Text(f"Looked at without a warning: {', '.join(quiet)}.", "explanation")
    return Section("Guards", lead, (*([table] if rows else []), *([silent] if quiet else [])), folded=True)


def protocol(data: ReportData) -> Section:
    """Return the protocol in words, and BibTeX of what it uses."""
    records = [record for part in data.parts for _, record in part.records()]
    groups = cited(records, [part.card.citation if part.card else None for part in data.parts])
    keys = "; ".join(f"{group}: {', '.join(one.key for one in some)}" for group, some in groups.items())
    blocks: list[Block] = [Text(text) for text in protocol_words(data)]
    if groups:
        entries = "\n\n".join(one.entry for some in groups.values() for one in some)
        blocks.append(Text(f"Cite {keys}.", "explanation"))
        blocks.append(Folded("BibTeX", (Code("BibTeX of data, models and metrics", entries),), printed=True))
    lead = "Ready to be pasted into a paper's experimental setup."
    return Section("Protocol in words", lead, tuple(blocks), folded=True, printed=True)


def configuration(data: ReportData) -> Section:
    """Return commands, settings that runs share and those in which they differ, and the environment."""
    records = [
        (f"{part.name}, {run}" if data.several else run, one)
        for part in data.parts
        for run, one in part.records()
    ]
    commands = "\n".join(dict.fromkeys(record.command for _, record in records if record.command))
    settings = [_shown(record) for _, record in records]
    environments = [flat_settings(dict(record.environment)) for _, record in records]
    blocks: list[Block] = [Code("Commands that repeat the runs", commands)] if commands else []
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
    what: str, found: Sequence[Mapping[str, str]], seeds: Sequence[tuple[str, str]]
) -> list[Block]:
    """Return what all runs have in common, and a row for each run of what they have not.

    `seeds` are the run and the seed of each; seeds that differ in nothing else share a row.
    """
    keys = dict.fromkeys(key for one in found for key in one)
    common = {key: found[0][key] for key in keys if len({one.get(key) for one in found}) == 1}
    rows = tuple((key, value) for key, value in common.items())
    blocks: list[Block] = []
    if rows:
        blocks.append(TableBlock(f"{what.capitalize()} of all runs", (), rows, look="facts"))
    told: dict[str, dict[str, list[str]]] = {}
    for (name, seed), one in zip(seeds, found, strict=True):
        text = ", ".join(
            f"{key}={one[key]}" for key in keys if key not in common and key != "seed" and key in one
        )
        told.setdefault(name, {}).setdefault(text, []).append(seed)
    lines = [
        (name if len(texts) == 1 else f"{name}, seed {listed(of)}", text)
        for name, texts in told.items()
        for text, of in texts.items()
    ]
    if any(text for _, text in lines):
        blocks.append(TableBlock(f"{what.capitalize()} in which runs differ", (), tuple(lines), look="facts"))
    return blocks


def left_out(data: ReportData) -> Section | None:
    """Return which sections are not there, and why."""
    notes = [f"{part.name}: {note}" if data.several else note for part in data.parts for note in part.notes]
    lead = "What this report does not show."
    return Section("Left out", lead, (Lines(tuple(notes)),), folded=True) if notes else None
