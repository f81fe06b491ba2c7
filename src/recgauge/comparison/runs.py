"""Finished runs compared: which can be, by what names, and then user by user, a table for each data set."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recgauge.comparison.comparing import compare_values
from recgauge.comparison.conditions import MOST_METRICS
from recgauge.comparison.measured_alike import difference_lines, require_equal_protocols
from recgauge.comparison.results import Comparison, Procedure
from recgauge.comparison.run_groups import RunGroup, group, headline_keys
from recgauge.comparison.user_values import UserValues, choose_metrics
from recgauge.errors import ConfigError, DataError, listed
from recgauge.metrics.names import headline_key, importance
from recgauge.recorded.direction import opposite_orders
from recgauge.runs.finished import FinishedRun
from recgauge.runs.protocol import differences, protocol
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import flat_settings, numeric_settings
from recgauge.runs.stored import user_columns

if TYPE_CHECKING:
    import pandas as pd


def compare_runs(
    runs: Sequence[FinishedRun],
    procedure: Procedure,
    *,
    metrics: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """Compare finished runs: a table per data set, seeds and folds of one model as one.

    Parameters
    ----------
    runs : sequence of FinishedRun
        As of `recgauge.tracking.find_runs`.
    procedure : Procedure
    metrics : sequence of str, optional
        Such as ``ndcg@10`` or ``ndcg_at_10``. Default: the first few that all runs have at one cutoff.
    notes : sequence of str
        Notes on the choice of the runs, which the comparison's notes end with.

    Raises
    ------
    ConfigError
        If a data set has one run alone, there is no such metric, or runs differ in more than the model.
    """
    by_dataset: dict[str, list[RunGroup]] = {}
    for run_group in group(runs):
        by_dataset.setdefault(run_group.dataset, []).append(run_group)
    comparable = {dataset: groups for dataset, groups in by_dataset.items() if len(groups) > 1}
    if not comparable:
        models = [f"{dataset}: {model_name(groups[0].records[0])}" for dataset, groups in by_dataset.items()]
        raise ConfigError(
            f"a comparison needs at least two runs on one data set, got {listed(models)}; seeds and folds of "
            "a run are one. Name more runs, or run another model."
        )
    keys = _choose_keys([each for groups in comparable.values() for each in groups], metrics)
    single = by_dataset.keys() - comparable.keys()
    own_notes = [f"{dataset} is left out: it has one run alone" for dataset in single]
    tables: list[UserValues] = []
    compared: dict[tuple[str, str], RunGroup] = {}
    for dataset, groups in comparable.items():
        names = run_names(groups)
        require_equal_protocols([protocol(each.records, keys) for each in groups], names, dataset)
        named = dict(zip(names, groups, strict=True))
        compared |= {(dataset, name): run_group for name, run_group in named.items()}
        values = {name: run_group.values(keys, groups) for name, run_group in named.items()}
        tables.append(UserValues.of(values, metrics=keys, dataset=dataset))
    comparison = compare_values(tables, procedure)
    orders = {name: each.records[0].list_order for (_, name), each in compared.items()}
    if opposite := opposite_orders({name: order for name, order in orders.items() if order}):
        comparison = replace(comparison, warnings=(*comparison.warnings, opposite))
    all_notes = (*comparison.notes, *notes, *own_notes)
    return replace(comparison, groups=compared, notes=all_notes)


def _choose_keys(groups: Sequence[RunGroup], metrics: Sequence[str] | None) -> list[str]:
    """Return the keys of the metrics to compare."""
    runs = [run for run_group in groups for run in run_group.runs]
    keys_of_runs = [(run.label, run.user_metrics()) for run in runs]
    common = choose_metrics(metrics, keys_of_runs, "--metrics")
    if metrics:
        return [*common]
    headline = [key for key in headline_keys([run.record for run in runs]) if key in common]
    return sorted(headline or common, key=importance)[:MOST_METRICS]


def agreeing(runs: Sequence[FinishedRun]) -> tuple[list[FinishedRun], list[str]]:
    """Return of each data set the most runs that differ in the model alone, and a note of the others.

    Of sets of one size, that of the first run is taken; of runs with equal settings the first. A data set
    with one run alone is left out.
    """
    distinct: dict[str, FinishedRun] = {}
    repeated = [run for run in runs if distinct.setdefault(run.record.settings_digest(), run) is not run]
    by_dataset: dict[str, dict[object, list[RunGroup]]] = {}
    for run_group in group([*distinct.values()]):
        by_dataset.setdefault(run_group.dataset, {}).setdefault(run_group.protocol, []).append(run_group)
    kept: set[FinishedRun] = set()
    notes = [f"{run.label} repeats a run with equal settings and is left out" for run in repeated]
    for dataset, by_protocol in by_dataset.items():
        largest = max(by_protocol.values(), key=len)
        rest = [each for groups in by_protocol.values() if groups is not largest for each in groups]
        if len(largest) > 1:
            kept |= {run for run_group in largest for run in run_group.runs}
        if rest and len(largest) > 1:
            names = run_names([*largest, *rest])
            lines = difference_lines([protocol(each.records) for each in (*largest, *rest)], names)
            notes.append(
                f"{dataset}: {len(largest)} of {len(largest) + len(rest)} runs are compared, the largest "
                f"number that differs in the model alone. Left out: {listed(names[len(largest) :], most=4)} "
                f"({'; '.join(lines)})"
            )
    return [run for run in runs if run in kept], notes


def run_names(groups: Sequence[RunGroup]) -> list[str]:
    """Return a name for each group of a data set: its model, tuned or not, and settings that set it apart."""
    names = [model_name(run_group.records[0]) for run_group in groups]
    for settings_of in (
        lambda run_group: model_settings(run_group.records[0]),
        lambda run_group: protocol(run_group.records),
        _all_settings,
    ):
        for name in _repeated(names):
            rows = [row for row, own in enumerate(names) if own == name]
            for key, values in differences([settings_of(groups[row]) for row in rows]).items():
                for row, value in zip(rows, values, strict=True):
                    names[row] += f" {key.rpartition('.')[2]}={short_value(value)}" if value else ""
    repeated = _repeated(names)
    return [
        f"{name} ({run_group.runs[0].label})" if name in repeated else name
        for name, run_group in zip(names, groups, strict=True)
    ]


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def short_value(value: str) -> str:
    """Return a setting as a name has it: six digits tell tuned numbers apart."""
    try:
        return f"{float(value):.6g}" if "." in value else value
    except ValueError:
        return value


def model_name(record: RunRecord) -> str:
    """Return what a model is called, tuned or not."""
    return f"{record.names.get('model') or 'none'}{' tuned' * (record.search is not None)}"


def model_settings(record: RunRecord) -> dict[str, str]:
    """Return the settings of a model; of a tuned one its search, and nothing for what that has chosen."""
    tried = {} if record.search is None else record.search.chosen.settings
    search = "" if record.search is None else f"{record.search.sampler} {record.search.budget}"
    settings = flat_settings(numeric_settings(record.settings).get("model") or {})
    kept = {key: "" if key in tried else value for key, value in settings.items()}
    return (
        kept | {"search": search} | {f"search.{name}": _range(each) for name, each in record.searched.items()}
    )


def _range(declared: Any) -> str:
    """Return what a search drew a setting from, as a name has it."""
    if isinstance(declared, Mapping):
        return f"{declared['low']:g}..{declared['high']:g}"
    return "|".join(map(str, declared))


def _all_settings(run_group: RunGroup) -> dict[str, str]:
    settings = numeric_settings(run_group.records[0].settings)
    return flat_settings({key: value for key, value in settings.items() if key != "seed"})


def name_runs(runs: Sequence[FinishedRun]) -> dict[str, FinishedRun]:
    """Return runs by name, in their order; ConfigError if they differ in more than their model."""
    groups = [RunGroup((run,), ()) for run in runs]
    protocols, labels = [protocol([run.record]) for run in runs], [run.label for run in runs]
    remedy = "Name runs that differ in the model alone, such as the folder of one sweep."
    require_equal_protocols(protocols, labels, "segments", remedy=remedy)
    return dict(zip(run_names(groups), runs, strict=True))


def require_equal_rows(runs: Mapping[str, FinishedRun]) -> None:
    """Refuse runs that were not trained and measured on the same rows."""
    first_name, first = next(iter(runs.items()))
    for name, run in runs.items():
        for part in ("train", "test"):
            own, rows = (getattr(each.record.split, part).sha256 for each in (run, first))
            if own != rows:
                raise DataError(
                    f"{name} and {first_name} have the same settings but other {part} rows "
                    f"({run.folder} and {first.folder}). Run both again on the same data."
                )


def common_metrics(runs: Mapping[str, FinishedRun]) -> list[str]:
    """Return the metrics that every run has stored for each user."""
    first, *rest = (user_columns(run.folder) for run in runs.values())
    return [key for key in first if all(key in columns for columns in rest)]


def values_by_run(runs: Mapping[str, FinishedRun], keys: Sequence[str]) -> "dict[str, pd.DataFrame]":
    """Return a row per user and a column per run, by metric."""
    import pandas as pd

    tables = {name: run.per_user(keys) for name, run in runs.items()}
    return {key: pd.DataFrame({name: table[key] for name, table in tables.items()}) for key in keys}


def reference_key(runs: Mapping[str, FinishedRun], metric: str) -> str:
    """Return the key of a metric of all runs; without a name the one that people look at first."""
    stored = [(name, user_columns(run.folder)) for name, run in runs.items()]
    return headline_key(choose_metrics(metric, stored, "--metric"))
