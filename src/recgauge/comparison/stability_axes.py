"""The order of models among stored runs, along every choice that the runs and their lists show."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from recgauge.comparison.run_groups import fold_of
from recgauge.comparison.runs import common_metrics, reference_key, require_equal_rows, values_by_run
from recgauge.comparison.stability import Stability, compare_orders
from recgauge.comparison.user_values import choose_metrics
from recgauge.conventions import Definition, conventions, get_convention
from recgauge.errors import ConfigError, DataError, MetricError, listed
from recgauge.metrics import metric_key
from recgauge.metrics.names import as_key, label, split_key
from recgauge.runs.finished import FinishedRun
from recgauge.runs.settings import FOLDS, flat_settings, numeric_settings, option_groups, part

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.evaluation.codes import EvaluationInputs

SUITE = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")
"""Metrics that lists are evaluated by, beside those that the runs were."""
CUTOFFS = (1, 5, 10, 20, 50, 100)
"""Cutoffs that lists are evaluated at, as far as they reach, beside those of the runs."""
_CLOSE = 1e-9
_MOST_THRESHOLDS = 10

Frames = dict[str, "pd.DataFrame"]
Option = tuple[str, dict[str, str]]
"""The name of an option, and its settings."""


def stability_of(
    runs: Sequence[FinishedRun], metric: str = "", metrics: Sequence[str] = (), confidence: float = 0.95
) -> Stability:
    """Compare the order of models among stored runs, along every choice that runs and their lists show.

    The reference is the setting with the most models. Metric, cutoff, convention and relevance threshold are
    computed from its stored lists; every setting that decides the rows, such as data set, split, seed or
    candidates, from the runs that differ from it in that setting alone.

    Parameters
    ----------
    runs : sequence of FinishedRun
    metric : str
        The reference, such as ``ndcg_at_10``; empty: nDCG at the headline cutoff.
    metrics : sequence of str
        Names of the metrics that are compared; empty: metrics of accuracy, the runs' and the usual ones.
    confidence : float

    Returns
    -------
    Stability

    Raises
    ------
    RecgaugeError
        If there are fewer than two models of equal settings, nothing varies, or the metric is unknown.
    """
    models = labels([_model(run) for run in runs])
    options = [_choices(run) for run in runs]
    choices = tuple(dict.fromkeys(name for each in options for name in each))
    columns = [labels([each.get(name, ("None", {})) for each in options]) for name in choices]
    table: dict[tuple[str, ...], dict[str, FinishedRun]] = {}
    notes: list[str] = []
    for model, setting, run in zip(models, zip(*columns, strict=True), runs, strict=True):
        if model in table.setdefault(setting, {}):
            notes.append(f"{model} was run twice with the same settings; the last one counts.")
        table[setting][model] = run
    reference = max(table, key=lambda setting: len(table[setting]))
    base = table[reference]
    if len(base) < 2:
        raise ConfigError(
            f"stability: at least two models must have the same settings otherwise; found {listed(models)}. "
            "Such runs come from recgauge run -m model=popularity,svd,ease."
        )
    require_equal_rows(base)
    key = reference_key(base, metric)
    axes = _of_lists(base, key, metrics, notes)
    axes |= _of_runs(_neighbours(table, reference, choices, notes), key, notes)
    if not axes:
        raise ConfigError("stability: the runs differ in nothing but their models, and no list is stored.")
    result = compare_orders(axes, lower_is_better=_losses(axes, key, base), confidence=confidence)
    return Stability(result.axes, tuple(dict.fromkeys(notes)))


def _model(run: FinishedRun) -> Option:
    settings = numeric_settings(run.record.settings).get("model") or {}
    return run.record.names.get("model") or "none", flat_settings(settings)


def _choices(run: FinishedRun) -> dict[str, Option]:
    """Return the option of every setting that decides the rows of a run, and of its fold and threshold."""
    record = run.record
    threshold = record.dataset.relevant_from
    settings = part(numeric_settings(record.settings), "rows")
    settings |= {"seed": record.seed, "fit_on": record.fit_on, "evaluate_on": record.evaluated_on}
    settings["filters"] = dict(settings["filters"])
    apart = {"dataset": ("relevant_from",), "split": FOLDS}  # choices of their own
    options = {}
    for name in option_groups("rows"):
        node = settings.pop(name, None) or {}
        own = {key: value for key, value in node.items() if key not in apart.get(name, ())}
        options[name] = record.names.get(name) or "none", flat_settings(own)
        if name == "split":
            options["fold"] = " ".join(fold for fold in fold_of(record) if fold != "None"), {}
    options |= {name: (str(value), {}) for name, value in settings.items()}
    # as a number: a record that was read has 4.0 where that of a run just ended has 4
    return options | {"relevant_from": ("" if threshold is None else f"{threshold:g}", {})}


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


class _Lists:
    """The stored lists of some models' runs, evaluated under other definitions."""

    def __init__(self, runs: Mapping[str, FinishedRun]) -> None:
        self.record = record = next(iter(runs.values())).record
        chosen = record.settings.get("conventions") or {}
        convention = get_convention(chosen.get("name", "standard"))
        # stored lists have empty places for misses, and are as they were after dropping
        named = {name: record.settings.get(name) for name in ("ties", "repeats", "no_list")}
        self.convention = convention.with_policies(named)
        self.stored = {model: run.lists() for model, run in runs.items()}
        lowest = record.dataset.relevant_from
        self.inputs = {model: lists.inputs(lowest, list_each=True) for model, lists in self.stored.items()}

    def values(
        self,
        suite: Mapping[str, Definition],
        cutoffs: Sequence[int],
        inputs: "Mapping[str, EvaluationInputs] | None" = None,
    ) -> Frames:
        """Return ``{key: a row per user, a column per model}``."""
        import pandas as pd

        policies, seed = next(iter(suite.values())).policies, self.record.seed
        frames = {
            model: lists.evaluate(suite, cutoffs=tuple(cutoffs), policies=policies, seed=seed).to_frame()
            for model, lists in (inputs or self.inputs).items()
        }
        return {
            str(key): pd.DataFrame({model: frame[key] for model, frame in frames.items()})
            for key in next(iter(frames.values()))
        }


@cache
def is_accuracy(name: str) -> bool:
    """Whether lists and relevant items are enough for a metric, so that models should agree on it."""
    metric = get_convention("standard").known().get(name)
    return metric is not None and metric.kind == "lists" and metric.needs_relevant and not metric.needs


def _of_lists(
    base: Mapping[str, FinishedRun], key: str, chosen: Sequence[str], notes: list[str]
) -> dict[str, Frames]:
    """Return values under other metrics, cutoffs, conventions and thresholds, by choice and option."""
    name, k = split_key(key)
    record = next(iter(base.values())).record
    values = values_by_run(base, common_metrics(base))
    axes: dict[str, Frames] = {}
    if k is not None and (lists := _usable_lists(base, name, k, notes)) is not None:
        # the metrics that the configuration gives by name are the convention's
        named = [n for n, node in (record.settings.get("metrics") or {}).items() if node == n]
        names = [n for n in dict.fromkeys([name, *named, *SUITE]) if is_accuracy(n)]
        suite = {n: lists.convention.definition(n) for n in names if n not in record.refused}
        longest = max(entry.k for entry in record.results if entry.k is not None)
        values = lists.values(suite, sorted({k, *(c for c in CUTOFFS if c <= longest)})) | values
        axes["convention"] = _convention_axis(lists, name, k, notes)
        axes["relevant from"] = _threshold_axis(lists, name, k, notes)
    cutoffs = sorted(c for n, c in map(split_key, values) if n == name and c is not None)
    axes = {
        "metric": _metric_axis(values, key, chosen),
        "cutoff": {str(c): values[metric_key(name, c)] for c in sorted(cutoffs, key=lambda c: c != k)},
    } | axes
    return {axis: options for axis, options in axes.items() if len(options) > 1}


def _losses(axes: Mapping[str, Frames], key: str, base: Mapping[str, FinishedRun]) -> set[tuple[str, str]]:
    """Return the options whose values are losses: metrics by themselves, else by the reference metric."""
    losses = {entry.key for entry in next(iter(base.values())).record.results if not entry.higher_is_better}
    along = [axis for axis in axes if axis != "metric"] if key in losses else []
    options = {(axis, option) for axis in along for option in axes[axis]}
    return options | {("metric", label(metric)) for metric in losses}


def _usable_lists(base: Mapping[str, FinishedRun], name: str, k: int, notes: list[str]) -> _Lists | None:
    """Return the stored lists if they give back the stored values; else None, with a note why."""
    lacking = [model for model, run in base.items() if not run.has_lists]
    if lacking:
        notes.append(
            f"{listed(lacking)}: no whole lists are stored (artifacts.lists=true stores them), so "
            "conventions and relevance thresholds are not compared."
        )
        return None
    lists, key = _Lists(base), metric_key(name, k)
    if is_accuracy(name):
        frame = lists.values({name: lists.convention.definition(name)}, [k]).get(key)
        stored = values_by_run(base, [key])[key]
        if frame is not None and (frame.reindex(stored.index) - stored).abs().max().max() < _CLOSE:
            return lists
    notes.append(
        f"The stored lists alone do not give back the runs' {label(key)} (it needs more than lists, as "
        "ties=expected and metrics beyond accuracy do), so conventions and thresholds are not compared."
    )
    return None


def _metric_axis(values: Frames, key: str, names: Sequence[str]) -> Frames:
    k = split_key(key)[1]
    if names:
        keys = [as_key(name) for name in names]
        keys = [each if each in values else metric_key(each, k) for each in keys]
        chosen = choose_metrics(keys, list(values), "--metrics")
    else:
        same = [each for each in values if split_key(each)[1] == k]
        chosen = tuple(each for each in same if k is None or is_accuracy(split_key(each)[0]))
    return {label(each): values[each] for each in dict.fromkeys([key, *chosen])}


def _convention_axis(lists: _Lists, name: str, k: int, notes: list[str]) -> Frames:
    own = lists.record.names["conventions"]
    options = {own: lists.convention}
    options |= {n: c for n, c in conventions().items() if n != own and c.defines(name)}
    axis = {}
    for option, convention in options.items():
        try:
            frames = lists.values({name: convention.definition(name)}, [k])
        except (MetricError, ConfigError, DataError) as error:
            notes.append(f"{option} refuses these lists: {error}")
        else:
            if frames:
                axis[option] = frames[metric_key(name, k)]
    return axis


def _threshold_axis(lists: _Lists, name: str, k: int, notes: list[str]) -> Frames:
    """Return values of users with lists under other lowest relevant ratings; nothing without ratings."""
    own = lists.record.dataset.relevant_from
    if own is None:
        return {}
    stored = next(iter(lists.stored.values()))
    ratings = sorted(float(value) for value in stored.test["rating"].unique() if value > 0)
    if len(ratings) > _MOST_THRESHOLDS:
        ratings = [value for value in ratings if value == int(value)][:_MOST_THRESHOLDS]
    suite = {name: lists.convention.definition(name)}
    axis: Frames = {}
    for threshold in [float(own), *(value for value in ratings if value != own)]:
        inputs = {model: each.inputs(threshold, listed_only=True) for model, each in lists.stored.items()}
        axis |= {f"{threshold:g}": frame for frame in lists.values(suite, [k], inputs).values()}
    if n_listless := stored.test["user_id"].nunique() - stored.lists["user"].nunique():
        notes.append(
            f"relevant from: {n_listless:,} users had nothing relevant in the runs and so no list; they are "
            "left out under lower thresholds, too."
        )
    return axis


def _neighbours(
    table: Mapping[tuple[str, ...], dict[str, FinishedRun]],
    reference: tuple[str, ...],
    choices: Sequence[str],
    notes: list[str],
) -> dict[str, dict[str, Mapping[str, FinishedRun]]]:
    """Return the runs that differ from the reference in one choice, by choice and option."""
    axes: dict[str, dict[str, Mapping[str, FinishedRun]]] = {}
    n_far = 0
    for setting, runs in table.items():
        changed = [i for i, option in enumerate(setting) if option != reference[i]]
        if len(changed) == 1:
            (i,) = changed
            options = axes.setdefault(choices[i], {reference[i]: table[reference]})
            options[setting[i]] = runs
        n_far += len(runs) if len(changed) > 1 else 0
    if n_far:
        notes.append(f"{n_far} runs differ from the reference in several choices and are left out.")
    return {axis: axes[axis] for axis in choices if axis in axes}


def _of_runs(
    axes: Mapping[str, Mapping[str, Mapping[str, FinishedRun]]], key: str, notes: list[str]
) -> dict[str, Frames]:
    """Return the values of the models that all options of a choice have, by choice and option."""
    values: dict[str, Frames] = {}
    for axis, options in axes.items():
        frames = {}
        for option, runs in options.items():
            require_equal_rows(runs)
            if len(runs) < 2 or key not in common_metrics(runs):
                notes.append(f"{axis}={option} is left out: it has no two models with {label(key)}.")
            else:
                frames[option] = values_by_run(runs, [key])[key]
        models = dict.fromkeys(str(model) for frame in frames.values() for model in frame)
        common = [model for model in models if all(model in frame for frame in frames.values())]
        if missing := sorted(models.keys() - set(common)):
            notes.append(f"{axis}: {listed(missing)} are left out, since not every option has them.")
        if len(frames) > 1 and len(common) > 1:
            values[axis] = {option: frame[common] for option, frame in frames.items()}
    return values
