"""`recgauge.evaluate`: ranked lists from anywhere, measured under one convention."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from recgauge.conventions import Convention, Definition, get_convention, standard_metric
from recgauge.errors import ConfigError
from recgauge.evaluation import Evaluation, ties_at_cutoffs
from recgauge.evaluation.values import evaluate_top_k
from recgauge.judging import TieOrder
from recgauge.metrics import SUITES, Kind, Metric, check_suite
from recgauge.utils.checks import check_cutoffs

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.data.interactions import Interactions
    from recgauge.data.relevance import Relevant
    from recgauge.data.top_k import TopK


_NOT_LISTS: Mapping[Kind, str] = {
    "ratings": "measures predicted ratings, not lists; pass it to recgauge.evaluate_ratings",
    "full rankings": "needs the scores of all candidates, not lists: ask for it in a run, as "
    "metrics=[curves] does, or choose list_auc or partial_auc",
    "class labels": "measures class labels, not lists; call its value(actual, predicted)",
}
"""Kind of metric to what a message says about it."""

Metrics = str | Metric | Sequence[str | Metric] | Mapping[str, str | Metric]


def evaluate(  # noqa: PLR0913 -- the public signature: two tables and keyword-only settings
    recommendations: "Mapping[Any, Sequence[Any]] | pd.DataFrame | TopK",
    relevant: "Mapping[Any, Any] | pd.DataFrame | Relevant",
    *,
    metrics: Metrics = ("precision", "recall", "ndcg"),
    cutoffs: Sequence[int | None] = (5, 10),
    conventions: str | Convention = "standard",
    train: "Mapping[Any, Any] | pd.DataFrame | Interactions | None" = None,
    item_features: Any = None,
    item_similarity: Any = None,
    n_items: int | None = None,
    scores: Any = None,
    users: Sequence[Any] | None = None,
    ties: TieOrder | None = None,
    seed: int = 0,
) -> Evaluation:
    """Evaluate ranked lists from anywhere.

    Parameters
    ----------
    recommendations : mapping, DataFrame or TopK
        ``{user: [items, best first]}``; a table with columns user, item and score (higher is better) or
        rank (lower is better); or lists of codes, whose ids are the codes.
    relevant : mapping, DataFrame or Relevant
        ``{user: items}`` or ``{user: {item: grade}}``; or a table with columns user, item and, where items
        have grades, grade.
    metrics : sequence of str or Metric, mapping of str to either, str or Metric
        Suites are ranking, beyond_accuracy, diversity and curves.
        A name has the meaning of the convention; a metric object is used as it is.
    cutoffs : sequence of int or None, default (5, 10)
        Only the first k items count; None: the whole list, whose keys have no ``_at_k``.
    conventions : str or Convention, default "standard"
        Whose definitions and policies: a library's, an article's, or recgauge's own.
    train : mapping, DataFrame or Interactions, optional
        Who had what in training, for novelty, popularity, serendipity and the like. A user whom a mapping
        names without items counts as a user of training.
    item_features : mapping of item to vector, or matrix whose row is the item's id, optional
        For diversity of lists.
    item_similarity : mapping of item to {item: similarity}, or matrix whose row is the item's id, optional
        For diversity by similarities that are given, such as CAPRI's list_diversity; where it is left out,
        the cosine of `item_features` is used. A pair given in one direction counts for both; others are 0.
    n_items : int, optional
        Size of the catalogue; if left out, the items that appear, which is enough where training data or
        features show the catalogue, but not for coverage or Gini of lists alone.
    scores : mapping or array, optional
        Scores of the listed items in the same shape, best first; ties in them follow `ties`.
    users : sequence, optional
        Everybody who counts where a convention counts users without a list or without relevant items.
    ties : {"stable", "item_code", "id_descending", "average", "random", "expected"}, optional
        What becomes of equal scores; the convention's way if left out. See `Policies`. Needs scores. Lists do
        not say which items tie with their last one; `Evaluation.ties` says how many lists end in a tie.
    seed : int, default 0
        Of random orders of equal scores.

    Returns
    -------
    Evaluation

    Raises
    ------
    SchemaError
        If a table, list, id or grade cannot be used.
    ConfigError
        If a metric, cutoff or convention is unknown, or `ties` is given and scores are not.
    MetricError
        If a metric has no value for any user, or lacks what it needs.

    Examples
    --------
    >>> result = evaluate({"ann": [7, 2, 5]}, {"ann": [5, 7]}, metrics=("precision", "ndcg"), cutoffs=(3,))
    >>> {key: round(value, 4) for key, value in result.values().items()}
    {'precision_at_3': 0.6667, 'ndcg_at_3': 0.9197}
    """
    from recgauge.evaluation.inputs import convert

    convention = _chosen(conventions).with_ties(ties)
    suite, cutoffs = select_metrics(metrics, convention), check_all_cutoffs(cutoffs)
    check_measures_lists(suite)
    inputs = convert(
        recommendations,
        relevant,
        train=train,
        item_features=item_features,
        item_similarity=item_similarity,
        n_items=n_items,
        scores=scores,
        users=users,
        threshold=convention.policies.threshold,
    )
    has_scores = _has_scores(inputs.top_k, ties)
    measure = partial(
        evaluate_top_k,
        top_k=inputs.top_k,
        relevant=inputs.relevant,
        cutoffs=cutoffs,
        user_ids=inputs.user_ids,
        policies=convention.policies,
        catalogue=inputs.catalogue,
        users=inputs.users,
        seed=seed,
    )
    result = measure(suite)
    if not has_scores:
        return result
    lists, truth = inputs.top_k, inputs.relevant
    return replace(result, ties=ties_at_cutoffs(suite, lists, truth, cutoffs=cutoffs, measure=measure))


def _chosen(conventions: str | Convention) -> Convention:
    convention = get_convention(conventions) if isinstance(conventions, str) else conventions
    if not isinstance(convention, Convention):
        raise ConfigError(f"conventions must be a name or a Convention, got {type(conventions).__name__}.")
    return convention


def select_metrics(metrics: Metrics, convention: Convention) -> dict[str, Definition]:
    """Return ``{result name: definition}``, names defined by `convention`.

    Examples
    --------
    >>> from recgauge.conventions import get_convention
    >>> list(select_metrics(("ap", "ndcg"), get_convention("recbole")))
    ['ap', 'ndcg']
    """
    if isinstance(metrics, (str, Metric)):
        metrics = _suite(metrics) if isinstance(metrics, str) and metrics in SUITES else (metrics,)
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    else:
        named = [(metric.name if isinstance(metric, Metric) else metric, metric) for metric in metrics]
    suite: dict[str, Definition] = {}
    for name, metric in named:
        if name in suite:
            raise ConfigError(
                f"metrics: {name!r} is requested twice; pass a mapping of distinct result names to metrics."
            )
        if not isinstance(metric, (str, Metric)):
            raise ConfigError(f"metrics: expected names or metrics, got {type(metric).__name__}: {metric!r}.")
        if isinstance(metric, str):
            suite[name] = convention.definition(metric)
        else:
            suite[name] = Definition(metric, convention.policies)
    check_suite({name: definition.metric for name, definition in suite.items()})
    return suite


def _suite(name: str) -> tuple[str, ...]:
    """Return the names of a suite that lists are enough for; a run can compute the others, too."""
    named = ((one, standard_metric(one)) for one in SUITES[name])
    return tuple(one for one, metric in named if metric is None or metric.kind == "lists")


def check_measures_lists(suite: Mapping[str, Definition]) -> None:
    """Refuse metrics that measure something other than ranked lists, and say what evaluates them.

    Raises
    ------
    ConfigError
        If there is one.
    """
    for name, definition in suite.items():
        kind: Kind | None = getattr(definition.metric, "kind", None)
        if kind is not None and kind in _NOT_LISTS:
            raise ConfigError(f"metrics: {name!r} {_NOT_LISTS[kind]}.")
        if kind != "lists":
            raise ConfigError(
                f"metrics: {name!r} must be a UserMetric or a RunMetric to measure lists, "
                f"got {type(definition.metric).__name__}."
            )


def check_all_cutoffs(cutoffs: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return distinct cutoffs in ascending order, None for the whole list last."""
    numbers = [k for k in cutoffs if k is not None] if isinstance(cutoffs, Sequence) else cutoffs
    if isinstance(cutoffs, Sequence) and None in cutoffs:
        return (*(check_cutoffs("cutoffs", numbers) if numbers else ()), None)
    return check_cutoffs("cutoffs", numbers)


def _has_scores(top_k: "TopK", ties: TieOrder | None) -> bool:
    known = top_k.scores.strides[0] != 0  # one row for all is made up
    if not known and ties not in (None, "stable"):
        raise ConfigError(
            f"ties={ties} needs scores, and the lists have none: pass scores=..., or a table with scores."
        )
    return known
