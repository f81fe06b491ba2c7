"""Sections of what the numbers stand on: data, guards, protocol, citations, configuration."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recgauge.comparison.run_groups import FOLDS
from recgauge.comparison.runs import short_value
from recgauge.errors import ConfigError, listed
from recgauge.metrics import metric_class
from recgauge.metrics.names import label
from recgauge.page.data import DatasetPart, ReportData, Told
from recgauge.report.blocks import Cell, Code, Folded, Lines, PageBlock, Section, TableBlock, Text
from recgauge.report.comparison_tables import explanation, on_dataset
from recgauge.report.data_card import card_tables, percent
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import counted_settings, flat_settings
from recgauge.runs.targets import TARGET, find_class

FIT_ON = {
    "train": "on the training rows",
    "train_validation": "on the training and validation rows",
    "all": "on all rows, those of the test part among them",
}
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
    found = [(run, guard) for run, record in _records(data) for guard in record.guards]
    fired: dict[tuple[str, str, str], dict[str, None]] = {}
    for run, guard in found:
        if guard.fired:
            level = "overridden" if guard.overridden else guard.level
            fired.setdefault((guard.name, level, guard.message), {})[run] = None
    names = dict.fromkeys(name for name, _, _ in fired)
    quiet = [name for name in dict.fromkeys(guard.name for _, guard in found) if name not in names]
    lead = f"{len(names)} of {len(names) + len(quiet)} guards fired: {listed(names) or 'none'}."
    blocks: list[PageBlock] = []
    if fired:
        header = ("guard", "what was found, and in which runs")
        rows = tuple(
            (Cell(name, (level,)), Cell(message, (listed(runs, most=6),)))
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


def protocol_words(data: ReportData) -> list[str]:
    """Return paragraphs: data, split, candidates, models, metrics, statistics, software."""
    found = [" ".join([*_data(part), *_split(part), *_users(data, part)]) for part in data.parts]
    first = data.parts[0]
    record = first.record(next(iter(first.runs)))
    found.append(" ".join([*_candidates(record), *_models(data), *_metrics(data)]))
    some = on_dataset(data.comparison, data.comparison.datasets[0])
    found.append(" ".join([explanation(data.comparison.procedure, some), *_software(record)]))
    return found


def between(counts: Iterable[int]) -> str:
    """Return a count, or the lowest and the highest of several seeds and folds."""
    known = list(counts)
    low, high = min(known), max(known)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _data(part: DatasetPart) -> Iterator[str]:
    records = [record for _, record in part.records()]
    facts = records[0].dataset
    kind = "ratings" if facts.feedback == "explicit" else "interactions"
    rows, users, items = (
        between(getattr(record.dataset, name) for record in records)
        for name in ("n_rows", "n_users", "n_items")
    )
    filters = records[0].settings.get("filters") or {}
    named = listed([_with_settings(name, node) for name, node in filters.items()])
    after = f" after the filters {named}" if filters else ""
    counts = f"{rows} {kind} of {users} users and {items} items"
    yield f"We use {part.name} with {counts}{after} ({facts.provenance})."


def _split(part: DatasetPart) -> Iterator[str]:
    records = [record for _, record in part.records()]
    first = records[0]
    rows = [
        f"{between(record.split.parts[name].rows for record in records)} {name.replace('_', '-')} rows"
        for name in first.split.parts
    ]
    node = counted_settings(first.settings).get("split")
    if isinstance(node, Mapping):  # of a run's folds, each has another one
        splits = [record.settings.get("split") or {} for record in records]
        folds = [name for name in FOLDS if len({str(split.get(name)) for split in splits}) > 1]
        node = {name: value for name, value in node.items() if name not in folds}
    split = _with_settings(first.names.get("split", "none"), node)
    seeds = sorted({record.seed for record in records})
    repeats = f"seed {seeds[0]}" if len(seeds) == 1 else f"each with the seeds {listed(seeds)}"
    yield f"The split {split} gives {', '.join(rows)}; {repeats}."
    if any(dropped := [record.split.dropped_rows for record in records]):
        yield f"Filters and split dropped {between(dropped)} rows."


def _users(data: ReportData, part: DatasetPart) -> Iterator[str]:
    """Say who is evaluated: with every seed and fold, and in all of them together."""
    records = [record for _, record in part.records() if "users_evaluated" in record.counts]
    if not records:
        return
    lowest = records[0].dataset.relevant_from
    yield (
        "Every test row is relevant;"
        if lowest is None
        else f"A test item is relevant if it was rated {lowest:g} or higher;"
    )
    left = [record.counts.get("users_without_relevant_items", 0) for record in records]
    result = data.comparison.result(data.comparison.metrics[0], part.name)
    repeated = max(len(group.runs) for group in part.runs.values()) > 1
    together = f" with each seed or fold, {result.n_users:,} in all of them together" if repeated else ""
    without = f"; {between(left)} without a relevant test item are left out" if any(left) else ""
    evaluated = between(record.counts["users_evaluated"] for record in records)
    known = [record.coverage for record in records if record.coverage is not None]
    if len(known) == len(records) and not all(coverage.is_whole for coverage in known):
        evaluated += f" of {between(coverage.users for coverage in known)}"
        rows = [between(getattr(coverage, name) for coverage in known) for name in ("rows_dropped", "rows")]
        without += f"; of {rows[1]} test rows {rows[0]} are dropped"
    yield f"{evaluated} users are evaluated{together}{without}."


def _candidates(record: RunRecord) -> Iterator[str]:
    name, settings = record.names.get("candidates", "all"), record.settings.get("candidates") or {}
    if name == "all" and record.counts.get("users_evaluated"):
        seen = " that the user does not have in training" if settings.get("seen") == "train" else ""
        yield f"Every item of the catalogue{seen} is a candidate."
    elif record.counts.get("users_evaluated"):
        yield f"Candidates: {_with_settings(name, settings)}."
    if record.incomparable:
        yield f"Numbers are not comparable with those of the whole catalogue: {record.incomparable}."


def _models(data: ReportData) -> Iterator[str]:
    told: dict[str, dict[str, None]] = {}
    for record in (part.record(run) for part in data.parts for run in part.runs):
        model = _with_settings(record.names["model"], counted_settings(record.settings).get("model"))
        if (search := record.search) is not None:
            by = f"{len(search.trials)} trials ({search.sampler}) by {label(search.metric)}"
            model += f", chosen in {by} on validation rows"
        told.setdefault(FIT_ON.get(record.fit_on, record.fit_on), {})[model] = None
    for fit_on, models in told.items():
        yield f"Models, trained {fit_on}: {'; '.join(models)}."


def _metrics(data: ReportData) -> Iterator[str]:
    keys = data.comparison.metrics
    record = data.parts[0].record(next(iter(data.parts[0].runs)))
    entries = [entry for key in keys if (entry := record.result(key)) is not None]
    defined = "; ".join(f"{label(entry.key)} is {entry.definition}" for entry in entries)
    convention = record.names.get("conventions", "standard")
    yield f"Metrics, under the convention {convention}: {defined}."
    if record.policies:
        yield f"Policies: {record.policies}."


def _software(record: RunRecord) -> Iterator[str]:
    facts = record.environment
    versions = {"Python": facts.get("python"), **(facts.get("packages") or {})}
    named = [
        f"{name} {versions[name]}" for name in ("Python", "numpy", "scipy", "numba") if versions.get(name)
    ]
    if "recgauge" in facts:
        yield f"Computed with recgauge {facts['recgauge']} ({listed(named)})."


def _with_settings(name: str, node: Any) -> str:
    """Return the name of a component with its settings, of which one may name the algorithm.

    Examples
    --------
    >>> _with_settings("lenskit", {"_target_": "recgauge.models.isolated.LensKit", "name": "ItemKNN"})
    'lenskit (name=ItemKNN)'
    >>> _with_settings("random", {"name": "random", "test_size": 0.2})
    'random (test_size=0.2)'
    """
    if not isinstance(node, Mapping):
        return name
    flat = flat_settings(
        {key: value for key, value in node.items() if key != "_target_" and (key, value) != ("name", name)}
    )
    told = ", ".join(f"{key}={short_value(value)}" for key, value in flat.items() if value != "None")
    return f"{name} ({told})" if told else name


def section_of(text: str, title: str) -> str:
    """Return the content of a section of a docstring, empty if there is none."""
    start = re.search(rf"^{title}\n-+\n", text, re.MULTILINE)
    if not start:
        return ""
    rest = text[start.end() :]
    end = re.search(r"^\w[\w ]*\n-{3,}\n", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def sources_of(document: str | None) -> list[str]:
    """Return the sources that a docstring names under References."""
    text = section_of(inspect.cleandoc(document or ""), "References")
    parts = re.split(r"^\.\. \[\d+\] ", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in parts if part.strip()]


def model_class(settings: Mapping[str, Any]) -> type | None:
    """Return the class of a run's model if it is one of recgauge's own; nothing else is imported."""
    try:
        return find_class((settings.get("model") or {}).get(TARGET), "model", ("recgauge.models",))
    except ConfigError:
        return None


def cited(records: Iterable[RunRecord], citations: Iterable[str | None]) -> list[str]:
    """Return the sources of data sets, models and metrics, each once."""
    known = list(records)
    models = dict.fromkeys(model_class(record.settings) for record in known)
    metrics = dict.fromkeys(metric_class(entry.name) for record in known for entry in record.results)
    kinds = [kind for kind in (*models, *metrics) if kind is not None]
    sources = [*filter(None, citations), *(source for kind in kinds for source in sources_of(kind.__doc__))]
    return list(dict.fromkeys(sources))
