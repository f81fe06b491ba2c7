"""Stored runs compared: only those that differ in the model alone, paired by user, one table a data set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np

from recgauge.app.compare.checking import checked, chosen_metrics, known_baseline, records_of
from recgauge.comparison import Comparison, Procedure, RunValues, UserValues, compare_values
from recgauge.errors import ConfigError, listed
from recgauge.models.fitting import leak_mark
from recgauge.report.comparison_tables import Cost
from recgauge.report.run_tables import MARK
from recgauge.report.series import FOLDS, Series, all_series
from recgauge.report.sweep_tables import sweep_mark_lines
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.stored import user_table
from recgauge.utils.arrow import to_numpy


@dataclass(frozen=True)
class ComparedRuns:
    """A comparison, and what else is known of its runs.

    Parameters
    ----------
    comparison : Comparison
    costs : dict of (str, str) to Cost
        By data set and run.
    marks : tuple of str
        What a reader of the numbers must know: in what marked runs differ, guards, selection on test rows.
    notes : tuple of str
    series : dict of (str, str) to Series
        The runs themselves, by data set and run; empty where they are no stored runs.
    """

    comparison: Comparison
    costs: dict[tuple[str, str], Cost]
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    series: dict[tuple[str, str], Series] = field(default_factory=dict)


def compare_runs(
    runs: Sequence[JobOutcome],
    procedure: Procedure,
    *,
    metrics: Sequence[str] | None = None,
    mark: bool = False,
    notes: Sequence[str] = (),
) -> ComparedRuns:
    """Compare finished runs: a table per data set, seeds and folds of one model as one.

    Parameters
    ----------
    runs : sequence of JobOutcome
        With records, and folders that have per_user.parquet.
    procedure : Procedure
    metrics : sequence of str, optional
        Such as ``ndcg@10`` or ``ndcg_at_10``. Default: the first few that all runs have at one cutoff.
    mark : bool
        Compare and mark runs that differ in more than the model, instead of refusing them.
    notes : sequence of str
        What was said of the runs before.

    Raises
    ------
    ConfigError
        If a data set has one run alone, there is no such metric, or runs differ in more than the model.
    """
    by_dataset: dict[str, list[Series]] = {}
    for series in all_series(runs):
        by_dataset.setdefault(records_of(series)[0].names["dataset"], []).append(series)
    several = {dataset: some for dataset, some in by_dataset.items() if len(some) > 1}
    if not several:
        raise ConfigError(_too_few(by_dataset))
    keys, told = chosen_metrics([series for some in several.values() for series in some], metrics)
    told += [f"{one} is left out: it has one run alone" for one in by_dataset.keys() - several.keys()]
    marks: list[str] = []
    tables: list[UserValues] = []
    known: dict[tuple[str, str], Series] = {}
    names: set[str] = set()
    for dataset, some in several.items():
        named, different = checked(dataset, some, keys, mark=mark)
        marks += [*different, *_warnings(named, f"{dataset}: " if len(several) > 1 else "")]
        names |= named.keys()
        known |= {(dataset, name): series for name, series in named.items()}
        values = {name: _values(series, some, keys) for name, series in named.items()}
        tables.append(UserValues.of(values, metrics=keys, dataset=dataset))
    procedure = replace(procedure, baseline=known_baseline(procedure.baseline, names))
    costs = {place: _cost(series) for place, series in known.items()}
    return ComparedRuns(compare_values(tables, procedure), costs, tuple(marks), (*notes, *told), known)


def _too_few(by_dataset: Mapping[str, Sequence[Series]]) -> str:
    found = [f"{one}: {records_of(some[0])[0].names['model']}" for one, some in by_dataset.items()]
    repeats = max(len(series.jobs) for some in by_dataset.values() for series in some)
    told = " Runs that differ in seed or fold alone count as one." if repeats > 1 else ""
    return (
        f"a comparison needs at least two runs on one data set, got {listed(found)}.{told} Name more runs, "
        "or run another model."
    )


def _warnings(named: Mapping[str, Series], place: str) -> list[str]:
    """Return what a reader of the numbers must know, each line with the runs that it is of."""
    records = [(name, record) for name, series in named.items() for record in records_of(series)]

    def names(numbers: Iterable[int]) -> str:
        return place + listed(list(dict.fromkeys(records[number][0] for number in numbers)), most=3)

    leaks = {record.fit_on: leak_mark(record.fit_on) for _, record in records}
    lines = [
        f"{MARK} {told} [{names(i for i, (_, record) in enumerate(records) if record.fit_on == fit_on)}]"
        for fit_on, told in leaks.items()
        if told
    ]
    return lines + sweep_mark_lines([(i, record) for i, (_, record) in enumerate(records)], names)


def _values(series: Series, some: Sequence[Series], keys: Sequence[str]) -> list[RunValues]:
    """Read the per-user values of every seed and fold of a run."""
    folds = {_fold(job): None for one in some for job in one.jobs}
    several = any(len({_fold(job) for job in one.jobs}) > 1 for one in some)
    order = {fold: number for number, fold in enumerate(folds)} if several else {}
    found = []
    for job in series.jobs:
        assert job.record is not None
        table = user_table(job.folder, job.record, keys)
        found.append(
            RunValues(
                to_numpy(table["user_id"]),
                {key: to_numpy(table[key]).astype(np.float64, copy=False) for key in keys},
                {entry.key: entry.higher_is_better for entry in job.record.results},
                seed=job.record.seed,
                fold=order.get(_fold(job)),
            )
        )
    return found


def _fold(job: JobOutcome) -> tuple[str, ...]:
    split = job.settings.get("split") if job.record is None else job.record.settings.get("split")
    return tuple(str(split.get(name)) for name in FOLDS) if isinstance(split, Mapping) else ()


def _cost(series: Series) -> Cost:
    """Return the mean over seeds and folds of what a run took."""
    records = records_of(series)

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if len(known) == len(records) else None

    return Cost(
        *(mean([one.seconds.get(stage) for one in records]) for stage in ("fit", "recommend")),
        *(mean([one.memory.get(what) for one in records]) for what in ("peak_bytes", "model_bytes")),
    )
