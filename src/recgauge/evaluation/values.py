"""From lists to numbers: judged once for each way of ties and repeats, then every metric at every cutoff."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from recgauge.conventions import Definition
from recgauge.data.catalogue import Catalogue
from recgauge.data.ids import IdArray
from recgauge.data.interactions import stored
from recgauge.data.lists import GradeCounts, Relevant, TopK
from recgauge.data.meeting import Meeting
from recgauge.errors import ConfigError, MetricError
from recgauge.evaluation import Evaluation, MetricResult, Ties, mean_and_stderr, merge
from recgauge.judging import JudgedTopK, Policies, Rounding, judge
from recgauge.judging.ties import tied_rows
from recgauge.metrics import RunMetric, UserMetric, check_suite, metric_key
from recgauge.recorded.direction import ListOrder, Reversal
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, read_only, shown
from recgauge.utils.exact import Moments

MetricT = TypeVar("MetricT")


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationInputs:
    """Lists and relevance over the same users, as codes.

    Parameters
    ----------
    top_k : TopK
    relevant : Relevant
    user_ids : ndarray
        Ids of all user codes.
    users : ndarray of int32 or None
        Who counts; None: everybody in the lists or the relevance.
    catalogue : Catalogue
    meetings : tuple of Meeting
        Of users and items with ids.
    grades : GradeCounts or None
        Of relevance with grades.
    order : ListOrder or None
        What ordered lists from outside; None: lists of models, or of files, which have been looked at.
    """

    top_k: TopK
    relevant: Relevant
    user_ids: IdArray
    users: IntArray | None
    catalogue: Catalogue
    meetings: tuple[Meeting, ...] = ()
    grades: GradeCounts | None = None
    order: ListOrder | None = None

    @property
    def reversal(self) -> str:
        """That lists from outside, without seen items, are better from their end, in words; mostly empty."""
        if self.order is None:
            return ""
        seen = self.catalogue.seen

        def eligible(users: IntArray, items: IntArray) -> BoolArray:
            return np.ones(len(users), bool) if seen is None else ~stored(seen, users, items)

        reversal = Reversal.of_top_k(self.top_k, self.relevant, eligible, self.catalogue.n_items)
        return "" if reversal is None else reversal.sentence(self.order)

    def evaluate(
        self,
        metrics: Mapping[str, Definition],
        *,
        cutoffs: Sequence[int | None],
        policies: Policies,
        seed: int = 0,
    ) -> Evaluation:
        """Judge the lists and compute every metric at every cutoff.

        Parameters
        ----------
        metrics : mapping of str to Definition
            Result name to definition, as returned by :func:`select_metrics`.
        cutoffs : sequence of int or None
            Distinct, rising; None: the whole list.
        policies : Policies
            Those of the evaluation; a definition's text names its own that differ.
        seed : int, default 0
            Of random orders of equal scores.

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
        check_suite({name: definition.metric for name, definition in metrics.items()})
        parts = []
        for (way, drawn), group in ways_to_judge(metrics).items():
            measure = partial(self._in_order, group, cutoffs, policies)
            if drawn:
                n_orders = way.draws if _any_ties(self.top_k) else 1
                of_order = partial(measure, replace(way, ties="random"))
                orders = (of_order((seed, draw)) for draw in range(n_orders))
                parts.append(_mean_over_orders(orders, way.draws))
            else:
                parts.append(measure(way, (seed, 0)))
        if len(parts) == 1:
            return parts[0]
        return merge(parts, [entry.key for entry in entries(metrics, cutoffs, policies)])

    def _in_order(
        self,
        metrics: Mapping[str, Definition],
        cutoffs: Sequence[int | None],
        base: Policies,
        way: Policies,
        order: tuple[int, int],
    ) -> Evaluation:
        """Evaluate metrics that need one way of judging, equal scores in one order."""
        judged = judge(
            self.top_k,
            self.relevant,
            self.catalogue,
            policies=way,
            users=self.users,
            user_ids=self.user_ids,
            order=order,
        )
        users = JudgedUsers(judged, self.user_ids[judged.users])
        results = tuple(entry.result(*entry.sums(users)) for entry in entries(metrics, cutoffs, base))
        counts = users.counts(base, self.relevant.n_without if self.users is None else 0)
        return Evaluation(users.ids, results, counts, base.definition())


def evaluate_or_refuse(
    suite: Mapping[str, MetricT], evaluate: Callable[[Mapping[str, MetricT]], Evaluation]
) -> tuple[Evaluation, dict[str, str]]:
    """Evaluate a suite; leave out the metrics that their own definition refuses.

    A library's definition may raise for a user without a hit, and a correlation within users has no value
    where each has one rating; a long run must not lose its other numbers to that.

    Parameters
    ----------
    suite : mapping of str to Definition or RatingMetric
    evaluate : callable
        Evaluates a suite of the same kind.

    Returns
    -------
    Evaluation
        Of the metrics that have a value.
    dict of str to str
        ``{name: reason}`` of the others.

    Raises
    ------
    MetricError
        If no metric has a value.
    """
    try:
        return evaluate(suite), {}
    except MetricError:
        pass  # one of them; the rest is worth the time of asking one by one
    done, refused = [], {}
    for name, definition in suite.items():
        try:
            done.append(evaluate({name: definition}))
        except MetricError as error:
            refused[name] = str(error).removeprefix(f"{name}: ")
    if not done:
        raise MetricError("No metric of the suite has a value: " + " ".join(refused.values()))
    return merge(done, [result.key for part in done for result in part.results]), refused


def ties_at_cutoffs(
    suite: Mapping[str, Definition],
    top_k: TopK,
    relevant: Relevant,
    *,
    cutoffs: Sequence[int | None],
    measure: Callable[[Mapping[str, Definition]], Evaluation],
) -> Ties:
    """Look for equal scores at the cutoffs.

    Parameters
    ----------
    suite : mapping of str to Definition
        The evaluation's metrics.
    top_k : TopK
    relevant : Relevant
    cutoffs : sequence of int or None
        None, the whole list, is none.
    measure : callable
        Evaluates a suite of the same kind on the lists.

    Returns
    -------
    Ties
    """
    rows: LongArray | slice = slice(None)
    if not any(definition.policies.no_relevant == "zero" for definition in suite.values()):
        judged = relevant.users[np.diff(relevant.start) > 0]
        if not np.array_equal(judged, top_k.users):
            rows = np.flatnonzero(np.isin(top_k.users, judged))
    items, scores, lengths, beyond = top_k.items[rows], top_k.scores[rows], top_k.lengths[rows], top_k.beyond
    ks = [k for k in cutoffs if k is not None]
    if not len(items):
        return Ties(dict.fromkeys(ks, 0.0), 0.0)
    more = np.zeros(len(items), bool) if beyond is None else beyond.size[rows] > 0
    shares = {}
    for k in ks:
        if k < items.shape[1]:
            cut = (items[:, k] >= 0) & (scores[:, k] == scores[:, k - 1])
        else:
            cut = more & (k == items.shape[1])
        shares[k] = float(cut.mean())
    is_open = np.zeros(len(items), bool)
    if beyond is None:
        row, last = np.arange(len(items)), np.maximum(lengths - 1, 0)
        is_open = (last > 0) & (scores[row, last] == scores[row, np.maximum(last - 1, 0)])
    expected: dict[str, float] = {}
    if any(shares.values()):
        exact = {
            name: replace(definition, policies=replace(definition.policies, ties="expected"))
            for name, definition in suite.items()
            if definition.metric.has_expected
        }
        with suppress(MetricError):  # a definition refuses these lists; the evaluation itself says so
            expected = measure(exact).values() if exact else {}
    return Ties(shares, float(is_open.mean()), expected)


def ways_to_judge(metrics: Mapping[str, Definition]) -> dict[tuple[Policies, bool], dict[str, Definition]]:
    """Group metrics by what judging depends on, and by whether random orders of equal scores are drawn.

    A convention may order ties or count repeated items differently for one metric.
    """
    groups: dict[tuple[Policies, bool], dict[str, Definition]] = {}
    for name, definition in metrics.items():
        ways = definition.policies
        drawn = ways.ties == "expected" and not definition.metric.has_expected
        way = Policies(
            ties=ways.ties,
            unknown=ways.unknown,
            seen=ways.seen,
            repeats=ways.repeats,
            longest=ways.longest,
            draws=ways.draws,
            score_precision=ways.score_precision,
        )
        groups.setdefault((way, drawn), {})[name] = definition
    return groups


def entries(
    suite: Mapping[str, Definition], cutoffs: Sequence[int | None], base: Policies
) -> "Iterator[MetricAtCutoff]":
    """Yield metrics at cutoffs, but those at which nobody has a value, such as pairs in lists of one item."""
    for name, definition in suite.items():
        metric = definition.metric
        if not isinstance(metric, (UserMetric, RunMetric)):
            kind = type(metric).__name__
            raise MetricError(f"{name}: a metric must be a UserMetric or a RunMetric, got {kind}.")
        possible = [k for k in cutoffs if k is None or k >= metric.smallest_k]
        if not possible:
            listed = ", ".join(map(str, cutoffs))
            raise ConfigError(f"cutoffs: {metric.label} needs one >= {metric.smallest_k}, got {listed}.")
        for k in possible:
            text = metric.definition(k) + definition.policies.note_beside(base)
            yield MetricAtCutoff(metric_key(name, k), name, metric, definition.policies, k, text)


class JudgedUsers:
    """Who counts under which policies, found once for all metrics."""

    def __init__(self, judged: JudgedTopK, ids: IdArray) -> None:
        self.judged = judged
        self.ids = ids
        self.without_relevant = judged.n_relevant == 0
        self.none_relevant = judged.none_relevant & self.without_relevant
        self.listless = judged.list_length == 0
        if judged.emptied is not None:
            self.listless &= ~judged.emptied

    def left_out(self, policies: Policies, refusing: str = "") -> BoolArray:
        """Return who has no value (m,); a metric that is `refusing` raises where a policy refuses a user."""
        judged = self.none_relevant & (policies.no_positive_grade != "same")
        without = self.without_relevant & ~judged
        left_out = np.zeros(len(self.ids), bool)
        for who, policy, lack in (
            (without, policies.no_relevant, "relevant items"),
            (judged, policies.no_positive_grade, "relevant items"),
            (self.listless & ~without, policies.no_list, "a list"),
        ):
            if policy == "raise" and refusing and who.any():
                raise MetricError(
                    f"{refusing} refuses user {shown(self.ids[who][0])}, one of {int(who.sum())} without "
                    f"{lack}; leave such users out or choose another policy."
                )
            if policy in ("skip", "nan"):
                left_out |= who
        return left_out

    @cached_property
    def of_tied(self) -> JudgedTopK | None:
        """The judged lists of users with equal scores, where expected values are wanted."""
        tied = self.judged.tied
        return self.judged.take(tied.rows) if tied is not None and len(tied.rows) else None

    def counts(self, policies: Policies, n_more: int) -> dict[str, int]:
        """Count users; `n_more` users without relevant items are not among the judged."""
        out = self.left_out(policies)
        return {
            "users_evaluated": int((~out).sum()),
            "users_evaluated_without_relevant_items": int((self.without_relevant & ~out).sum()),
            "users_left_out": int(out.sum()) + n_more,
            "users_without_relevant_items": int(self.without_relevant.sum()) + n_more,
            "users_without_list": int(self.listless.sum()),
        }


Sums = Moments | DoubleArray
"""What users add to a result: moments of their values, or how many they are, then the sums of a metric."""


@dataclass(frozen=True, slots=True)
class MetricAtCutoff:
    """A metric at a cutoff: what the judged users add to it, and the result of all that was added."""

    key: str
    name: str
    metric: UserMetric | RunMetric
    policies: Policies
    k: int | None
    definition: str

    def sums(self, users: JudgedUsers) -> tuple[Sums, DoubleArray | None]:
        """Return what the users add, and their values, shape (m,), NaN for those left out."""
        metric, judged = self.metric, users.judged
        if metric.needs_relevant or self.policies.lists_of == "evaluated":
            left_out = users.left_out(self.policies, metric.label)
        else:
            # such a metric says itself what an empty list is worth: 0 for coverage, no value for a mean
            left_out = users.without_relevant & (self.policies.lists_of == "relevant")
        if isinstance(metric, RunMetric):
            judged = judged.take(~left_out) if left_out.any() else judged
            return np.append(judged.n_users, metric.sums(judged, self.k)), None
        per_user = metric.per_user(judged, self.k)
        if judged.tied is not None and users.of_tied is not None:
            per_user = per_user.copy()
            per_user[judged.tied.rows] = metric.expected(users.of_tied, judged.tied, self.k)
        per_user = np.where(left_out, np.nan, per_user) if left_out.any() else per_user
        # a sum is NaN exactly where a value is, and far cheaper than a mask
        missing = None if np.isfinite(per_user.sum()) else np.isnan(per_user)
        if missing is not None and metric.refuses_undefined and (missing & ~left_out).any():
            undefined = users.ids[missing & ~left_out]
            raise MetricError(
                f"{metric.definition()} refuses user {shown(undefined[0])}, one of {len(undefined)} without "
                "a value. Choose a definition that has one."
            )
        if self.policies.round is not None:
            per_user = _rounded(per_user, self.policies.round, self.policies.rounding)
        per_user = read_only(per_user)
        defined = per_user if missing is None else per_user[~missing]
        if not np.isfinite(defined).all():
            raise self._undefined()
        return Moments.of(defined), per_user

    def result(self, sums: Sums, per_user: DoubleArray | None) -> MetricResult:
        """Return the result of all users together."""
        metric, stderr = self.metric, None
        if isinstance(sums, Moments):
            value, stderr, n_users = sums.mean(), sums.stderr(), sums.n
        elif isinstance(metric, RunMetric):
            value, n_users = metric.value(sums[1:]), int(sums[0])
        else:
            raise TypeError(f"{metric.definition()} has values of users, and got sums of all.")
        if not np.isfinite(value):
            raise self._undefined()
        if self.policies.round_mean is not None:
            if per_user is not None:  # rounded from the sum that the article's code makes, user after user
                value = sum(per_user[~np.isnan(per_user)].tolist()) / n_users
            value = round(value, self.policies.round_mean)
        better = metric.higher_is_better
        return MetricResult(
            self.key, self.name, self.k, value, stderr, per_user, self.definition, better, n_users
        )

    def _undefined(self) -> MetricError:
        return MetricError(
            f"{self.key}: {self.definition} is undefined for every user, or not finite. "
            "Are there users with both a list and relevant items?"
        )


def _any_ties(top_k: TopK) -> bool:
    """Whether some order of equal scores could change a number."""
    beyond = top_k.beyond
    return bool(tied_rows(top_k.items, top_k.scores).any() or (beyond is not None and beyond.size.any()))


def _mean_over_orders(orders: Iterator[Evaluation], n_draws: int) -> Evaluation:
    """Return the mean over random orders of equal scores; a user's, over those in which there is a value."""
    first = next(orders)
    moves = {entry.key: _Mean(entry) for entry in first.results}
    for evaluation in orders:
        for entry in evaluation.results:
            moves[entry.key].add(entry)
    return replace(first, results=tuple(move.result(n_draws) for move in moves.values()))


class _Mean:
    """A mean of results, as the first and the mean distance from it: exact where all are equal."""

    def __init__(self, first: MetricResult) -> None:
        self._first = first
        self._base = self._values(first)
        self._moved = np.zeros(len(self._base))
        self._count = np.isfinite(self._base).astype(np.float64)

    @staticmethod
    def _values(entry: MetricResult) -> DoubleArray:
        return np.array([entry.value]) if entry.per_user is None else entry.per_user

    def add(self, entry: MetricResult) -> None:
        values = self._values(entry)
        finite, new = np.isfinite(values), np.isnan(self._base)
        self._base = np.where(new, values, self._base)
        self._moved[finite] += values[finite] - self._base[finite]
        self._count += finite

    def result(self, n_draws: int) -> MetricResult:
        moved = np.divide(self._moved, self._count, out=np.zeros_like(self._moved), where=self._count > 0)
        values = read_only(self._base + moved)
        definition = f"{self._first.definition} (mean over {n_draws} orders)"
        if self._first.per_user is None:
            return replace(self._first, value=float(values[0]), definition=definition)
        defined = values[~np.isnan(values)]
        value, stderr = mean_and_stderr(defined)
        return replace(
            self._first,
            value=value,
            stderr=stderr,
            per_user=values,
            definition=definition,
            n_users=len(defined),
        )


def _rounded(values: DoubleArray, decimals: int, rounding: Rounding) -> DoubleArray:
    if rounding == "numpy":
        return np.round(values, decimals)
    # Python rounds the binary number itself, and halves to even, as printf of C does
    return np.array([round(value, decimals) for value in values.tolist()], np.float64)
