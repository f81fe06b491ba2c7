"""Finished runs that differ in fold, window or seed alone, as one group with a mean and a deviation."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from recgauge.comparison.results import Cost, Repeats
from recgauge.metrics.names import headline_cutoff
from recgauge.runs.finished import FinishedRun, RunValues
from recgauge.runs.protocol import identity, protocol
from recgauge.runs.record import RunRecord, defined_alike
from recgauge.runs.settings import FOLDS, MEASURED, flat_settings, numeric_settings


@dataclass(frozen=True, slots=True, eq=False)
class RunGroup:
    """Finished runs of one model that differ in fold, window or seed alone, or a single run.

    Parameters
    ----------
    runs : tuple of FinishedRun
        By rising fold and seed.
    protocol : tuple
        What groups share whose values can be compared: all but the model, see `recgauge.runs.protocol`.
    """

    runs: tuple[FinishedRun, ...]
    protocol: tuple[tuple[str, str], ...]

    @property
    def records(self) -> list[RunRecord]:
        """The record of every seed and fold."""
        return [run.record for run in self.runs]

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.runs[0].record.names["dataset"]

    @property
    def is_constant(self) -> bool:
        """Whether several runs have equal rows and results, so that the seeds that differ change nothing."""
        first, *rest = ((record.split.parts, record.values()) for record in self.records)
        return bool(rest) and all(repeat == first for repeat in rest)

    @property
    def cost(self) -> Cost:
        """The mean over seeds and folds of what a run took."""
        rows = [
            (
                record.seconds.get("fit"),
                record.seconds.get("recommend"),
                record.memory.get("peak_bytes"),
                record.memory.get("model_bytes"),
                None if record.search is None else len(record.search.trials),
            )
            for record in self.records
        ]
        return Cost(*(None if None in column else fmean(column) for column in zip(*rows, strict=True)))

    def mean(self, key: str) -> float | None:
        """Return the mean of a metric over the runs, None if one of them lacks it."""
        numbers = self._numbers(key)
        return Repeats.of(numbers, ()).mean if numbers else None

    def deviation(self, key: str) -> float | None:
        """Return the standard deviation of a sample, None for a single run or where one lacks the metric."""
        numbers = self._numbers(key)
        return Repeats.of(numbers, ()).deviation if numbers else None

    def higher_is_better(self, key: str) -> bool:
        """Return the direction of a metric."""
        return any(entry.key == key and entry.higher_is_better for entry in self.records[0].results)

    def values(self, keys: Sequence[str], groups: Sequence["RunGroup"]) -> list[RunValues]:
        """Return the values of users of every seed and fold; `groups` are those that it is compared with."""
        folds = dict.fromkeys(fold_of(record) for group in groups for record in group.records)
        has_folds = any(len(set(map(fold_of, group.records))) > 1 for group in groups)
        numbers = {fold: number for number, fold in enumerate(folds)} if has_folds else {}
        return [
            run.values(keys, seed=run.record.seed, fold=numbers.get(fold_of(run.record))) for run in self.runs
        ]

    def _numbers(self, key: str) -> list[float]:
        """Return the value of every run, none if one of them lacks it."""
        numbers = [record.values().get(key) for record in self.records]
        return [number for number in numbers if number is not None] if None not in numbers else []


Best = dict[tuple[Any, str], float]
"""The best value by protocol and metric."""


def group(runs: Sequence[FinishedRun]) -> list[RunGroup]:
    """Return runs in groups: comparable ones next to each other, in the order of the runs.

    Runs that repeat a fold and seed, such as reused ones, are groups of their own. Which metrics are computed
    sets apart only those that repeat, or define a metric otherwise.
    """
    ordered = sorted(runs, key=lambda run: _position(run.record))
    groups: list[RunGroup] = []
    for measured in _alike(ordered, measured=False):
        together = _are_distinct(measured) and defined_alike(run.record for run in measured)
        for repeats in [measured] if together else _alike(measured, measured=True):
            groups += [
                RunGroup(tuple(own), identity(protocol([run.record for run in own])))
                for own in ([repeats] if _are_distinct(repeats) else [[run] for run in repeats])
            ]
    order = {run: number for number, run in enumerate(runs)}
    start = [min(order[run] for run in group.runs) for group in groups]
    first: dict[Any, int] = {}
    for group, number in zip(groups, start, strict=True):
        first[group.protocol] = min(first.get(group.protocol, number), number)
    pairs = sorted(zip(groups, start, strict=True), key=lambda pair: (first[pair[0].protocol], pair[1]))
    return [group for group, _ in pairs]


def best_values(groups: Sequence[RunGroup], keys: Sequence[str]) -> Best:
    """Return the best value of each metric among at least two comparable groups: alone, any is the best."""
    numbers: dict[tuple[Any, str], list[float]] = {}
    higher: dict[str, bool] = {}
    for group in groups:
        for key in keys:
            if (value := group.mean(key)) is not None:
                numbers.setdefault((group.protocol, key), []).append(value)
                higher[key] = group.higher_is_better(key)
    return {
        (group_protocol, key): (max if higher[key] else min)(values)
        for (group_protocol, key), values in numbers.items()
        if len(values) > 1
    }


def headline_keys(records: Sequence[RunRecord]) -> list[str]:
    """Return the keys of every metric at one cutoff that all records share: 10, else the largest."""
    entries = [entry for record in records for entry in record.results]
    cutoffs = [{entry.k for entry in record.results if entry.k is not None} for record in records]
    ks = set.intersection(*filter(None, cutoffs)) if any(cutoffs) else set()
    return list(dict.fromkeys(entry.key for entry in entries if entry.k in (headline_cutoff(ks), None)))


def has_rivals(groups: Sequence[RunGroup]) -> bool:
    """Whether at least two groups can be compared, so that one of them is the best."""
    return any(size > 1 for size in Counter(group.protocol for group in groups).values())


def _are_distinct(runs: Sequence[FinishedRun]) -> bool:
    return len({_position(run.record) for run in runs}) == len(runs)


def _alike(runs: Sequence[FinishedRun], *, measured: bool) -> list[list[FinishedRun]]:
    """Return runs that differ in fold, window and seed alone, without `measured` also in their metrics."""
    alike: dict[str, list[FinishedRun]] = {}
    for run in runs:
        alike.setdefault(_but_fold_and_seed(run.record, measured=measured), []).append(run)
    return list(alike.values())


def _but_fold_and_seed(record: RunRecord, *, measured: bool) -> str:
    """Return everything that counts but the fold, the window and the seed, as text.

    Stored runs lack settings that came after them, whose null changes nothing. A search chooses other
    settings on every fold; what was searched, and how, stands for them.
    """
    search = record.search
    settings = {
        key: value
        for key, value in numeric_settings(record.settings).items()
        if key != "seed" and value is not None and (measured or key not in MEASURED)
    }
    split, model = settings.get("split"), settings.get("model")
    if isinstance(split, dict):
        settings["split"] = {key: value for key, value in split.items() if key not in FOLDS}
    if search is not None and isinstance(model, dict):
        flat = flat_settings(model)
        kept = {key: value for key, value in flat.items() if key not in search.chosen.settings}
        settings["model"] = [kept, search.metric, search.sampler, search.budget, record.searched]
    names = {key: value for key, value in record.names.items() if measured or key not in MEASURED}
    facts = [names, record.dataset.sha256, record.environment.get("numeric_version"), settings]
    return json.dumps(facts, sort_keys=True, default=str)


def _position(record: RunRecord) -> tuple[Any, ...]:
    """Return fold, window and seed, to order by: numbers by size, names such as u10 by their numbers."""
    parts = (re.findall(r"(\D*)(\d*)", name) for name in fold_of(record))
    return (*(tuple((text, int(number or 0)) for text, number in each) for each in parts), record.seed)


def fold_of(record: RunRecord) -> tuple[str, ...]:
    """Return fold and window of a run as texts, None as ``None``."""
    split = record.settings.get("split") or {}
    return tuple(str(split.get(name)) for name in FOLDS)
