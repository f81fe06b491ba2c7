"""Lists and predicted ratings of other programs, measured run by run: what ``recgauge evaluate`` does."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recgauge.conventions import Convention, Definition, meant_metric
from recgauge.data.tables import Ragged
from recgauge.errors import ConfigError
from recgauge.evaluation import Evaluation
from recgauge.evaluation.evaluate import evaluate
from recgauge.judging import Seen
from recgauge.judging.ineligible import REASONS
from recgauge.metrics import metric_class
from recgauge.recorded import ListSettings, RecordedRuns
from recgauge.recorded.coded import matched
from recgauge.recorded.findings import note
from recgauge.recorded.lists import RecordedLists
from recgauge.utils.checks import shown

if TYPE_CHECKING:
    from recgauge.data.lists import Relevant

Suite = Mapping[str, tuple[int | None, ...]]
"""The cutoffs of each metric; None is the whole list."""


def parse_metrics(text: str) -> Suite:
    """Return the metrics of a text with their cutoffs.

    Raises
    ------
    ConfigError
        If a part is no metric, or there twice.

    Examples
    --------
    >>> parse_metrics("ndcg@10,ndcg@5,map")
    {'ndcg': (10, 5), 'map': (None,)}
    """
    suite: dict[str, tuple[int | None, ...]] = {}
    for part in (word.strip() for word in text.split(",")):
        match = re.fullmatch(r"([a-z][a-z0-9_]*?)(?:@([1-9][0-9]*))?", part)
        if match is None:
            near, k = meant_metric(part)
            hint = "" if near is None else f"Did you mean {near if k is None else f'{near}@{k}'}? "
            raise ConfigError(
                f"--metrics: {part!r} is no metric. {hint}Write names such as ndcg@10,recall@20,map."
            )
        cutoff = None if match[2] is None else int(match[2])
        if cutoff in suite.get(match[1], ()):
            raise ConfigError(f"--metrics: {part} is named twice.")
        suite[match[1]] = (*suite.get(match[1], ()), cutoff)
    return suite


def measures_ratings(suite: Suite) -> bool:
    """Whether metrics measure predicted ratings.

    Raises
    ------
    ConfigError
        If only some of them do, or one has a cutoff.
    """
    rating = [name for name in suite if (leaf := metric_class(name)) and leaf.kind == "ratings"]
    if not rating:
        return False
    if rest := sorted(set(suite) - set(rating)):
        raise ConfigError(
            f"--metrics: {rating[0]} measures predicted ratings and {rest[0]} does not. Ask for them "
            "in two commands."
        )
    for name, cutoffs in suite.items():
        if cutoffs != (None,):
            raise ConfigError(f"--metrics: {name} has no cutoff; write {name}.")
    return True


def evaluate_lists_of_runs(  # noqa: PLR0913 - what a command asks, by name
    recorded: RecordedRuns,
    suite: Suite,
    convention: Convention,
    *,
    relevant_from: float | None = None,
    n_items: int | None = None,
    head: Sequence[str] | None = None,
    seen: Seen | None = None,
    seed: int = 0,
) -> dict[str, Evaluation]:
    """Return the results of every run by its name, those of the suite in their order.

    The catalogue is `n_items`, else the items of truth and training rows, if there are some. `head`: ids of
    the short head, as text. `seen`: the policy that the user names, in place of the convention's.
    """
    codes = None
    if head is not None:
        code_of = {str(item): code for code, item in enumerate(recorded.item_ids.tolist())}
        codes = [code_of.get(item, item) for item in head]  # an unknown id is refused as such
    cutoffs = {k for ks in suite.values() for k in ks}
    names = [name if k is None else f"{name}@{k}" for name, ks in suite.items() for k in ks]
    if convention.policies.repeats == "refuse" and not all(run.lists.distinct for run in recorded.runs):
        convention = convention.with_policies({"repeats": "miss"})  # those of one table are measured alike
    evaluations: dict[str, Evaluation] = {}
    truth: Relevant | None = None  # the same for all runs
    for run in recorded.runs:
        evaluations[run.name] = evaluate(
            needed(run, map(convention.definition, suite), cutoffs),  # type: ignore[arg-type]
            recorded.relevant,  # type: ignore[arg-type]
            relevant_from=relevant_from,
            metrics=names,
            cutoffs=(None,) if None in cutoffs else None,
            conventions=convention,
            train=recorded.train,  # type: ignore[arg-type]
            n_items=n_items,
            head=codes,
            seen=seen,
            seed=seed,
        )
        evaluation = evaluations[run.name]
        if truth is None and evaluation.truth is not None:
            truth = replace(evaluation.truth, item_ids=recorded.item_ids)
        evaluations[run.name] = replace(evaluation, truth=truth)
    return evaluations


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
    recorded: RecordedRuns, suite: Suite, convention: Convention, settings: ListSettings
) -> tuple[RecordedRuns, dict[str, Evaluation]]:
    """Measure the scores of every run as ratings of the rows of the truth; findings are those of ratings."""
    # brings models, which lists need not wait for
    from recgauge.evaluation.evaluate_ratings import evaluate_ratings

    metrics = {name: convention.definition(name).metric for name in suite}
    truth, n_items = recorded.relevant, np.int64(len(recorded.item_ids))
    runs, evaluations = [], {}
    for run in recorded.runs:
        lists, findings = run.lists, run.findings
        if truth.values is None:
            raise ConfigError("--truth: rating metrics need a column with ratings, such as rating.")
        if lists.values is None:
            raise ConfigError(f"--run: {run.name} has no scores, so no predicted ratings.")
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
