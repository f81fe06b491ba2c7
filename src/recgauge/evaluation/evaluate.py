"""From lists to numbers: every metric at every cutoff, per user and as a mean, under one convention."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge.conventions import Convention, Definition, get_convention
from recgauge.data.catalogue import Catalogue
from recgauge.data.top_k import TopK
from recgauge.errors import ConfigError, MetricError
from recgauge.evaluation.counted import Counted
from recgauge.evaluation.results import Evaluation, MetricResult, mean_and_stderr, merge, rounded
from recgauge.evaluation.selection import (
    Metrics,
    check_all_cutoffs,
    check_measures_lists,
    possible_cutoffs,
    select_metrics,
    with_policies,
)
from recgauge.evaluation.tied import any_ties, check_scores_known, mean_over_orders, ties_at_cutoffs
from recgauge.judging.judge import JudgedTopK, Relevant, judge
from recgauge.judging.policies import Policies
from recgauge.metrics import Metric, RunMetric, UserMetric, metric_key
from recgauge.utils.checks import IntArray, read_only

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.data.interactions import Interactions

__all__ = ["Evaluation", "MetricResult", "evaluate", "evaluate_lists", "evaluate_top_k", "select_metrics"]


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
    ties: str | None = None,
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
    metrics : names, metrics, a mapping of result names to either, or the name of a suite
        Suites are ranking, beyond_accuracy, diversity and curves.
        A name means what the convention says it means; a metric object is taken as it is.
    cutoffs : sequence of int or None, default (5, 10)
        Only the first k items count; None: the whole list, whose keys have no ``_at_k``.
    conventions : str or Convention, default "standard"
        Whose definitions and policies: a library, an article, or the house's.
    train : mapping, DataFrame or Interactions, optional
        Who had what in training, for novelty, popularity, serendipity and the like. A user whom a mapping
        names without items counts as a user of training.
    item_features : mapping of item to vector, or matrix whose row is the item's id, optional
        For diversity of lists.
    item_similarity : mapping of item to {item: similarity}, or matrix whose row is the item's id, optional
        For diversity by similarities that are given, such as CAPRI's list_diversity; where it is left out,
        the cosine of `item_features` stands in. A pair given in one direction counts for both; others are 0.
    n_items : int, optional
        Size of the catalogue; if left out, the items that appear, which is enough where training data or
        features show the catalogue, but not for coverage or Gini of lists alone.
    scores : mapping or array, optional
        Scores of the listed items in the same shape, best first; ties in them follow `ties`.
    users : sequence, optional
        Everybody who counts where a convention counts users without a list or without relevant items.
    ties : {"stable", "item_code", "id_descending", "average", "random", "expected"}, optional
        What becomes of equal scores; the convention's way if left out. See `Policies`. Needs scores. Lists do
        not tell what ties with their last item and did not fit in; `Evaluation.ties` says how many end so.
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
    given = convert(
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
    has_scores = check_scores_known(given.top_k, ties)
    measure = partial(
        evaluate_top_k,
        top_k=given.top_k,
        relevant=given.relevant,
        cutoffs=cutoffs,
        user_ids=given.user_ids,
        policies=convention.policies,
        catalogue=given.catalogue,
        users=given.users,
        seed=seed,
    )
    result = measure(suite)
    if not has_scores:
        return result
    lists, truth = given.top_k, given.relevant
    return replace(result, ties=ties_at_cutoffs(suite, lists, truth, cutoffs=cutoffs, measure=measure))


def _chosen(conventions: str | Convention) -> Convention:
    convention = get_convention(conventions) if isinstance(conventions, str) else conventions
    if not isinstance(convention, Convention):
        raise ConfigError(f"conventions must be a name or a Convention, got {type(conventions).__name__}.")
    return convention


def evaluate_top_k(  # noqa: PLR0913 -- where the harness and the public function meet
    metrics: Mapping[str, Metric | Definition],
    top_k: TopK,
    relevant: Relevant,
    *,
    cutoffs: Sequence[int | None],
    user_ids: npt.NDArray[Any],
    policies: Policies | None = None,
    catalogue: Catalogue | None = None,
    users: IntArray | None = None,
    seed: int = 0,
) -> Evaluation:
    """Judge lists under a convention and compute every metric at every cutoff.

    Parameters
    ----------
    metrics : mapping of str to Metric or Definition
        Result name to definition, as :func:`select_metrics` gives them.
    top_k : TopK
    relevant : Relevant
    cutoffs : sequence of int or None
    user_ids : ndarray
        Ids of all user codes.
    policies : Policies, optional
        Hold for metrics that come without their own; the house's if left out.
    catalogue : Catalogue, optional
        For metrics beyond accuracy.
    users : ndarray of int32, optional
        Codes of everybody who counts; see :func:`recgauge.judging.judge.judge`.
    seed : int, default 0
        Of random orders of equal scores.

    Returns
    -------
    Evaluation
    """
    suite, ks = with_policies(metrics, policies), check_all_cutoffs(cutoffs)
    # a convention may order ties or count repeated items differently for one metric: judge once for each way
    groups: dict[tuple[Policies, bool], dict[str, Definition]] = {}
    for name, definition in suite.items():
        ways = definition.policies
        drawn = ways.ties == "expected" and not definition.metric.has_expected
        way = Policies(
            ties=ways.ties,
            duplicates=ways.duplicates,
            draws=ways.draws,
            score_precision=ways.score_precision,
        )
        groups.setdefault((way, drawn), {})[name] = definition

    def judged_in_order(group: Mapping[str, Definition], way: Policies, draw: int) -> Evaluation:
        judged = judge(
            top_k, relevant, catalogue, policies=way, users=users, user_ids=user_ids, order=(seed, draw)
        )
        n_without = relevant.n_without if users is None else 0
        return evaluate_lists(
            group, judged, cutoffs=ks, user_ids=user_ids, n_without_relevant=n_without, policies=policies
        )

    parts = []
    for (way, drawn), group in groups.items():
        if drawn:
            in_order = partial(judged_in_order, group, replace(way, ties="random"))
            parts.append(mean_over_orders(in_order, way.draws, tied=any_ties(top_k)))
        else:
            parts.append(judged_in_order(group, way, 0))
    order = [metric_key(name, k) for name in suite for k in possible_cutoffs(suite[name].metric, ks)]
    return merge(parts, order)


def evaluate_lists(
    metrics: Mapping[str, Metric | Definition],
    judged: JudgedTopK,
    *,
    cutoffs: Sequence[int | None],
    user_ids: npt.NDArray[Any],
    n_without_relevant: int = 0,
    policies: Policies | None = None,
) -> Evaluation:
    """Compute every metric at every cutoff from one set of judged lists.

    Parameters
    ----------
    metrics : mapping of str to Metric or Definition
        Result name to definition.
    judged : JudgedTopK
    cutoffs : sequence of int or None
        Each >= 1; None: the whole list.
    user_ids : ndarray
        Ids of all user codes.
    n_without_relevant : int
        Users without relevant items who are not among the judged; only counted.
    policies : Policies, optional
        On users and rounding, for metrics that come without their own; the house's if left out. Ties and
        duplicates were decided when the lists were judged.

    Returns
    -------
    Evaluation

    Raises
    ------
    ConfigError
        If a name or a cutoff cannot be used.
    MetricError
        If a value is undefined for every user or not finite, or a policy refuses a user.
    """
    chosen = policies or Policies()
    ks, suite, ids = check_all_cutoffs(cutoffs), with_policies(metrics, chosen), user_ids[judged.users]
    users = Counted(judged, ids)
    results = tuple(
        _result(name, definition, users, k, chosen)
        for name, definition in suite.items()
        for k in possible_cutoffs(definition.metric, ks)
    )
    return Evaluation(ids, results, users.counts(chosen, n_without_relevant), chosen.definition())


def _result(name: str, chosen: Definition, users: Counted, k: int | None, base: Policies) -> MetricResult:
    metric, policies, key = chosen.metric, chosen.policies, metric_key(name, k)
    definition = metric.definition(k) + policies.note_beside(base)
    left_out = users.left_out(metric, policies)
    if isinstance(metric, RunMetric):
        judged = users.judged if left_out is None else users.judged.take(~left_out)
        value, stderr, per_user, n_users = metric.value(metric.sums(judged, k)), None, None, judged.n_users
    elif isinstance(metric, UserMetric):
        per_user = users.values(metric, k)
        if left_out is not None:
            per_user = np.where(left_out, np.nan, per_user)
        users.refuse_undefined(metric, per_user, left_out)
        per_user = read_only(rounded(per_user, policies))
        # a sum is NaN exactly where a value is, and far cheaper than a mask
        defined = per_user if np.isfinite(per_user.sum()) else per_user[~np.isnan(per_user)]
        n_users = len(defined)
        value, stderr = mean_and_stderr(defined) if n_users else (float("nan"), None)
    else:
        raise MetricError(
            f"{name}: a metric must be a UserMetric or a RunMetric, got {type(metric).__name__}."
        )
    if not np.isfinite(value):
        raise MetricError(
            f"{key}: {definition} is undefined for every user, or not finite. "
            "Are there users with both a list and relevant items?"
        )
    if policies.round_mean is not None:
        value = round(value, policies.round_mean)
    return MetricResult(key, name, k, value, stderr, per_user, definition, metric.higher_is_better, n_users)
