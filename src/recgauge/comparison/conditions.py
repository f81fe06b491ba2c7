"""Stored runs that differ in their model alone, and their lists under other definitions."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from recgauge.comparison.series import FOLDS
from recgauge.conventions import Definition, get_convention
from recgauge.errors import ConfigError, DataError, did_you_mean, listed
from recgauge.evaluation import Evaluation
from recgauge.evaluation.values import evaluate_top_k
from recgauge.runs.protocol import differences, protocol
from recgauge.runs.settings import FREE_DATASET_SETTINGS
from recgauge.runs.stored import RunFolder, StoredLists, user_columns

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.evaluation.evaluate import EvaluationInputs


def label(metric: str) -> str:
    """Return a metric's key as people write it: ``ndcg@10`` for ``ndcg_at_10``."""
    return metric.replace("_at_", "@")


Frames = dict[str, "pd.DataFrame"]
_LEFT_OUT = {"dataset": (*FREE_DATASET_SETTINGS, "relevant_from"), "split": FOLDS}


def group(name: str) -> Callable[[RunFolder], tuple[str, Any]]:
    """Return what gives the option of a group, such as ``model``, and its settings."""

    def chosen(run: RunFolder) -> tuple[str, Any]:
        settings = dict(run.record.settings.get(name) or {})
        kept = {key: value for key, value in settings.items() if key not in _LEFT_OUT.get(name, ())}
        return run.record.names.get(name) or "none", kept

    return chosen


def _fold(run: RunFolder) -> tuple[str, Any]:
    split = run.record.settings.get("split") or {}
    return " ".join(str(split[name]) for name in FOLDS if split.get(name) is not None), {}


def _relevant_from(run: RunFolder) -> tuple[str, Any]:
    """Return the threshold as text: a record that was read has 4.0 where that of a run just ended has 4."""
    value = run.record.dataset.relevant_from
    return "" if value is None else f"{value:g}", {}


CHOICES: dict[str, Callable[[RunFolder], tuple[str, Any]]] = {
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


@dataclass(frozen=True, eq=False)
class Condition:
    """Runs of different models that differ in nothing else."""

    runs: Mapping[str, RunFolder]

    @cached_property
    def stored(self) -> Frames:
        """Per-user values by model, a column per metric."""
        return {model: run.per_user() for model, run in self.runs.items()}

    @property
    def first(self) -> RunFolder:
        """The run of the first model."""
        return next(iter(self.runs.values()))

    @property
    def metrics(self) -> list[str]:
        """The metrics that every model has per-user values of."""
        first, *others = (user_columns(run.folder) for run in self.runs.values())
        return [key for key in first if all(key in columns for columns in others)]

    def values(self, key: str) -> "pd.DataFrame":
        """Return a row per user and a column per model."""
        import pandas as pd

        return pd.DataFrame({model: frame[key] for model, frame in self.stored.items()})

    def only(self, key: str) -> "pd.DataFrame":
        """Return the same as `values`, without reading other metrics."""
        import pandas as pd

        return pd.DataFrame({model: run.per_user([key])[key] for model, run in self.runs.items()})

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


class ConditionLists:
    """Evaluates the stored lists of a condition under other definitions."""

    def __init__(self, condition: Condition) -> None:
        self.runs = condition.runs
        self.record = condition.first.record
        self._stored: dict[str, StoredLists] = {}
        self._inputs: dict[Any, EvaluationInputs] = {}

    def stored(self, model: str) -> StoredLists:
        """Return the lists and the held-out rows of a model, read once."""
        if model not in self._stored:
            self._stored[model] = self.runs[model].lists()
        return self._stored[model]

    def longest(self) -> int:
        """Return the length of the lists."""
        return max(entry.k for entry in self.record.results if entry.k is not None)

    def values(
        self,
        suite: Mapping[str, Definition],
        cutoffs: Sequence[int],
        threshold: float | None,
        *,
        listed_only: bool = False,
    ) -> tuple[Frames, dict[str, bool]]:
        """Return ``{key: a row per user, a column per model}``, and by key whether higher is better."""
        import pandas as pd

        evaluations = {m: self._evaluate(m, suite, cutoffs, threshold, listed_only) for m in self.runs}
        first = next(iter(evaluations.values()))
        higher = {one.key: one.higher_is_better for one in first.results if one.per_user is not None}
        frames = {
            key: pd.DataFrame({m: pd.Series(e.per_user(key), e.users) for m, e in evaluations.items()})
            for key in higher
        }
        return frames, higher

    def _evaluate(
        self, model: str, suite: Mapping[str, Definition], ks: Sequence[int], threshold: Any, listed: bool
    ) -> Evaluation:
        place = (model, threshold, listed)
        if place not in self._inputs:
            self._inputs[place] = self.stored(model).inputs(threshold, listed_only=listed)
        lists = self._inputs[place]
        return evaluate_top_k(
            suite,
            lists.top_k,
            lists.relevant,
            cutoffs=tuple(ks),
            user_ids=lists.user_ids,
            policies=next(iter(suite.values())).policies,
            catalogue=lists.catalogue,
            users=lists.users,
            seed=self.record.seed,
        )


@cache
def is_accuracy(name: str) -> bool:
    """Whether lists and relevant items are enough for a metric, so that models should agree on it."""
    known = get_convention("standard").known().get(name)
    return known is not None and known.kind == "lists" and known.needs_relevant and not known.needs


def conditions_of(runs: Sequence[RunFolder]) -> list[tuple[str, ...]]:
    """Return of each run what it has in every choice, in words."""
    columns = [labels([chosen(run) for run in runs]) for chosen in CHOICES.values()]
    return list(zip(*columns, strict=True))


def only_condition(runs: Sequence[RunFolder]) -> Condition:
    """Return runs that differ in their model alone, in their order."""
    for run in runs[1:]:
        if differing := differences([protocol([one.record]) for one in (runs[0], run)]):
            told = "; ".join(f"{what}: {one} against {other}" for what, (one, other) in differing.items())
            raise ConfigError(
                f"{runs[0].folder} and {run.folder} differ in more than the model ({told}). Give runs that "
                "differ in their model alone."
            )
    models = labels([group("model")(run) for run in runs])
    twice = [model for model in models if models.count(model) > 1]
    if twice:
        raise ConfigError(f"{twice[0]} is there twice with the same settings; give one run of it.")
    found = Condition(dict(zip(models, runs, strict=True)))
    found.check()
    return found


def split_key(key: str) -> tuple[str, int | None]:
    """Return the name and the cutoff of a result, None where it has no cutoff.

    Examples
    --------
    >>> split_key("ndcg_at_10"), split_key("rmse")
    (('ndcg', 10), ('rmse', None))
    """
    name, _, k = key.rpartition("_at_")
    return (name, int(k)) if name and k.isdecimal() else (key, None)


def reference_key(base: Condition, asked: str) -> str:
    """Return the metric that is asked for, else nDCG at 10, else at the largest cutoff."""
    known = base.metrics
    if asked:
        key = asked.replace("@", "_at_")
        if key not in known:
            hint = did_you_mean(label(key), map(label, known))
            raise ConfigError(
                f"--metric: the runs have no {label(key)}. {hint}They have {listed(map(label, known))}."
            )
        return key
    if not known:
        raise ConfigError("The runs have no per-user metric in common.")

    def rank(key: str) -> tuple[bool, bool, int]:
        name, k = split_key(key)
        return name == "ndcg", k == 10, k or 0

    return max(known, key=rank)
