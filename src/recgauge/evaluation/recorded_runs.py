"""Lists and predicted ratings of other programs, measured run by run: what ``recgauge evaluate`` does."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from recgauge.conventions import Convention, Definition
from recgauge.data.tables import Ragged
from recgauge.errors import ConfigError
from recgauge.evaluation import Evaluation
from recgauge.judging.ineligible import REASONS
from recgauge.metrics import metric_class
from recgauge.metrics.names import split_label
from recgauge.recorded import RecordedRuns
from recgauge.recorded.coded import matched
from recgauge.recorded.findings import ListSettings, note
from recgauge.recorded.lists import RecordedLists
from recgauge.utils.checks import shown


def whole_lists(metrics: Sequence[str]) -> tuple[None] | None:
    """Return the cutoff of metrics that are named without one: the whole list; None if each has its own.

    Examples
    --------
    >>> whole_lists(["ndcg@10", "map"]), whole_lists(["ndcg@10"])
    ((None,), None)
    """
    return None if all(split_label(name)[1] is not None for name in metrics) else (None,)


def measures_ratings(metrics: Sequence[str]) -> bool:
    """Whether metrics measure predicted ratings; ConfigError if only some of them do."""
    kinds = {name: getattr(metric_class(split_label(name)[0]), "kind", "") for name in metrics}
    rating = [name for name, kind in kinds.items() if kind == "ratings"]
    if rating and (rest := [name for name in metrics if name not in rating]):
        raise ConfigError(
            f"--metrics: {rating[0]} measures predicted ratings and {rest[0]} does not. Ask for them "
            "in two commands."
        )
    return bool(rating)


def needed(run: RecordedLists, suite: Iterable[Definition], cutoffs: Collection[int | None]) -> Ragged:
    """Return as much of the lists as can change a result: mostly a few items beyond the largest cutoff."""
    of_hits = [
        definition.metric.needs_relevant
        and not definition.metric.needs
        and not {"drop", "distinct"} & {getattr(definition.policies, name) for name in REASONS}
        for definition in suite
    ]
    whole = {"ties", "repeats", "unknown_items", "seen_items"}  # another policy is measured, too
    if None in cutoffs or not all(of_hits) or whole & {each.name for each in run.findings}:
        return run.lists
    return run.lists.first(max(k for k in cutoffs if k is not None) + 1)


def evaluate_ratings_of_runs(
    recorded: RecordedRuns, names: Sequence[str], convention: Convention, settings: ListSettings
) -> tuple[RecordedRuns, dict[str, Evaluation]]:
    """Measure the scores of every run as ratings of the rows of the truth; findings are those of ratings."""
    # brings models, which lists need not wait for
    from recgauge.evaluation.evaluate_ratings import evaluate_ratings

    metrics = {name: convention.definition(name).metric for name in names}
    truth, n_items = recorded.relevant, np.int64(len(recorded.item_ids))
    runs, evaluations = [], {}
    for run in recorded.runs:
        lists, findings = run.lists, run.findings
        if truth.values is None:
            raise ConfigError("--truth: rating metrics need a column with ratings, such as rating.")
        if lists.values is None:
            raise ConfigError(
                f"{run.name} has no scores, so no predicted ratings. Name a column of them: --score."
            )
        row_of = np.searchsorted(truth.users, lists.users)
        row_of[~np.isin(lists.users, truth.users)] = len(truth.users)
        owner = np.repeat(np.arange(len(truth.users)), truth.lengths)
        pairs = np.repeat(row_of, lists.lengths) * n_items + lists.items
        predicted = matched(pairs, lists.values, owner * n_items + truth.items)
        missing = np.isnan(predicted)
        if missing.any():
            at = int(np.argmax(missing))
            user, item = shown(truth.users[owner[at]]), shown(recorded.item_ids[truth.items[at]])
            first = f"{run.name}: user {user}, item {item}"
            findings = (*findings, note("without_prediction", int(missing.sum()), first, settings))
        rows = np.flatnonzero(~missing)
        evaluations[run.name] = evaluate_ratings(
            truth.values[rows], predicted[rows], users=truth.users[owner[rows]], metrics=metrics
        )
        runs.append(replace(run, findings=tuple(each for each in findings if each.name != "ties")))
    return replace(recorded, runs=tuple(runs)), evaluations
