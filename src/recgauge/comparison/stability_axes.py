"""The order of models among stored runs, along every choice that the runs and their lists show."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from recgauge.comparison.run_groups import FOLDS, fold_of
from recgauge.comparison.runs import common_metrics, reference_key, require_equal_rows, values_by_run
from recgauge.comparison.stability import Stability, compare_orders
from recgauge.comparison.user_values import choose_metrics
from recgauge.conventions import Definition, conventions, get_convention
from recgauge.errors import ConfigError, DataError, MetricError, listed
from recgauge.evaluation.values import evaluate_top_k
from recgauge.metrics import metric_key
from recgauge.metrics.names import as_key, label, split_key
from recgauge.runs.finished import FinishedRun
from recgauge.runs.settings import FREE_DATASET_SETTINGS
from recgauge.runs.stored import StoredLists

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.evaluation.evaluate import EvaluationInputs

SUITE = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")
"""Metrics that lists are evaluated by, beside those that the runs were."""
CUTOFFS = (1, 5, 10, 20, 50, 100)
"""Cutoffs that lists are evaluated at, as far as they reach, beside those of the runs."""
_CLOSE = 1e-9
_MOST_THRESHOLDS = 10

Frames = dict[str, "pd.DataFrame"]
_LEFT_OUT = {"dataset": (*FREE_DATASET_SETTINGS, "relevant_from"), "split": FOLDS}


def group(name: str) -> Callable[[FinishedRun], tuple[str, Any]]:
    """Return what gives the option of a group, such as ``model``, and its settings."""

    def chosen(run: FinishedRun) -> tuple[str, Any]:
        settings = dict(run.record.settings.get(name) or {})
        kept = {key: value for key, value in settings.items() if key not in _LEFT_OUT.get(name, ())}
        return run.record.names.get(name) or "none", kept

    return chosen


def _fold(run: FinishedRun) -> tuple[str, Any]:
    return " ".join(name for name in fold_of(run.record) if name != "None"), {}


def _relevant_from(run: FinishedRun) -> tuple[str, Any]:
    """Return the threshold as text: a record that was read has 4.0 where that of a run just ended has 4."""
    value = run.record.dataset.relevant_from
    return "" if value is None else f"{value:g}", {}


CHOICES: dict[str, Callable[[FinishedRun], tuple[str, Any]]] = {
    "dataset": group("dataset"),
    "filters": group("filters"),
    "split": group("split"),
    "fold": _fold,
    "candidates": group("candidates"),
    "seed": lambda run: (str(run.record.seed), {}),
    "conventions of runs": lambda run: (
        run.record.names["conventions"],
        {"ties": run.record.settings.get("ties")},
    ),
    "relevant from, of runs": _relevant_from,
    "fit on": lambda run: (run.record.fit_on, {}),
    "rows": lambda run: (run.record.evaluated_on, {}),
}
"""What runs can differ in beside their model: a name and the settings that go with it."""


def labels(chosen: Sequence[tuple[str, Any]]) -> list[str]:
    """Return names, each with those of its settings that differ among choices of that name.

    Examples
    --------
    >>> labels([("svd", {"n_factors": 8}), ("svd", {"n_factors": 16}), ("ease", {"l2": 250.0})])
    ['svd n_factors=8', 'svd n_factors=16', 'ease']
    """
    plain = [(name, _flat(settings)) for name, settings in chosen]
    found = []
    for name, settings in plain:
        rivals = [other for its, other in plain if its == name]
        keys = [key for key in settings if any(other.get(key) != settings[key] for other in rivals)]
        found.append(" ".join([name, *(f"{key}={settings[key]}" for key in keys)]))
    return found


def _flat(settings: Any, before: str = "") -> dict[str, str]:
    if not isinstance(settings, Mapping):
        return {before.removesuffix("."): settings if isinstance(settings, str) else json.dumps(settings)}
    nested = (_flat(value, f"{before}{key}.") for key, value in settings.items() if key != "_target_")
    return {key: value for part in nested for key, value in part.items()}


class _Lists:
    """Evaluates the stored lists of a condition under other definitions."""

    def __init__(self, runs: Mapping[str, FinishedRun]) -> None:
        self.runs = runs
        self.record = next(iter(runs.values())).record
        chosen = self.record.settings.get("conventions") or {}
        known = get_convention(chosen.get("name", "standard"))
        self.convention = known.with_ties(self.record.settings.get("ties"))
        self._inputs: dict[Any, EvaluationInputs] = {}

    @cached_property
    def stored(self) -> dict[str, StoredLists]:
        """The lists and the held-out rows of each model."""
        return {model: run.lists() for model, run in self.runs.items()}

    def values(
        self, suite: Mapping[str, Definition], cutoffs: Sequence[int], threshold: float | None = None
    ) -> tuple[Frames, dict[str, bool]]:
        """Return ``{key: a row per user, a column per model}``, and by key whether higher is better.

        `threshold`: the lowest rating that is relevant, of users with lists alone; None: as in the runs.
        """
        import pandas as pd

        lowest = self.record.dataset.relevant_from if threshold is None else threshold
        found: dict[str, dict[str, pd.Series]] = {}
        higher: dict[str, bool] = {}
        for model in self.runs:
            if (model, threshold) not in self._inputs:
                lists = self.stored[model].inputs(
                    lowest, listed_only=threshold is not None, list_each=threshold is None
                )
                self._inputs[model, threshold] = lists
            lists = self._inputs[model, threshold]
            evaluation = evaluate_top_k(
                suite,
                lists.top_k,
                lists.relevant,
                cutoffs=tuple(cutoffs),
                user_ids=lists.user_ids,
                policies=next(iter(suite.values())).policies,
                catalogue=lists.catalogue,
                users=lists.users,
                seed=self.record.seed,
            )
            for one in evaluation.results:
                if one.per_user is not None:
                    found.setdefault(one.key, {})[model] = pd.Series(one.per_user, evaluation.users)
                    higher[one.key] = one.higher_is_better
        return {key: pd.DataFrame(of_models) for key, of_models in found.items()}, higher


@cache
def is_accuracy(name: str) -> bool:
    """Whether lists and relevant items are enough for a metric, so that models should agree on it."""
    known = get_convention("standard").known().get(name)
    return known is not None and known.kind == "lists" and known.needs_relevant and not known.needs


def stability_of(
    runs: Sequence[FinishedRun], metric: str = "", metrics: Sequence[str] = (), confidence: float = 0.95
) -> Stability:
    """Compare the order of models among stored runs, along every choice that runs and their lists show.

    The reference is the setting with the most models. Metric, cutoff, convention and relevance threshold are
    computed from its stored lists; data set, split, seed, candidates and the like from the runs that differ
    from it in that choice alone.

    Parameters
    ----------
    runs : sequence of FinishedRun
    metric : str
        The reference, such as ``ndcg_at_10``; empty: nDCG at 10, else at the largest cutoff.
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
    models = labels([group("model")(run) for run in runs])
    conditions = zip(*(labels([chosen(run) for run in runs]) for chosen in CHOICES.values()), strict=True)
    table: dict[tuple[str, ...], dict[str, FinishedRun]] = {}
    notes: list[str] = []
    for model, condition, run in zip(models, conditions, runs, strict=True):
        if model in table.setdefault(condition, {}):
            notes.append(f"{model} was run twice with the same settings; the last one counts.")
        table[condition][model] = run
    reference = max(table, key=lambda condition: len(table[condition]))
    base = table[reference]
    if len(base) < 2:
        raise ConfigError(
            f"stability: at least two models must have the same settings otherwise; found {listed(models)}. "
            "Such runs come from recgauge run -m model=popularity,svd,ease."
        )
    require_equal_rows(base)
    key = reference_key(base, metric)
    axes, higher = _of_lists(base, key, metrics, notes)
    axes |= _of_runs(table, reference, base, key, notes)
    if not axes:
        raise ConfigError("stability: the runs differ in nothing but their models, and no list is stored.")
    found = compare_orders(axes, lower_is_better=_lower_is_better(axes, key, higher), confidence=confidence)
    return Stability(found.axes, tuple(dict.fromkeys(notes)))


def _of_lists(
    base: Mapping[str, FinishedRun], key: str, chosen: Sequence[str], notes: list[str]
) -> tuple[dict[str, Frames], dict[str, bool]]:
    """Return values under other metrics, cutoffs, conventions and thresholds; by key, if higher is better."""
    name, k = split_key(key)
    record = next(iter(base.values())).record
    values = values_by_run(base, common_metrics(base))
    higher = {entry.key: entry.higher_is_better for entry in record.results}
    lists = None if k is None else _usable_lists(base, key, notes)
    if k is not None and lists is not None:
        # what the configuration gives by name, the convention defines
        named = [n for n, node in (record.settings.get("metrics") or {}).items() if node == n]
        names = [n for n in dict.fromkeys([name, *named, *SUITE]) if is_accuracy(n)]
        names = [n for n in names if n not in record.refused]
        longest = max(entry.k for entry in record.results if entry.k is not None)
        ks = [c for c in CUTOFFS if c <= longest]
        suite = {n: lists.convention.definition(n) for n in names}
        made, directions = lists.values(suite, sorted({k, *ks}))
        values, higher = made | values, directions | higher
    axes = {
        "metric": _metric_axis(values, key, chosen),
        "cutoff": {str(c): values[metric_key(name, c)] for c in _cutoffs(values, key)},
    }
    if k is not None and lists is not None:
        axes["convention"] = _convention_axis(lists, name, k, notes)
        axes["relevant from"] = _threshold_axis(lists, name, k, notes)
    return {axis: options for axis, options in axes.items() if len(options) > 1}, higher


def _lower_is_better(
    axes: Mapping[str, Frames], key: str, higher: Mapping[str, bool]
) -> set[tuple[str, str]]:
    """Return the options whose values are losses: metrics by themselves, else by the reference metric."""
    lower = {("metric", label(one)) for one, up in higher.items() if not up}
    if not higher.get(key, True):
        others = (axis for axis in axes if axis != "metric")
        lower |= {(axis, option) for axis in others for option in axes[axis]}
    return lower


def _usable_lists(base: Mapping[str, FinishedRun], key: str, notes: list[str]) -> _Lists | None:
    """Return the stored lists if they give back the stored values; else None, with a note why."""
    lacking = [model for model, run in base.items() if not run.has_lists]
    if lacking:
        notes.append(
            f"{listed(lacking)}: no whole lists are stored (artifacts.lists=true stores them), so "
            "conventions and relevance thresholds are not compared."
        )
        return None
    lists, (name, k) = _Lists(base), split_key(key)
    if k is not None and is_accuracy(name):
        frame = lists.values({name: lists.convention.definition(name)}, [k])[0].get(key)
        stored = values_by_run(base, [key])[key]
        if frame is not None and (frame.reindex(stored.index) - stored).abs().max().max() < _CLOSE:
            return lists
    notes.append(
        f"The stored lists alone do not give back the runs' {label(key)} (it needs more than lists, as "
        "ties=expected and metrics beyond accuracy do), so conventions and thresholds are not compared."
    )
    return None


def _metric_axis(values: Frames, key: str, asked: Sequence[str]) -> Frames:
    k = split_key(key)[1]
    if asked:
        named = [as_key(one) for one in asked]
        named = [one if one in values else metric_key(one, k) for one in named]
        wanted = choose_metrics(named, list(values), "--metrics")
    else:
        same = [one for one in values if split_key(one)[1] == k]
        wanted = tuple(one for one in same if k is None or is_accuracy(split_key(one)[0]))
    return {label(one): values[one] for one in dict.fromkeys([key, *wanted])}


def _cutoffs(values: Frames, key: str) -> list[int]:
    """Return the cutoffs of the reference metric, the reference's first; none without cutoff."""
    name, k = split_key(key)
    found = sorted(c for n, c in map(split_key, values) if n == name and c is not None)
    return sorted(found, key=lambda c: c != k)


def _convention_axis(lists: _Lists, name: str, k: int, notes: list[str]) -> Frames:
    own = lists.record.names["conventions"]
    every = {own: lists.convention} | {n: c for n, c in conventions().items() if n != own}
    found = {}
    for option, convention in every.items():
        if not convention.defines(name) and option != own:
            continue
        try:
            frames, _ = lists.values({name: convention.definition(name)}, [k])
        except (MetricError, ConfigError, DataError) as error:
            notes.append(f"{option} refuses these lists: {error}")
            continue
        if frames:
            found[option] = frames[metric_key(name, k)]
    return found


def _threshold_axis(lists: _Lists, name: str, k: int, notes: list[str]) -> Frames:
    """Return values with other lowest ratings that are relevant; nothing for implicit feedback."""
    own = lists.record.dataset.relevant_from
    if own is None:
        return {}
    stored = lists.stored[next(iter(lists.runs))]
    test = stored.test
    ratings = sorted(float(value) for value in test["rating"].unique() if value > 0)
    if len(ratings) > _MOST_THRESHOLDS:
        ratings = [value for value in ratings if value == int(value)][:_MOST_THRESHOLDS]
    suite = {name: lists.convention.definition(name)}
    found: Frames = {}
    for threshold in [float(own), *(value for value in ratings if value != own)]:
        frames, _ = lists.values(suite, [k], threshold)
        found |= {f"{threshold:g}": frame for frame in frames.values()}
    if n_listless := test["user_id"].nunique() - stored.lists["user"].nunique():
        notes.append(
            f"relevant from: {n_listless:,} users had nothing relevant in the runs and so no list; they are "
            "left out under lower thresholds, too."
        )
    return found


def _of_runs(
    table: Mapping[tuple[str, ...], dict[str, FinishedRun]],
    reference: tuple[str, ...],
    base: Mapping[str, FinishedRun],
    key: str,
    notes: list[str],
) -> dict[str, Frames]:
    """Return values of runs that differ from the reference in one choice, by choice and option."""
    axes: dict[str, dict[str, Mapping[str, FinishedRun]]] = {}
    n_far = 0
    for condition, runs in table.items():
        differing = [
            i for i, (one, other) in enumerate(zip(condition, reference, strict=True)) if one != other
        ]
        if len(differing) == 1:
            axis = list(CHOICES)[differing[0]]
            options = axes.setdefault(axis, {reference[differing[0]]: base})
            options[condition[differing[0]]] = runs
        n_far += len(runs) if len(differing) > 1 else 0
    if n_far:
        notes.append(f"{n_far} runs differ from the reference in several choices and are left out.")
    found = {axis: _shared(axis, axes[axis], key, notes) for axis in CHOICES if axis in axes}
    return {axis: options for axis, options in found.items() if len(options) > 1}


def _shared(
    axis: str, options: Mapping[str, Mapping[str, FinishedRun]], key: str, notes: list[str]
) -> Frames:
    """Return the values of the models that every option has; options with fewer than two are left out."""
    kept = {}
    for option, runs in options.items():
        require_equal_rows(runs)
        if len(runs) < 2 or key not in common_metrics(runs):
            notes.append(f"{axis}={option} is left out: it has no two models with {label(key)}.")
        else:
            kept[option] = values_by_run(runs, [key])[key]
    common = [model for model in next(iter(kept.values())) if all(model in frame for frame in kept.values())]
    missing = sorted({str(model) for frame in kept.values() for model in frame} - set(common))
    if missing:
        notes.append(f"{axis}: {listed(missing)} are left out, since not every option has them.")
    return {option: frame[common] for option, frame in kept.items()} if len(common) > 1 else {}
