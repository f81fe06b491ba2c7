"""From lists to numbers: judged once for each way of ties and repeats, then every metric at every cutoff."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from recgauge.conventions import Definition
from recgauge.data.catalogue import Catalogue
from recgauge.data.ids import IdArray
from recgauge.data.relevance import Relevant
from recgauge.data.top_k import TopK
from recgauge.errors import MetricError
from recgauge.evaluation.results import Evaluation, MetricResult, mean_and_stderr, merge, rounded
from recgauge.evaluation.selection import check_all_cutoffs, possible_cutoffs, with_policies
from recgauge.evaluation.tied import any_ties, mean_over_orders
from recgauge.judging.judge import JudgedTopK, judge
from recgauge.judging.policies import Policies
from recgauge.metrics import Metric, RunMetric, UserMetric, metric_key
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, read_only, shown


def evaluate_top_k(  # noqa: PLR0913 -- where the harness and the public function meet
    metrics: Mapping[str, Metric | Definition],
    top_k: TopK,
    relevant: Relevant,
    *,
    cutoffs: Sequence[int | None],
    user_ids: IdArray,
    policies: Policies | None = None,
    catalogue: Catalogue | None = None,
    users: IntArray | None = None,
    seed: int = 0,
) -> Evaluation:
    """Judge lists under a convention and compute every metric at every cutoff.

    Parameters
    ----------
    metrics : mapping of str to Metric or Definition
        Result name to definition, as returned by :func:`select_metrics`.
    top_k : TopK
    relevant : Relevant
    cutoffs : sequence of int or None
    user_ids : ndarray
        Ids of all user codes.
    policies : Policies, optional
        Hold for metrics that have none of their own; recgauge's defaults if left out.
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
    user_ids: IdArray,
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
        On users and rounding, for metrics that have none of their own; the defaults if left out. Ties and
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


class Counted:
    """Who counts under which policies, found once for all metrics."""

    def __init__(self, judged: JudgedTopK, ids: IdArray) -> None:
        self.judged = judged
        self.ids = ids
        self.without_relevant = judged.n_relevant == 0
        self.none_relevant = judged.none_relevant & self.without_relevant
        self.listless = judged.list_length == 0
        self._of_tied: JudgedTopK | None = None

    def values(self, metric: UserMetric, k: int | None) -> DoubleArray:
        """Return one value per user (m,), expected ones where equal scores are to be in a random order."""
        values, tied = metric.per_user(self.judged, k), self.judged.tied
        if tied is None or not len(tied.rows):
            return values
        if self._of_tied is None:
            self._of_tied = self.judged.take(tied.rows)
        values = values.copy()
        values[tied.rows] = metric.expected(self._of_tied, tied, k)
        return values

    def left_out(self, metric: Metric, policies: Policies) -> BoolArray | None:
        """Return who has no value (m,), None for nobody."""
        if not metric.needs_relevant:
            # such a metric says itself what an empty list is worth: 0 for coverage, no value for a mean
            out = self.without_relevant
            return out if policies.lists_of == "relevant" and out.any() else None
        left_out = np.zeros(len(self.ids), bool)
        for who, policy, lack in self._lacking(policies):
            if policy == "raise" and who.any():
                raise MetricError(
                    f"{metric.label} refuses user {shown(self.ids[who][0])}, one of {int(who.sum())} without "
                    f"{lack}; leave such users out or choose another policy."
                )
            if policy in ("skip", "nan"):
                left_out |= who
        return left_out if left_out.any() else None

    def _lacking(self, policies: Policies) -> Iterator[tuple[BoolArray, str, str]]:
        """Yield masks (m,) of users without something, their policy and what is missing; each user once."""
        judged = self.none_relevant & (policies.no_positive_grade != "same")
        without = self.without_relevant & ~judged
        yield without, policies.no_relevant, "relevant items"
        yield judged, policies.no_positive_grade, "relevant items"
        yield self.listless & ~without, policies.no_list, "a list"

    def counts(self, policies: Policies, n_more: int) -> dict[str, int]:
        """Count users; `n_more` users without relevant items are not among the judged."""
        out = np.zeros(len(self.ids), bool)
        for who, policy, _ in self._lacking(policies):
            if policy in ("skip", "nan"):
                out |= who
        return {
            "users_evaluated": int((~out).sum()),
            "users_evaluated_without_relevant_items": int((self.without_relevant & ~out).sum()),
            "users_left_out": int(out.sum()) + n_more,
            "users_without_relevant_items": int(self.without_relevant.sum()) + n_more,
            "users_without_list": int(self.listless.sum()),
        }

    def refuse_undefined(self, metric: UserMetric, per_user: DoubleArray, left_out: BoolArray | None) -> None:
        """Raise where a definition refuses users without a value and one of those who count has none."""
        if not metric.refuses_undefined:
            return
        undefined = np.isnan(per_user) if left_out is None else np.isnan(per_user) & ~left_out
        if undefined.any():
            raise MetricError(
                f"{metric.definition()} refuses user {shown(self.ids[undefined][0])}, one of "
                f"{int(undefined.sum())} without a value. Choose a definition that has one."
            )


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
