"""Jobs of a sweep that differ in fold or seed alone, as one series with a mean and a deviation."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recgauge.comparison.results import Repeats
from recgauge.metrics.names import headline_cutoff
from recgauge.runs.folder import JobOutcome
from recgauge.runs.protocol import identity, protocol
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import FOLDS, flat_settings, numeric_settings
from recgauge.runs.stored import RunFolder


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Finished jobs that differ in fold, window or seed alone, or a single job.

    Parameters
    ----------
    jobs : tuple of JobOutcome
        By rising fold and seed.
    comparable : tuple
        What series share whose values can be compared: all but the model, see `recgauge.runs.protocol`.
    """

    jobs: tuple[JobOutcome, ...]
    comparable: tuple[tuple[str, str], ...]

    @property
    def records(self) -> list[RunRecord]:
        """The record of every seed and fold."""
        return [job.record for job in self.jobs if job.record is not None]

    @property
    def folders(self) -> list[RunFolder]:
        """The folder of every seed and fold."""
        return [RunFolder(job.record, job.folder) for job in self.jobs if job.record is not None]

    @property
    def is_constant(self) -> bool:
        """Whether several jobs have equal rows and results, so that the seeds that differ change nothing."""
        first, *others = ((record.split.parts, record.values()) for record in self.records)
        return bool(others) and all(other == first for other in others)

    def mean(self, key: str) -> float | None:
        """Return the mean of a metric over the jobs, None if one of them lacks it."""
        values = self._values(key)
        return Repeats.of(values, ()).mean if values else None

    def deviation(self, key: str) -> float | None:
        """Return the standard deviation of a sample, None for a single job or where one lacks the metric."""
        values = self._values(key)
        return Repeats.of(values, ()).deviation if values else None

    def higher_is_better(self, key: str) -> bool:
        """Return the direction of a metric."""
        return any(entry.key == key and entry.higher_is_better for entry in self.records[0].results)

    def _values(self, key: str) -> list[float]:
        """Return the value of every job, none if one of them lacks it."""
        found = [record.values().get(key) for record in self.records]
        return [value for value in found if value is not None] if None not in found else []


Best = dict[tuple[Any, str], float]


def all_series(jobs: Sequence[JobOutcome]) -> list[Series]:
    """Return the series of all finished jobs: comparable ones next to each other, in the order of the jobs.

    Jobs that repeat a fold and seed, such as reused ones, are no series.
    """
    done = [(job, job.record) for job in jobs if job.record is not None]
    alike: dict[str, list[tuple[JobOutcome, RunRecord]]] = {}
    for job, record in sorted(done, key=lambda each: (_position(each[1]), each[0].number)):
        alike.setdefault(_but_fold_and_seed(record), []).append((job, record))
    found: list[Series] = []
    for group in alike.values():
        distinct = len({_position(record) for _, record in group}) == len(group)
        parts = [[job for job, _ in group]] if distinct else [[job] for job, _ in group]
        found += map(_series, parts)
    first: dict[Any, int] = {}
    for series in found:
        number = min(job.number for job in series.jobs)
        first[series.comparable] = min(first.get(series.comparable, number), number)
    return sorted(found, key=lambda one: (first[one.comparable], min(job.number for job in one.jobs)))


def best_values(entries: Sequence[Series], keys: Sequence[str]) -> Best:
    """Return the best value of each metric among at least two comparable series: alone, any is the best."""
    found: dict[tuple[Any, str], list[float]] = {}
    higher: dict[str, bool] = {}
    for series in entries:
        for key in keys:
            if (value := series.mean(key)) is not None:
                found.setdefault((series.comparable, key), []).append(value)
                higher[key] = series.higher_is_better(key)
    return {
        (group, key): (max if higher[key] else min)(values)
        for (group, key), values in found.items()
        if len(values) > 1
    }


def headline_keys(records: Sequence[RunRecord]) -> list[str]:
    """Return the keys of every metric at the headline cutoff among those that all records share."""
    entries = [entry for record in records for entry in record.results]
    cutoffs = [{entry.k for entry in record.results if entry.k is not None} for record in records]
    ks = set.intersection(*filter(None, cutoffs)) if any(cutoffs) else set()
    return list(dict.fromkeys(entry.key for entry in entries if entry.k in (headline_cutoff(ks), None)))


def has_rivals(jobs: Sequence[JobOutcome]) -> bool:
    """Whether at least two series can be compared, so that one of them is the best."""
    return any(size > 1 for size in Counter(series.comparable for series in all_series(jobs)).values())


def _series(jobs: Sequence[JobOutcome]) -> Series:
    return Series(tuple(jobs), identity(protocol([job.record for job in jobs if job.record is not None])))


def _but_fold_and_seed(record: RunRecord) -> str:
    """Return everything that counts but the fold, the window and the seed, as text.

    A search chooses other settings on every fold; what was searched, and how, stands for them.
    """
    search = record.search
    settings = {key: value for key, value in numeric_settings(record.settings).items() if key != "seed"}
    split, model = settings.get("split"), settings.get("model")
    if isinstance(split, dict):
        settings["split"] = {key: value for key, value in split.items() if key not in FOLDS}
    if search is not None and isinstance(model, dict):
        flat = flat_settings(model)
        kept = {key: value for key, value in flat.items() if key not in search.chosen.settings}
        settings["model"] = [kept, search.metric, search.sampler, search.budget]
    facts = [record.names, record.dataset.sha256, record.environment.get("numeric_version"), settings]
    return json.dumps(facts, sort_keys=True, default=str)


def _position(record: RunRecord) -> tuple[Any, ...]:
    """Return fold, window and seed, to order by: numbers by size, names such as u10 by their numbers."""
    parts = (re.findall(r"(\D*)(\d*)", name) for name in fold_of(record))
    return (*(tuple((text, int(number or 0)) for text, number in each) for each in parts), record.seed)


def fold_of(record: RunRecord) -> tuple[str, ...]:
    """Return fold and window of a run as texts, None as ``None``."""
    split = record.settings.get("split") or {}
    return tuple(str(split.get(name)) for name in FOLDS)
