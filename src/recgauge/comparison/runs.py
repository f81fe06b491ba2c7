"""Finished runs compared: which can be, by what names, and then user by user, a table for each data set."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from recgauge.comparison.comparing import compare_values, told_differences
from recgauge.comparison.reading import RunValues, run_values
from recgauge.comparison.results import Comparison, Cost, Procedure
from recgauge.comparison.series import Series, all_series, fold_of, headline_keys
from recgauge.comparison.user_values import UserValues, choose_common, choose_metric, in_common
from recgauge.errors import ConfigError, DataError, listed
from recgauge.metrics import HEADLINE
from recgauge.metrics.names import headline_cutoff, split_key
from recgauge.runs.folder import JobOutcome
from recgauge.runs.protocol import MARK, differences, protocol
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import flat_settings, numeric_settings
from recgauge.runs.stored import RunFolder, pooled_keys, user_columns

if TYPE_CHECKING:
    import pandas as pd

MOST_METRICS = 4  # that are compared unless the user names some


@dataclass(frozen=True)
class ComparedRuns:
    """A comparison, and what else is known of its runs.

    Parameters
    ----------
    comparison : Comparison
    costs : dict of (str, str) to Cost
        By data set and run.
    different : tuple of str
        In what runs differ that are compared all the same.
    notes : tuple of str
    series : dict of (str, str) to Series
        The runs themselves, by data set and run; empty where they are no stored runs.
    """

    comparison: Comparison
    costs: dict[tuple[str, str], Cost]
    different: tuple[str, ...] = ()
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
        by_dataset.setdefault(series.records[0].names["dataset"], []).append(series)
    several = {dataset: some for dataset, some in by_dataset.items() if len(some) > 1}
    if not several:
        raise ConfigError(_too_few(by_dataset))
    keys, told = chosen_metrics([series for some in several.values() for series in some], metrics)
    told += [f"{one} is left out: it has one run alone" for one in by_dataset.keys() - several.keys()]
    lines: list[str] = []
    tables: list[UserValues] = []
    known: dict[tuple[str, str], Series] = {}
    for dataset, some in several.items():
        named, different = checked(dataset, some, keys, mark=mark)
        lines += different
        known |= {(dataset, name): series for name, series in named.items()}
        values = {name: series_values(series, some, keys) for name, series in named.items()}
        tables.append(UserValues.of(values, metrics=keys, dataset=dataset))
    costs = {place: cost_of(series) for place, series in known.items()}
    return ComparedRuns(compare_values(tables, procedure), costs, tuple(lines), (*notes, *told), known)


def chosen_metrics(entries: Sequence[Series], asked: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the keys of the metrics to compare, and notes."""
    jobs = [job for series in entries for job in series.jobs]
    values = [(job.label, _with_user_values(record, job.folder)) for job in jobs if (record := job.record)]
    if asked:
        return [*choose_common(asked, values, "--metrics")], []
    common = in_common(values)
    records = [record for series in entries for record in series.records]
    headline = [key for key in headline_keys(records) if key in common]
    shown = sorted(headline or common, key=importance)
    left = len(common) - len(shown[:MOST_METRICS])
    told = [f"{left} more metrics are in all runs and not compared here"] if left else []
    return shown[:MOST_METRICS], told


def importance(key: str) -> int:
    """Return where a metric stands among those that people look at first."""
    name = split_key(key)[0]
    return HEADLINE.index(name) if name in HEADLINE else len(HEADLINE)


def _with_user_values(record: RunRecord, folder: Path) -> list[str]:
    """Return a run's metrics that are known for each user, in the order of its suite."""
    stored = {*user_columns(folder), *pooled_keys(folder, record)}
    return [entry.key for entry in record.results if entry.key in stored]


def checked(
    dataset: str, some: Sequence[Series], keys: Sequence[str], *, mark: bool
) -> tuple[dict[str, Series], list[str]]:
    """Return the runs by name, and lines that say in what they differ; without `mark` there are none."""
    protocols = [protocol(series.records, keys) for series in some]
    names = run_names(some)
    lines = told_differences(protocols, names, dataset, mark=mark)
    groups = [tuple(sorted(one.items() - {("seed", one["seed"])})) for one in protocols]
    usual = Counter(groups).most_common(1)[0][0]
    marks = [f" {MARK}" if lines and group != usual else "" for group in groups]
    named = {name + sign: series for name, sign, series in zip(names, marks, some, strict=True)}
    return named, lines


def agreeing(runs: Sequence[JobOutcome]) -> tuple[list[JobOutcome], list[str]]:
    """Return of each data set the most runs that differ in the model alone, and a note of the others.

    Of groups of one size, that of the first run is taken. A data set with one run alone is left out.
    """
    groups: dict[str, dict[object, list[Series]]] = {}
    for series in all_series(runs):
        dataset = series.records[0].names["dataset"]
        groups.setdefault(dataset, {}).setdefault(series.comparable, []).append(series)
    kept, notes = [], []
    for dataset, by_protocol in groups.items():
        largest = max(by_protocol.values(), key=len)
        others = [series for some in by_protocol.values() if some is not largest for series in some]
        if len(largest) > 1:
            kept += [job for series in largest for job in series.jobs]
        if others and len(largest) > 1:
            rest = [protocol(series.records) for series in (largest[0], *others)]
            what = "; ".join(
                f"{name} {listed([one or 'none' for one in dict.fromkeys(values[1:]) if one != values[0]])} "
                f"instead of {values[0] or 'none'}"
                for name, values in differences(rest).items()
            )
            left = listed(run_names([*largest, *others])[len(largest) :], most=4)
            notes.append(
                f"{dataset}: {len(largest)} of {len(largest) + len(others)} runs are compared, the largest "
                f"number that differs in the model alone. Left out: {left} ({what})"
            )
    kept.sort(key=lambda job: job.number)
    return kept, notes


def run_names(some: Sequence[Series]) -> list[str]:
    """Return a name for each run of a data set: its model, and what else it takes to tell it from others."""
    found = [series.records[0].names["model"] for series in some]
    for told in (_of_model, lambda series: protocol(series.records), _of_others):
        for name in [name for name, count in Counter(found).items() if count > 1]:
            same = [place for place, one in enumerate(found) if one == name]
            for what, values in differences([told(some[place]) for place in same]).items():
                for place, value in zip(same, values, strict=True):
                    found[place] += f" {what.rpartition('.')[2]}={short_value(value)}" if value else ""
    twice = {name for name, count in Counter(found).items() if count > 1}
    return [
        f"{name} ({series.jobs[0].label})" if name in twice else name
        for name, series in zip(found, some, strict=True)
    ]


def short_value(value: str) -> str:
    """Return a setting as a name has it: six digits tell tuned numbers apart."""
    try:
        return f"{float(value):.6g}" if "." in value else value
    except ValueError:
        return value


def _of_model(series: Series) -> dict[str, str]:
    """Return the settings of a model; of one that was tuned how it was, not what was chosen."""
    record = series.records[0]
    tried = {} if record.search is None else record.search.chosen.settings
    tuned = "" if record.search is None else f"{record.search.sampler}, {record.search.budget}"
    settings = flat_settings(record.settings.get("model") or {})
    return {key: "" if key in tried else value for key, value in settings.items()} | {"tuned": tuned}


def _of_others(series: Series) -> dict[str, str]:
    counted = numeric_settings(series.records[0].settings)
    return flat_settings({key: value for key, value in counted.items() if key != "seed"})


def _too_few(by_dataset: Mapping[str, Sequence[Series]]) -> str:
    found = [f"{one}: {some[0].records[0].names['model']}" for one, some in by_dataset.items()]
    repeats = max(len(series.jobs) for some in by_dataset.values() for series in some)
    told = " Runs that differ in seed or fold alone count as one." if repeats > 1 else ""
    return (
        f"a comparison needs at least two runs on one data set, got {listed(found)}.{told} Name more runs, "
        "or run another model."
    )


def series_values(series: Series, some: Sequence[Series], keys: Sequence[str]) -> list[RunValues]:
    """Read the per-user values of every seed and fold of a run."""
    folds = dict.fromkeys(fold_of(record) for one in some for record in one.records)
    several = any(len(set(map(fold_of, one.records))) > 1 for one in some)
    order = {fold: number for number, fold in enumerate(folds)} if several else {}
    return [
        run_values(run, keys, seed=run.record.seed, fold=order.get(fold_of(run.record)))
        for run in series.folders
    ]


def cost_of(series: Series) -> Cost:
    """Return the mean over seeds and folds of what a run took."""
    records = series.records

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if len(known) == len(records) else None

    return Cost(
        *(mean([one.seconds.get(stage) for one in records]) for stage in ("fit", "recommend")),
        *(mean([one.memory.get(what) for one in records]) for what in ("peak_bytes", "model_bytes")),
    )


@dataclass(frozen=True, eq=False)
class Condition:
    """Runs of different models that differ in nothing else."""

    runs: Mapping[str, RunFolder]

    @property
    def first(self) -> RunFolder:
        """The run of the first model."""
        return next(iter(self.runs.values()))

    @property
    def metrics(self) -> list[str]:
        """The metrics that every model has per-user values of."""
        first, *others = (user_columns(run.folder) for run in self.runs.values())
        return [key for key in first if all(key in columns for columns in others)]

    def values(self, keys: Sequence[str]) -> "dict[str, pd.DataFrame]":
        """Return a row per user and a column per model, by metric."""
        import pandas as pd

        tables = {model: run.per_user(keys) for model, run in self.runs.items()}
        return {key: pd.DataFrame({model: one[key] for model, one in tables.items()}) for key in keys}

    def check(self) -> None:
        """Refuse models that were not measured on the same rows."""
        for model, run in self.runs.items():
            for part in ("train", "test"):
                one, other = (getattr(each.record.split, part).sha256 for each in (run, self.first))
                if one != other:
                    raise DataError(
                        f"{model} and {next(iter(self.runs))} have the same settings but other {part} rows "
                        f"({run.folder} and {self.first.folder}). Run both again on the same data."
                    )


def only_condition(runs: Sequence[JobOutcome]) -> Condition:
    """Return finished runs that differ in their model alone, in their order."""
    every = [Series((run,), ()) for run in runs]
    protocols, folders = [protocol(one.records) for one in every], [str(run.folder) for run in runs]
    told_differences(protocols, folders, "segments", remedy="Give runs that differ in their model alone.")
    named = zip(run_names(every), every, strict=True)
    return Condition({name: run for name, one in named for run in one.folders})


def reference_key(base: Condition, asked: str) -> str:
    """Return the metric that is asked for, else nDCG, else any metric, at the headline cutoff."""
    known = base.metrics
    if asked:
        return choose_metric(asked, known, "--metric")
    if not known:
        raise ConfigError("The runs have no per-user metric in common.")

    keys = [key for key in known if split_key(key)[0] == "ndcg"] or known
    cutoff = headline_cutoff(split_key(key)[1] for key in keys)
    return next(key for key in keys if split_key(key)[1] == cutoff)
