"""Is a rule shown to hold, shown not to hold, or neither: one-sided tests over users, one family of all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np

from recgauge.checks.rules import FamilyCorrection, MetricRule
from recgauge.comparison.conditions import label
from recgauge.comparison.segments import group_codes
from recgauge.comparison.tests_of_pairs import (
    detectable_difference,
    hochberg,
    holm,
    student_quantile,
    t_above,
    t_bound,
    users_to_show,
)
from recgauge.comparison.user_values import UserValues
from recgauge.errors import ConfigError, listed
from recgauge.utils.checks import DoubleArray, IntArray, shown

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["shown", "worse", "undecided"]

_ROUNDING = 1e-12  # two sums of the same terms in another order differ by less
_CORRECTIONS: Mapping[FamilyCorrection, Callable[[list[float]], DoubleArray]] = {
    "hochberg": hochberg,
    "holm": holm,
    "none": np.asarray,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says of one rule, in one group of users if it has groups.

    Parameters
    ----------
    rule : str
        Where it stands in the file, such as ``not_worse.ndcg@10``.
    words : str
        What must hold, such as ``not worse by 2 %``.
    metric : str
        Key, such as ``ndcg_at_10``, or what a cost is of.
    segment : str
        The group; empty: all users.
    outcome : {"shown", "worse", "undecided"}
    candidate, baseline : float or None
        Means over the users; None where nobody knows.
    estimate : float
        What the rule is about: candidate - baseline, or the candidate's value if it is compared with a value.
    low, high : float or None
        One-sided bounds of it, each at the level at which the rule is decided after the correction: a rule is
        shown exactly if the interval is on the good side of `bound`. None where nothing varies between users,
        or the number is one for all users.
    bound : float
        What the interval is compared with.
    above : bool
        Whether above `bound` is its good side.
    p_shown, p_worse : float or None
        Corrected one-sided p-values; None if the number is one for all users, so that nothing can be tested.
    n_users : int
        Behind the numbers; 0 if the number is one for all users.
    users_needed : int or None
        Of an undecided rule: users that would decide it with 80 % power if the estimate is the truth.
    """

    rule: str
    words: str
    metric: str
    segment: str
    outcome: Outcome
    candidate: float | None
    baseline: float | None
    estimate: float
    low: float | None
    high: float | None
    bound: float
    above: bool
    p_shown: float | None = None
    p_worse: float | None = None
    n_users: int = 0
    users_needed: int | None = None

    @property
    def is_difference(self) -> bool:
        """Whether `estimate` is a difference from the baseline."""
        return self.rule.startswith(("not_worse", "better_by", "segments"))

    @property
    def tested(self) -> bool:
        """Whether there are values of users; otherwise two numbers were compared."""
        return self.p_shown is not None


class Estimate(NamedTuple):
    """A mean over users that is above zero exactly if the rule holds."""

    mean: float
    stderr: float
    n: int
    skewness: float = 0.0

    @classmethod
    def of(cls, values: DoubleArray, *, paired: bool = True) -> Self:
        """Return the mean of values (n,), its standard error, and their skewness unless they are differences.

        Differences are hardly skewed, and the skewness of a few of them is mostly chance.
        """
        n, mean = len(values), float(values.mean())
        moved = values - mean
        squares = float((moved * moved).sum())
        deviation = sqrt(squares / (n - 1)) if n > 1 else 0.0
        rounding = _ROUNDING * float(np.abs(values).max())
        mean = 0.0 if abs(mean) <= rounding else mean
        if deviation <= rounding:
            return cls(mean, 0.0, n)
        skewness = 0.0 if paired else float((moved * moved * moved).mean()) / (squares / n) ** 1.5
        return cls(mean, deviation / sqrt(n), n, skewness)


class Decision(NamedTuple):
    """What is said of an estimate; its one-sided bounds are at the levels of the correction's last step."""

    outcome: Outcome
    low: float | None
    high: float | None
    p_shown: float
    p_worse: float
    users_needed: int | None


def decide(
    estimates: Sequence[Estimate], alpha: float, correction: FamilyCorrection = "hochberg"
) -> list[Decision]:
    """Return for each estimate whether its mean is shown to be above zero, below zero, or neither.

    The two sides are two families of one-sided tests, each at level `alpha`. By Hochberg's and by Holm's
    method, those with a p-value up to ``alpha / max(1, n - n_found)`` are found; bounds at that level say the
    same.

    Parameters
    ----------
    estimates : sequence of Estimate
    alpha : float
    correction : {"hochberg", "holm", "none"}

    Examples
    --------
    >>> rules = [Estimate(0.02, 0.01, 500), Estimate(0.03, 0.01, 500), Estimate(-0.01, 0.01, 500)]
    >>> [decision.outcome for decision in decide(rules, alpha=0.05)]
    ['shown', 'shown', 'undecided']
    """
    correct = _CORRECTIONS[correction]
    p_shown = correct([t_above(*one) for one in estimates])
    p_worse = correct([t_above(-one.mean, one.stderr, one.n, -one.skewness) for one in estimates])
    levels = []
    for p in (p_shown, p_worse):
        left = len(p) - int((p <= alpha).sum())
        levels.append(alpha if correction == "none" else alpha / max(1, left))
    rows = zip(estimates, p_shown.tolist(), p_worse.tolist(), strict=True)
    return [_decision(one, shown, worse, alpha, levels) for one, shown, worse in rows]


def _decision(
    one: Estimate, p_shown: float, p_worse: float, alpha: float, levels: Sequence[float]
) -> Decision:
    outcome: Outcome = "shown" if p_shown <= alpha else "worse" if p_worse <= alpha else "undecided"
    if one.stderr == 0:
        return Decision(outcome, None, None, p_shown, p_worse, None)
    low = t_bound(one.mean, one.stderr, one.n, levels[0], one.skewness)
    high = -t_bound(-one.mean, one.stderr, one.n, levels[1], -one.skewness)
    users = None
    if outcome == "undecided":
        critical = student_quantile(1 - levels[0 if one.mean > 0 else 1], one.n - 1)
        users = users_to_show(one.mean, detectable_difference(one.stderr, one.n, critical), one.n)
    return Decision(outcome, low, high, p_shown, p_worse, users)


class _Axis(NamedTuple):
    """Where an estimate lies on the axis that people read: ``sign * mean + bound``."""

    sign: float
    bound: float

    def at(self, mean: float | None) -> float | None:
        return None if mean is None else self.sign * mean + self.bound

    def ends(self, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        return (self.at(low), self.at(high)) if self.sign > 0 else (self.at(high), self.at(low))


def judge_users(
    table: UserValues,
    rules: Sequence[MetricRule],
    groups: "Mapping[str, pd.Series]",
    alpha: float,
    correction: FamilyCorrection = "hochberg",
) -> list[Verdict]:
    """Judge rules of metrics that every user has a value of, of two runs, the candidate first.

    `groups` are the group of each user, by attribute and user id; `alpha` and `correction` are as of
    `decide`. Refused are users with a value in one run alone, a group that has nobody, and an impossible
    margin.
    """
    _check_same_users(table)
    members = {by: _members(by, table, series) for by, series in groups.items()}
    found: list[tuple[MetricRule, str, _Axis, DoubleArray, DoubleArray, Estimate]] = []
    for rule in rules:
        which = table.metrics.index(rule.metric)
        pair = table.contributions[which]
        for segment, chosen in members[rule.by] if rule.by else [("", slice(None))]:
            candidate, baseline = (values[np.isfinite(values)] for values in pair[:, chosen])
            if not len(candidate):
                raise ConfigError(f"{rule.place}: no user of {rule.by} {segment} has a value.")
            higher = table.higher_is_better[which]
            axis, contrast = _contrast(rule, candidate, baseline, higher=higher)
            found.append(
                (rule, segment, axis, candidate, baseline, Estimate.of(contrast, paired=rule.compares))
            )
    decisions = decide([each[-1] for each in found], alpha, correction)
    return [
        Verdict(
            rule.place,
            str(rule),
            rule.metric,
            segment,
            decision.outcome,
            float(candidate.mean()),
            float(baseline.mean()),
            float(axis.at(estimate.mean) or 0.0),
            *axis.ends(decision.low, decision.high),
            axis.bound,
            axis.sign > 0,
            decision.p_shown,
            decision.p_worse,
            estimate.n,
            decision.users_needed,
        )
        for (rule, segment, axis, candidate, baseline, estimate), decision in zip(
            found, decisions, strict=True
        )
    ]


def judge_number(rule: MetricRule, candidate: float, baseline: float, *, higher: bool) -> Verdict:
    """Judge a rule of a metric that is one number for all users, such as coverage: compared, not tested."""
    axis, contrast = _contrast(rule, np.array([candidate]), np.array([baseline]), higher=higher)
    return Verdict(
        rule.place,
        str(rule),
        rule.metric,
        "",
        "shown" if contrast[0] > 0 or (contrast[0] == 0 and rule.kind.startswith("at_")) else "worse",
        candidate,
        baseline,
        float(axis.at(float(contrast[0])) or 0.0),
        None,
        None,
        axis.bound,
        axis.sign > 0,
    )


def _contrast(
    rule: MetricRule, candidate: DoubleArray, baseline: DoubleArray, *, higher: bool
) -> tuple[_Axis, DoubleArray]:
    """Return values of users whose mean is above zero exactly if the rule holds.

    A share of the baseline's value is a contrast of the two runs, linear in their values, and no ratio.
    """
    value = rule.bound.value
    unit = baseline if rule.bound.relative else np.ones_like(baseline)
    level = float(unit.mean())
    _check_margin(rule, baseline, level, higher=higher)
    if rule.kind in ("at_least", "at_most"):
        sign = 1.0 if rule.kind == "at_least" else -1.0
        return _Axis(sign, value * level), sign * (candidate - value * unit)
    sign, shift = 1.0 if higher else -1.0, value if rule.kind == "not_worse" else -value
    return _Axis(sign, -sign * shift * level), sign * (candidate - baseline) + shift * unit


def _check_margin(rule: MetricRule, baseline: DoubleArray, level: float, *, higher: bool) -> None:
    if rule.by:  # a group may be all zeros
        return
    if rule.bound.relative and level <= 0:
        raise ConfigError(
            f"{rule.place}: {rule.bound} of the baseline's value, which is {level:.6g}; give a number."
        )
    lowest = rule.kind == "not_worse" and higher and not rule.bound.relative and baseline.min() >= 0
    if lowest and (mean := float(baseline.mean())) <= rule.bound.value:
        raise ConfigError(
            f"{rule.place}: the margin {rule.bound} is not below the baseline's value, {mean:.6g}: every "
            "candidate would keep it. Give a smaller one."
        )


def _check_same_users(table: UserValues) -> None:
    """Refuse users with a value in one run alone: a candidate must not choose its users."""
    known = np.isfinite(table.values)
    for metric, (first, second) in zip(table.metrics, known, strict=True):
        if len(places := np.flatnonzero(first != second)):
            has = table.runs[0 if first[places[0]] else 1]
            user = shown(table.users[places[0]])
            raise ConfigError(
                f"the two runs have other users: {len(places):,} have a value of {label(metric)} in one of "
                f"them alone, such as {user} in {has}. Judge both on the same test rows and users."
            )


def _members(by: str, table: UserValues, groups: "pd.Series") -> list[tuple[str, IntArray]]:
    """Return the groups and the positions of their users; ids are compared as text where kinds differ."""
    codes_of = (
        groups
        if groups.index.dtype.kind == table.users.dtype.kind
        else groups.set_axis(groups.index.map(str))
    )
    users = table.users if codes_of is groups else table.users.astype(str)
    names, codes = group_codes(codes_of.reindex(users))
    if not names:
        raise ConfigError(
            f"segments.{by}: no user of the two runs has a group. Users look like {listed(users[:3])}, those "
            f"with a group like {listed(codes_of.index[:3]) or 'nobody'}."
        )
    return [(name, np.flatnonzero(codes == code).astype(np.int32)) for code, name in enumerate(names)]
