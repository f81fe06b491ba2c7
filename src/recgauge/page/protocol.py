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
SEEN = {
    "both": " that the user has neither in the training nor in the validation rows",
    "train": " that the user does not have in the training rows",
    "validation": " that the user does not have in the validation rows",
}
_SOURCE = r"^\.\. \[\d+\] (.+(?:\n   .+)*)"  # a reference in a docstring


def protocol_words(data: ReportData) -> list[str]:
    """Return paragraphs: data, split and users of each data set; candidates, models, metrics; statistics."""
    _, record = data.parts[0].records()[0]
    results = on_dataset(data.comparison, data.parts[0].name)
    return [
        *(" ".join([_data(part), _split(part), _users(data, part)]) for part in data.parts),
        " ".join([*_candidates(record), *_models(data), *_metrics(data, record)]),
        " ".join([explanation(data.comparison.procedure, results), *_software(record)]),
    ]


def _between(counts: Iterable[int]) -> str:
    """Return a count, or the lowest and the highest of several seeds and folds."""
    values = sorted(counts)
    return f"{values[0]:,}" if values[0] == values[-1] else f"{values[0]:,} to {values[-1]:,}"


def _data(part: DatasetPart) -> str:
    records = [record for _, record in part.records()]
    facts, filters = records[0].dataset, records[0].settings.get("filters") or {}
    kind = "ratings" if facts.feedback == "explicit" else "interactions"
    rows, users, items = (
        _between(getattr(record.dataset, name) for record in records)
        for name in ("n_rows", "n_users", "n_items")
    )
    after = f" after the filters {listed(map(_with_settings, filters, filters.values()))}" if filters else ""
    counts = f"{rows} {kind} of {users} users and {items} items"
    return f"We use {part.name} with {counts}{after} ({facts.provenance})."


def _split(part: DatasetPart) -> str:
    records = [record for _, record in part.records()]
    name, node = records[0].names.get("split", "none"), numeric_settings(records[0].settings).get("split")
    if isinstance(node, Mapping) and any(len(group.runs) > 1 for group in part.runs.values()):
        node = {setting: value for setting, value in node.items() if setting not in FOLDS}
    together = records[0].fit_on == "train_validation"
    rows = [
        f"{_between(record.split.parts[kind].rows for record in records)} "
        f"{'train and validation' if together and kind == 'train' else kind.replace('_', '-')} rows"
        for kind in records[0].split.parts
    ]
    if (joined := _between(record.split.joined_rows for record in records)) != "0":
        rows[0] += f" ({joined} of them held back for validation)"
    seeds = sorted({record.seed for record in records})
    repeats = f"seed {seeds[0]}" if len(seeds) == 1 else f"each with the seeds {listed(seeds)}"
    dropped = _between(record.split.dropped_rows for record in records)
    lost = "" if dropped == "0" else f" Filters and split dropped {dropped} rows."
    return f"The split {_with_settings(name, node)} gives {', '.join(rows)}; {repeats}.{lost}"


def _users(data: ReportData, part: DatasetPart) -> str:
    """Say which items are relevant and who is evaluated, of several seeds and folds with each and in all."""
    records = [record for _, record in part.records()]
    lowest = records[0].dataset.relevant_from
    result = data.comparison.result(data.comparison.metrics[0], part.name)
    text = "Every test row is relevant" if lowest is None else f"Relevant is a rating of {lowest:g} or more"
    if all(len(group.runs) == 1 for group in part.runs.values()):
        return f"{text}; evaluated: {result.users}."
    users = listed(dict.fromkeys(record.users for record in records), most=5)
    return f"{text}; evaluated: {users} users with each seed or fold, {result.n_users:,} with at least one."


def _candidates(record: RunRecord) -> Iterator[str]:
    name, settings = record.names.get("candidates", "all"), record.settings.get("candidates") or {}
    if name == "all" and record.counts.get("users_evaluated"):
        yield f"Every item of the catalogue{SEEN.get(str(settings.get('seen')), '')} is a candidate."
    elif record.counts.get("users_evaluated"):
        yield f"Candidates: {_with_settings(name, settings)}."
    if record.incomparable:
        yield f"Numbers are not comparable with those of the whole catalogue: {record.incomparable}."


def _models(data: ReportData) -> Iterator[str]:
    trained: dict[str, dict[str, None]] = {}
    for group in (group for part in data.parts for group in part.runs.values()):
        record = group.records[0]
        settings = flat_settings(numeric_settings(record.settings).get("model") or {})
        model, search = _with_settings(record.names["model"], settings), record.search
        if search is not None:
            how = f"in {len(search.trials)} trials ({search.sampler}) by {label(search.metric)}"
            chosen = [each.search.chosen.settings for each in group.records if each.search is not None]
            if any(each != chosen[0] for each in chosen):
                kept = {key: value for key, value in settings.items() if key not in chosen[0]}
                model = _with_settings(record.names["model"], kept)
                how = f"with each seed or fold {how}"
                model += f", {listed(chosen[0])}"
            model += f", chosen {how} on validation rows"
        trained.setdefault(FIT_ON.get(record.fit_on, record.fit_on), {})[model] = None
    for fit_on, models in trained.items():
        yield f"Models, trained {fit_on}: {'; '.join(models)}."


def _metrics(data: ReportData, record: RunRecord) -> Iterator[str]:
    entries = [entry for key in data.comparison.metrics if (entry := record.result(key)) is not None]
    defined = "; ".join(f"{label(entry.key)} is {entry.definition}" for entry in entries)
    yield f"Metrics, under the convention {record.names.get('conventions', 'standard')}: {defined}."
    # from which rating an item is relevant has a sentence of its own
    of_ratings = "threshold=" if record.dataset.relevant_from is not None else "-"
    if policies := [each for each in record.policies.split(", ") if not each.startswith(of_ratings)]:
        yield f"Policies: {', '.join(policies)}."


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


def sources(data: ReportData) -> list[str]:
    """Return the sources of data sets, models and metrics, each once; of a parameter if it is in use."""
    records = [record for part in data.parts for _, record in part.records()]
    metrics = [metric_class(entry.name) for record in records for entry in record.results]
    kinds = dict.fromkeys([*(_model_class(record.settings) for record in records), *metrics])
    citations = [part.card.citation for part in data.parts if part.card is not None]
    documents = [inspect.cleandoc(kind.__doc__ or "") for kind in kinds if kind is not None]
    named = [text for document in documents for text in re.findall(_SOURCE, document, re.MULTILINE)]
    used = " ".join(entry.definition for record in records for entry in record.results)
    texts = dict.fromkeys(" ".join(source.split()) for source in (*citations, *named) if source)
    return [text for text in texts if all(each in used for each in re.findall(r"\((\w+=\w+)\)\.$", text))]


def _model_class(settings: Mapping[str, Any]) -> type | None:
    """Return the class of a run's model if it is one of recgauge's own; nothing else is imported."""
    try:
        return find_class((settings.get("model") or {}).get(TARGET), "model", ("recgauge.models",))
    except ConfigError:
        return None
