"""What the numbers stand on, folded in one section: training, data, guards, protocol, commands."""

from collections.abc import Sequence
from dataclasses import replace

from recgauge.page.data import ReportData
from recgauge.page.protocol import protocol_words, sources
from recgauge.report.blocks import Code, Heading, PageBlock, Section, Text, lines
from recgauge.report.card_tables import card_tables
from recgauge.report.run_tables import learned_line


def behind(data: ReportData) -> Section:
    """Return the section; parts of it that have no data are left out."""
    records = [(run, record) for part in data.parts for run, record in part.records()]
    learned = [f"{run}: {learned_line(record)}" for run, record in records if record.learned]
    commands = "\n".join(dict.fromkeys(record.command for _, record in records if record.command))
    parts: dict[str, Sequence[PageBlock]] = {
        "Training in epochs": lines(learned),
        "Data": [
            replace(table, caption=f"{part.name}: {table.caption.lower()}" if n else part.name)
            for part in data.parts
            if part.card is not None
            for n, table in enumerate(card_tables(part.card))
        ],
        "Guards": _guards(data),
        "Protocol in words": [Text(text) for text in protocol_words(data)],
        "What to cite": lines(sources(data)),
        "Commands": [Code("Commands that repeat the runs", commands)] if commands else [],
        "Left out": lines(f"{part.name}: {note}" for part in data.parts for note in part.notes),
    }
    blocks: list[PageBlock] = []
    for title, contents in parts.items():
        if contents:
            blocks += [Heading(title), *contents]
    lead = "Data, guards, the protocol for a paper, and the commands that repeat the runs."
    return Section("Behind the numbers", lead, tuple(blocks), folded=True)


def _guards(data: ReportData) -> list[PageBlock]:
    """Return which guards fired, whose sentences stand below the answer, and which did not."""
    guards = [guard for part in data.parts for _, record in part.records() for guard in record.guards]
    fired = list(dict.fromkeys(guard.name for guard in guards if guard.fired))
    quiet = list(dict.fromkeys(guard.name for guard in guards if guard.name not in fired))
    texts = {"Fired, see below the answer": fired, "Looked at without a warning": quiet}
    return [*lines(f"{text}: {', '.join(names)}." for text, names in texts.items() if names)]
