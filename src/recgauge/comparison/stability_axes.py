"""The order of models among stored runs, along every choice that the runs show."""

from collections.abc import Mapping, Sequence
from operator import ne
from typing import TYPE_CHECKING

from recgauge.comparison.runs import (
    common_metrics,
    model_name,
    model_settings,
    reference_key,
    require_equal_rows,
    values_by_run,
)
from recgauge.comparison.stability import Stability, compare_orders
from recgauge.conventions import get_convention
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import label, split_key
from recgauge.runs.finished import FinishedRun
from recgauge.runs.settings import flat_settings, numeric_settings, option_groups, part

if TYPE_CHECKING:
    import pandas as pd

Frames = dict[str, "pd.DataFrame"]
RunTable = dict[tuple[str, ...], dict[str, FinishedRun]]
"""Runs by the options of all choices, then by model."""
Option = tuple[str, dict[str, str]]
"""The name of an option, and its settings."""


def stability_of(runs: Sequence[FinishedRun], metric: str = "", confidence: float = 0.95) -> Stability:
    """Compare the order of models among stored runs, along every choice that the runs show.

    The reference is the setting with the most models. Metrics and cutoffs are those of its runs; options of a
    setting that decides the rows, such as data set, split, seed or candidates, are the runs that differ from
    the reference in that setting alone.

    Parameters
    ----------
    runs : sequence of FinishedRun
    metric : str
        The reference, such as ``ndcg_at_10``; empty: nDCG at the headline cutoff.
    confidence : float

    Returns
    -------
    Stability

    Raises
    ------
    RecgaugeError
        If there are fewer than two models of equal settings, nothing varies, or the metric is unknown.
    """
    notes: list[str] = []
    table, choices = _by_options(runs, notes)
    base = table[_reference(table)]
    require_equal_rows(base)
    key = reference_key(base, metric)
    axes = _of_metrics(base, key) | _of_runs(table, choices, key, notes)
    if not axes:
        raise ConfigError(
            "stability: the runs have one metric and differ in nothing but their models. Add runs of other "
            "seeds, splits, metrics or cutoffs."
        )
    result = compare_orders(axes, lower_is_better=_losses(axes, key, base), confidence=confidence)
    return Stability(result.axes, tuple(dict.fromkeys(notes)))


def reference_runs(runs: Sequence[FinishedRun]) -> dict[str, FinishedRun]:
    """Return the runs of the setting with the most models, by model.

    Raises
    ------
    ConfigError
        If they are fewer than two.
    """
    table, _ = _by_options(runs, [])
    return table[_reference(table)]


def _reference(table: RunTable) -> tuple[str, ...]:
    """Return the setting with the most models; refuse fewer than two."""
    reference = max(table, key=lambda options: len(table[options]))
    if len(table[reference]) < 2:
        models = dict.fromkeys(model for of_options in table.values() for model in of_options)
        raise ConfigError(
            "stability: at least two models must have the same settings otherwise; found "
            f"{listed(models)}. Such runs come from recgauge run -m model=popularity,svd,ease."
        )
    return reference


def _by_options(runs: Sequence[FinishedRun], notes: list[str]) -> tuple[RunTable, tuple[str, ...]]:
    """Return runs by the options of all choices, and the names of the choices."""
    models = labels([_model(run) for run in runs])
    options = [_choices(run) for run in runs]
    choices = tuple(dict.fromkeys(name for each in options for name in each))
    columns = [labels([each.get(name, ("None", {})) for each in options]) for name in choices]
    table: RunTable = {}
    for model, own, run in zip(models, zip(*columns, strict=True), runs, strict=True):
        if model in table.setdefault(own, {}):
            notes.append(f"{model} was run twice with the same settings; the last one counts.")
        table[own][model] = run
    return table, choices


def _model(run: FinishedRun) -> Option:
    """Return a model and its settings; of one that was tuned how it was, since each seed chooses its own."""
    settings = {key: value for key, value in model_settings(run.record).items() if value}
    return model_name(run.record), settings


def _choices(run: FinishedRun) -> dict[str, Option]:
    """Return the option of every setting that decides the rows of a run."""
    record = run.record
    settings = part(numeric_settings(record.settings), "rows")
    settings |= {"seed": record.seed, "fit_on": record.fit_on, "evaluate_on": record.evaluated_on}
    options = {}
    for name in option_groups("rows"):
        node = dict(settings.pop(name, None) or {})
        options[name] = record.names.get(name) or "none", flat_settings(node)
    return options | {name: (str(value), {}) for name, value in settings.items()}


def labels(options: Sequence[Option]) -> list[str]:
    """Return names, each with those of its settings that differ among options of that name.

    Examples
    --------
    >>> labels([("svd", {"n_factors": "8"}), ("svd", {"n_factors": "16"}), ("ease", {"l2": "250.0"})])
    ['svd n_factors=8', 'svd n_factors=16', 'ease']
    """
    texts = []
    for name, settings in options:
        rivals = [other for rival, other in options if rival == name]
        keys = [key for key in settings if any(other.get(key) != settings[key] for other in rivals)]
        texts.append(" ".join([name, *(f"{key}={settings[key]}" for key in keys)]))
    return texts


def _of_metrics(base: Mapping[str, FinishedRun], key: str) -> dict[str, Frames]:
    """Return values by metrics of accuracy at the cutoff of the reference, and by its cutoffs."""
    values = values_by_run(base, common_metrics(base))
    name, k = split_key(key)
    keys = {each: split_key(each) for each in [key, *values]}
    axes = {
        "metric": {
            label(each): values[each]
            for each, (other, at) in keys.items()
            if each == key or (at == k and (k is None or _is_accuracy(other)))
        },
        "cutoff": {str(at): values[each] for each, (other, at) in keys.items() if other == name and at},
    }
    return {axis: options for axis, options in axes.items() if len(options) > 1}


def _is_accuracy(name: str) -> bool:
    """Whether lists and relevant items are enough for a metric, so that models should agree on it."""
    metric = get_convention("standard").by_name().get(name)
    return metric is not None and metric.kind == "lists" and metric.needs_relevant and not metric.needs


def _losses(axes: Mapping[str, Frames], key: str, base: Mapping[str, FinishedRun]) -> set[tuple[str, str]]:
    """Return the options whose values are losses: metrics by themselves, else by the reference metric."""
    results = next(iter(base.values())).record.results
    losses = {label(entry.key) for entry in results if not entry.higher_is_better}
    options = [(axis, option) for axis, of_axis in axes.items() for option in of_axis]
    return {each for each in options if (each[1] if each[0] == "metric" else label(key)) in losses}


def _of_runs(table: RunTable, choices: Sequence[str], key: str, notes: list[str]) -> dict[str, Frames]:
    """Return the values of runs that differ from the reference in one choice, by choice and option.

    Of the models those that all options of a choice have.
    """
    values, reference = dict[str, Frames](), _reference(table)
    for place, axis in enumerate(choices):
        others = reference[:place], reference[place + 1 :]
        near = [each for each in table if (each[:place], each[place + 1 :]) == others and each != reference]
        frames: Frames = {}
        for setting in [reference, *near] if near else []:
            runs = table[setting]
            require_equal_rows(runs)
            if len(runs) > 1 and key in common_metrics(runs):
                frames[setting[place]] = values_by_run(runs, [key])[key]
            else:
                notes.append(f"{axis}={setting[place]} is left out: it has no two models with {label(key)}.")
        models = dict.fromkeys(str(model) for frame in frames.values() for model in frame)
        common = [model for model in models if all(model in frame for frame in frames.values())]
        if missing := sorted(models.keys() - set(common)):
            notes.append(f"{axis}: {listed(missing)} are left out, since not every option has them.")
        if len(frames) > 1 and len(common) > 1:
            values[axis] = {option: frame[common] for option, frame in frames.items()}
    far = [len(runs) for each, runs in table.items() if sum(map(ne, each, reference)) > 1]
    if far:
        notes.append(f"{sum(far)} runs differ from the reference in several choices and are left out.")
    return values
