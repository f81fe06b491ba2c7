"""A comparison's protocol in sentences, ready to be pasted into a paper's "experimental setup"."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recgauge.comparison.conditions import label
from recgauge.comparison.runs import short_value
from recgauge.comparison.series import FOLDS
from recgauge.errors import listed
from recgauge.report.comparison_tables import explanation, on_dataset
from recgauge.report.page.data import DatasetPart, ReportData
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import counted_settings, flat_settings

FIT_ON = {
    "train": "on the training rows",
    "train_validation": "on the training and validation rows",
    "all": "on all rows, those of the test part among them",
}


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
    relevant = (
        "Every test row is relevant"
        if lowest is None
        else f"A test item is relevant if it was rated {lowest:g} or higher"
    )
    evaluated = [record.counts["users_evaluated"] for record in records]
    left = [record.counts.get("users_without_relevant_items", 0) for record in records]
    result = data.comparison.result(data.comparison.metrics[0], part.name)
    repeated = max(len(part.records_of(run)) for run in part.runs) > 1
    together = f" with each seed or fold, {result.n_users:,} in all of them together" if repeated else ""
    without = f"; {between(left)} without a relevant test item are left out" if any(left) else ""
    yield f"{relevant}; {between(evaluated)} users are evaluated{together}{without}."


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
    told: dict[str, str] = {}
    for part in data.parts:
        for run in part.runs:
            record = part.record(run)
            model = _with_settings(record.names["model"], counted_settings(record.settings).get("model"))
            if (search := record.search) is not None:
                by = f"{len(search.trials)} trials ({search.sampler}) by {label(search.metric)}"
                model += f", chosen in {by} on validation rows"
            told.setdefault(model, FIT_ON.get(record.fit_on, record.fit_on))
    for fit_on in dict.fromkeys(told.values()):
        models = "; ".join(model for model, rows in told.items() if rows == fit_on)
        yield f"Models, trained {fit_on}: {models}."


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
    environment = record.environment
    packages: Mapping[str, Any] = environment.get("packages") or {}
    named = [f"{name} {packages[name]}" for name in ("numpy", "scipy", "numba") if packages.get(name)]
    if "recgauge" in environment:
        python = [f"Python {environment['python']}"] if "python" in environment else []
        yield f"Computed with recgauge {environment['recgauge']} ({listed([*python, *named])})."


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
