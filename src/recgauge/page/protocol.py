"""The protocol of compared runs in words, for a paper's experimental setup, and the sources to cite."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recgauge.comparison.runs import short_value
from recgauge.errors import ConfigError, listed
from recgauge.metrics import metric_class
from recgauge.metrics.names import label
from recgauge.page.data import DatasetPart, ReportData
from recgauge.report.comparison_tables import explanation, on_dataset
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import FOLDS, flat_settings, numeric_settings
from recgauge.runs.targets import TARGET, find_class

FIT_ON = {
    "train": "on the training rows",
    "train_validation": "on the training and validation rows",
    "all": "on all rows, those of the test part among them",
}


def protocol_words(data: ReportData) -> list[str]:
    """Return paragraphs: data, split, candidates, models, metrics, statistics, software."""
    paragraphs = [" ".join([*_data(part), *_split(part), *_users(data, part)]) for part in data.parts]
    first = data.parts[0]
    record = first.record(next(iter(first.runs)))
    paragraphs.append(" ".join([*_candidates(record), *_models(data), *_metrics(data)]))
    results = on_dataset(data.comparison, data.comparison.datasets[0])
    paragraphs.append(" ".join([explanation(data.comparison.procedure, results), *_software(record)]))
    return paragraphs


def _between(counts: Iterable[int]) -> str:
    """Return a count, or the lowest and the highest of several seeds and folds."""
    values = list(counts)
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _data(part: DatasetPart) -> Iterator[str]:
    records = [record for _, record in part.records()]
    facts = records[0].dataset
    kind = "ratings" if facts.feedback == "explicit" else "interactions"
    rows, users, items = (
        _between(getattr(record.dataset, name) for record in records)
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
        f"{_between(record.split.parts[name].rows for record in records)} {name.replace('_', '-')} rows"
        for name in first.split.parts
    ]
    node = numeric_settings(first.settings).get("split")
    if isinstance(node, Mapping):  # of a run's folds, each has another one
        splits = [record.settings.get("split") or {} for record in records]
        folds = [name for name in FOLDS if len({str(split.get(name)) for split in splits}) > 1]
        node = {name: value for name, value in node.items() if name not in folds}
    split = _with_settings(first.names.get("split", "none"), node)
    seeds = sorted({record.seed for record in records})
    repeats = f"seed {seeds[0]}" if len(seeds) == 1 else f"each with the seeds {listed(seeds)}"
    yield f"The split {split} gives {', '.join(rows)}; {repeats}."
    if any(dropped := [record.split.dropped_rows for record in records]):
        yield f"Filters and split dropped {_between(dropped)} rows."


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
    repeated = max(len(series.records) for series in part.runs.values()) > 1
    together = f" with each seed or fold, {result.n_users:,} in all of them together" if repeated else ""
    without = f"; {_between(left)} without a relevant test item are left out" if any(left) else ""
    evaluated = _between(record.counts["users_evaluated"] for record in records)
    coverages = [record.coverage for record in records if record.coverage is not None]
    if len(coverages) == len(records) and not all(coverage.is_whole for coverage in coverages):
        evaluated += f" of {_between(coverage.users for coverage in coverages)}"
        rows = [_between(getattr(each, name) for each in coverages) for name in ("rows_dropped", "rows")]
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
    trained: dict[str, dict[str, None]] = {}
    for record in (part.record(run) for part in data.parts for run in part.runs):
        model = _with_settings(record.names["model"], numeric_settings(record.settings).get("model"))
        if (search := record.search) is not None:
            by = f"{len(search.trials)} trials ({search.sampler}) by {label(search.metric)}"
            model += f", chosen in {by} on validation rows"
        trained.setdefault(FIT_ON.get(record.fit_on, record.fit_on), {})[model] = None
    for fit_on, models in trained.items():
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
    settings = ", ".join(f"{key}={short_value(value)}" for key, value in flat.items() if value != "None")
    return f"{name} ({settings})" if settings else name


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
    runs = list(records)
    models = dict.fromkeys(model_class(record.settings) for record in runs)
    metrics = dict.fromkeys(metric_class(entry.name) for record in runs for entry in record.results)
    kinds = [kind for kind in (*models, *metrics) if kind is not None]
    sources = [*filter(None, citations), *(source for kind in kinds for source in sources_of(kind.__doc__))]
    return list(dict.fromkeys(sources))
