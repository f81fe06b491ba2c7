"""Runs that anybody has logged, in conditions: those that differ in a seed or fold alone are one."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from recgauge.comparison.measured_alike import require_one
from recgauge.comparison.user_values import choose_metrics
from recgauge.errors import ConfigError, did_you_mean, listed, shortened
from recgauge.metrics.names import Directions, headline_cutoff, importance, label, split_key, usual_direction

RUN_ID = "run_id"
"""What tells all runs apart, for `over`."""
MOST_METRICS = 4
"""Metrics that are compared unless the user names some."""
_REPEAT = re.compile(
    r"(?:.*[./:]|.*__)?(?!n_|num_|max_)(?:(?:\w+_)?(?:seed|fold)(?:_id|_idx|_index|_no|_number)?"
    r"|random_?state|repeat|repetition|replicate|replication|window)",
    re.IGNORECASE,
)
_FOLD = re.compile(r".*(?:fold|window)[^.]*", re.IGNORECASE)
_DATASETS = ("dataset", "dataset_name", "data_set", "data")
_MODELS = ("model", "model_name", "model_type", "algorithm", "algo", "estimator", "method")
_PART = re.compile(r"^(?:valid|validation|val|test|eval|dev)[_/.:-]", re.IGNORECASE)
_NO_MEASURE = re.compile(r"(?:ci|by_cutoff|filters|sanity)/.*|users_evaluated|test_rows_dropped")
_OF_TRAINING = re.compile(r"(?:ci|train|training|system|by_cutoff|sanity)[_/.:-].*", re.IGNORECASE)
"""Compared where there is nothing else."""


@dataclass(frozen=True, slots=True, eq=False)
class LoggedRun:
    """A finished run of a tracking store, of any library.

    Parameters
    ----------
    run_id, name : str
    facts : mapping of str to str
        Its params, and the tags that its author set.
    metrics : mapping of str to float
        The last value of each.
    definitions : mapping of str to str
        Of metrics by their name without a cutoff, where the run says how they are measured.
    has_users : bool
        Whether the run has stored values of users by id.
    policies, truth : str
        Of a run that was evaluated: how its lists are judged, and the digest of its relevant items.
    """

    run_id: str
    name: str
    facts: Mapping[str, str]
    metrics: Mapping[str, float]
    definitions: Mapping[str, str] = field(default_factory=dict)
    has_users: bool = False
    policies: str = ""
    truth: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """Runs that differ in a seed or fold alone: by what tells them apart, such as ``seed 1``."""

    name: str
    dataset: str
    runs: Mapping[str, LoggedRun]
    of_folds: bool = False

    def values(self, key: str) -> dict[str, float]:
        """Return the value of a metric of every run."""
        return {text: run.metrics[key] for text, run in self.runs.items()}


def conditions_of(runs: Sequence[LoggedRun], over: Sequence[str] = ()) -> tuple[list[Condition], list[str]]:
    """Return runs, newest first, in conditions, and notes on runs that repeat others.

    Parameters
    ----------
    runs : sequence of LoggedRun
    over : sequence of str
        Params and tags in which the runs of a condition may differ, besides those with usual names of seeds
        and folds.

    Raises
    ------
    ConfigError
        If no run has what `over` names, or runs are equal in all else and their numbers are not, or are
        judged by other relevant items.

    Examples
    --------
    >>> def run(model, seed):
    ...     return LoggedRun(f"{model}{seed}", "", {"model": model, "random_state": seed}, {"ndcg": 0.5})
    >>> conditions, _ = conditions_of([run("svd", "1"), run("ease", "1"), run("svd", "2")])
    >>> [(each.name, list(each.runs)) for each in conditions]
    [('svd', ['random_state 2', 'random_state 1']), ('ease', ['random_state 1'])]
    """
    names = sorted({name for run in runs for name in run.facts})
    if unknown := [name for name in over if name not in (*names, RUN_ID)]:
        raise ConfigError(
            f"--over {unknown[0]}: no run has such a param or tag. {did_you_mean(unknown[0], names)}"
            f"There are {listed([*names, RUN_ID])}."
        )
    repeated = list(dict.fromkeys([*filter(_REPEAT.fullmatch, names), *over]))
    alike: dict[frozenset[tuple[str, str]], list[LoggedRun]] = {}
    for run in reversed(runs):
        own = {(name, value) for name, value in run.facts.items() if name not in repeated}
        alike.setdefault(frozenset(own), []).append(run)
    facts, notes = [dict(key) for key in alike], list[str]()
    datasets = [next((own[name] for name in _DATASETS if name in own), "") for own in facts]
    datasets = datasets if len(set(datasets)) > 1 else [""] * len(facts)
    labelled = [_labelled(group, repeated, notes) for group in alike.values()]
    of_folds = bool(repeated) and all(map(_FOLD.fullmatch, repeated))
    texts = _names(facts, [next(reversed(group)) for group in alike.values()], datasets)
    rows = zip(texts, datasets, labelled, strict=True)
    conditions = [Condition(text, dataset, group, of_folds) for text, dataset, group in rows]
    _require_equal_truths(conditions)
    return conditions, notes


def _labelled(group: Sequence[LoggedRun], repeated: Sequence[str], notes: list[str]) -> dict[str, LoggedRun]:
    """Return the runs of a condition by seed and fold; of equal ones the newest."""
    labelled: dict[str, LoggedRun] = {}
    for run in group:
        facts = {**run.facts, RUN_ID: run.run_id}
        text = ", ".join(f"{name} {facts[name]}" for name in repeated if name in facts)
        older = labelled.get(text)
        if older is not None and older.metrics != run.metrics:
            raise ConfigError(
                f"{older.name} and {run.name} have equal params and tags ({text or 'no seed'}), and other "
                "numbers. Log what sets them apart, choose runs with --where, or, if they repeat each other, "
                f"say --over {RUN_ID}."
            )
        if older is not None:
            notes.append(
                f"{older.name} and {run.name} are equal in params, tags and numbers; the newest counts"
            )
        labelled[text] = run
    return labelled


def _names(
    facts: Sequence[Mapping[str, str]], runs: Sequence[LoggedRun], datasets: Sequence[str]
) -> list[str]:
    """Return a name for each condition: its model, and as few settings as tell it apart from the others."""
    keys = sorted({key for own in facts for key in own if key not in _DATASETS})
    varying = [key for key in keys if len({own.get(key) for own in facts}) > 1]
    chosen = [key for key in _MODELS if key in varying][:1]

    def n_apart(by: Sequence[str]) -> int:
        rows = zip(datasets, facts, strict=True)
        return len({(dataset, *map(own.get, by)) for dataset, own in rows})

    while (n := n_apart(chosen)) < len(facts):
        best = max(varying, key=lambda key: n_apart([*chosen, key]), default="")
        if n_apart([*chosen, best]) == n:
            break
        chosen.append(best)
    texts = [" ".join(_word(key, own[key]) for key in chosen if key in own) or "no params" for own in facts]
    counts = Counter(zip(texts, datasets, strict=True))
    return [
        f"{text} ({run.name})" if counts[text, dataset] > 1 else text
        for text, dataset, run in zip(texts, datasets, runs, strict=True)
    ]


def _word(key: str, value: str) -> str:
    """Return a setting as a name has it."""
    value = shortened(value, 40)
    return value if key in _MODELS else f"{re.split(r'[./:]|__', key)[-1]}={value}"


def chosen_metrics(
    runs: Sequence[LoggedRun], metrics: Sequence[str] | None, directions: Directions
) -> tuple[dict[str, bool], list[str]]:
    """Return the metrics to compare, which all runs have, with whether more is better, and notes.

    Without names these are the first few whose direction is known, those to read first in front.
    """
    common = [key for key in sorted(runs[0].metrics) if all(key in run.metrics for run in runs)]
    measures = _measures(common)
    if not (metrics or measures):
        has = "; ".join(f"{run.name}: {listed(_measures(run.metrics), 4) or 'none'}" for run in runs[:3])
        raise ConfigError(
            f"the runs have no metric in common ({has}). Choose runs that have one: --where "
            '"metrics.NAME > 0".'
        )
    recorded = {key: own for key in common if (own := _direction(key)) is not None}
    if metrics:
        keys = choose_metrics(metrics, [(run.name, run.metrics) for run in runs], "--metrics")
    else:
        measures = [key for key in measures if not _OF_TRAINING.fullmatch(key)] or measures
        directed = {*recorded, *directions.lower, *directions.higher}
        measures = [key for key in measures if {key, split_key(key)[0]} & directed] or measures
        headline = headline_cutoff(split_key(key)[1] for key in measures)
        at_headline = [key for key in measures if split_key(key)[1] in (headline, None)]
        keys = tuple(sorted(at_headline, key=lambda key: importance(_plain(key)))[:MOST_METRICS])
    higher = directions.higher_is_better(keys, recorded)
    for key in keys:
        _check_values(key, runs)
    _require_equal([(run.policies, run.name) for run in runs], "judge lists")
    left = [label(key) for key in _measures(common) if key not in keys and not _OF_TRAINING.fullmatch(key)]
    notes = [f"in all runs, and not compared here: {listed(left, most=8)}"] if left and not metrics else []
    return higher, notes


def _measures(keys: Collection[str]) -> list[str]:
    """Return the metrics that are no counts, ends of intervals or curves."""
    ends = {f"{key}_{end}" for key in keys for end in ("low", "high")}
    return [key for key in keys if key not in ends and not _NO_MEASURE.fullmatch(key)]


def _plain(key: str) -> str:
    """Return a metric without the part of the data that it begins with, such as ``test_``."""
    return _PART.sub("", key, count=1)


def _direction(key: str) -> bool | None:
    own = usual_direction(key)
    return usual_direction(_plain(key)) if own is None else own


def _check_values(key: str, runs: Sequence[LoggedRun]) -> None:
    """Refuse a run without a finite value, and runs that measure a metric in different ways."""
    for run in runs:
        if not isfinite(run.metrics[key]):
            raise ConfigError(
                f"{run.name}: {label(key)} is {run.metrics[key]}, which has no mean. Leave the run out: "
                f"--where \"attributes.run_id != '{run.run_id}'\"."
            )
    name = split_key(key)[0]
    _require_equal([(run.definitions.get(name, ""), run.name) for run in runs], f"measure {label(key)}")


def _require_equal(texts: Sequence[tuple[str, str]], subject: str) -> None:
    """Refuse runs that do something differently, as far as they say how: pairs of a text and a run."""
    remedy = "Choose runs with --where, or evaluate them under one convention."
    require_one(texts, f"the runs {subject} differently:", remedy)


def _require_equal_truths(conditions: Sequence[Condition]) -> None:
    """Refuse conditions that are judged by other relevant items: under a seed or fold, or all over."""
    truths: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for each in conditions:
        own = {text: run for text, run in each.runs.items() if run.truth}
        if len({run.truth for run in own.values()}) == 1:
            own[""] = next(iter(own.values()))
        for text, run in own.items():
            truths.setdefault((each.dataset, text), []).append((run.truth[:12], run.name))
    for (_, text), pairs in truths.items():
        under = f" under {text}" if text else ""
        require_one(
            pairs,
            f"the runs are judged by different relevant items{under}; their digests are",
            "Evaluate them on one truth, choose runs with --where, or log the data set as a param: dataset.",
        )
