"""``recgauge evaluate`` with rating metrics: predicted ratings from files against those of the truth."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recgauge.conventions import Convention, standard_metric
from recgauge.errors import ConfigError
from recgauge.evaluation import Evaluation
from recgauge.recorded import ListSettings, RecordedRuns
from recgauge.recorded.findings import Found, note
from recgauge.recorded.known import matched
from recgauge.recorded.lists import RecordedLists
from recgauge.utils.checks import shown


def are_of_ratings(suite: Mapping[str, tuple[int | None, ...]]) -> bool:
    """Whether metrics measure predicted ratings."""
    known = {name: standard_metric(name) for name in suite}
    rating = [name for name, metric in known.items() if metric is not None and metric.kind == "ratings"]
    if not rating:
        return False
    if others := sorted(set(suite) - set(rating)):
        raise ConfigError(
            f"--metrics: {rating[0]} measures predicted ratings and {others[0]} does not. Ask for them "
            "in two commands."
        )
    for name, cutoffs in suite.items():
        if cutoffs != (None,):
            raise ConfigError(f"--metrics: {name} has no cutoff; write {name}.")
    return True


def measured_predictions(
    recorded: RecordedRuns,
    suite: Mapping[str, tuple[int | None, ...]],
    convention: Convention,
    settings: ListSettings,
) -> tuple[RecordedRuns, dict[str, Evaluation]]:
    """Measure the scores of every run as ratings of the rows of the truth."""
    metrics = {name: convention.definition(name).metric for name in suite}
    runs, found = [], {}
    for run in recorded.runs:
        found[run.name], odd = _measured(recorded, run, metrics, settings)
        runs.append(replace(run, found=odd))
    return replace(recorded, runs=tuple(runs)), found


def _measured(
    recorded: RecordedRuns, run: RecordedLists, metrics: Any, settings: ListSettings
) -> tuple[Evaluation, tuple[Found, ...]]:
    from recgauge.evaluation.evaluate_ratings import evaluate_ratings

    truth, lists = recorded.relevant, run.lists
    if truth.values is None:
        raise ConfigError("--truth: rating metrics need a column with ratings, such as rating.")
    if lists.values is None:
        raise ConfigError(f"--run: {run.name} has no scores, so no predicted ratings.")
    row_of = np.searchsorted(truth.users, lists.users)
    row_of[~np.isin(lists.users, truth.users)] = len(truth.users)
    n_items = np.int64(len(recorded.item_ids))
    owner = np.repeat(np.arange(len(truth.users)), truth.lengths)
    pairs = np.repeat(row_of, lists.lengths) * n_items + lists.items
    predicted = matched(pairs, lists.values, owner * n_items + truth.items)
    missing, found = np.isnan(predicted), run.found
    if missing.any():
        at = int(np.argmax(missing))
        user, item = shown(truth.users[owner[at]]), shown(recorded.item_ids[truth.items[at]])
        first = f"{run.name}: user {user}, item {item}"
        found = (*found, note("without_prediction", int(missing.sum()), first, settings))
    rows = np.flatnonzero(~missing)
    users = truth.users[owner[rows]]
    evaluation = evaluate_ratings(truth.values[rows], predicted[rows], users=users, metrics=metrics)
    return evaluation, tuple(one for one in found if one.name != "ties")
