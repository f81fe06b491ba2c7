"""Is a rule shown to hold, shown not to hold, or neither: one-sided tests over users, one family of all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np

from recgauge.checks.rules import FamilyCorrection, MetricRule
from recgauge.comparison.tests_of_pairs import (
    UserSums,
    detectable_difference,
    hochberg,
    holm,
    student_quantile,
    t_above,
    t_bound,
    users_to_show,
)
from recgauge.comparison.user_tables import UserGroups
from recgauge.comparison.user_values import UserValues
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import label
from recgauge.utils.checks import DoubleArray, shown
from recgauge.utils.exact import exact_sum, to_float

_Place: TypeAlias = tuple[int, int]  # of a rule, and the code of its group
Outcome = Literal["shown", "worse", "undecided"]

UNGROUPED = "users without a group"
"""What a verdict is about that counts the users whom no group has."""
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
        return self.rule.startswith(("not_worse", "better_by", "segments")) and not self.is_count

    @property
    def is_count(self) -> bool:
        """Whether `estimate` is a number of users."""
        return self.metric == UNGROUPED

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
    def of(cls, sums: UserSums, skewness: float = 0.0) -> Self:
        """Return the mean of what users add up to, and its standard error."""
        mean, deviation = sums.mean, sums.stderr * sqrt(sums.n_valued)
        rounding = _ROUNDING * sums.largest
        mean = 0.0 if abs(mean) <= rounding else mean
        if deviation <= rounding:
            return cls(mean, 0.0, sums.n_valued)
        return cls(mean, sums.stderr, sums.n_valued, skewness)


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


def judge_users(
    parts: Iterable[UserValues],
    rules: Sequence[MetricRule],
    groups: Mapping[str, UserGroups],
    alpha: float,
    correction: FamilyCorrection = "hochberg",
) -> list[Verdict]:
    """Judge rules of metrics that every user has a value of, of two runs, the candidate first.

    `parts` hold the values of some users each, and are iterated up to three times; `alpha` and `correction`
    are as of `decide`. Refused are users with a value in one run alone, a group that has nobody, and an
    impossible margin.
    """
    _check_same_users(parts)
    found: dict[_Place, list[UserSums]] = {}  # of the contrast, the candidate and the baseline
    for place, *columns in _contrasts(parts, rules, groups):
        known = found.get(place, [UserSums.nobody()] * 3)
        found[place] = [sums + UserSums.of(values) for sums, values in zip(known, columns, strict=True)]
    cubes: dict[_Place, int] = {}
    if not all(rule.compares for rule in rules):
        for place, contrast, _, _ in _contrasts(parts, rules, groups):
            if not rules[place[0]].compares and len(contrast):
                moved = contrast - found[place][0].mean
                cubes[place] = cubes.get(place, 0) + exact_sum(moved * moved * moved)
    first = next(iter(parts))
    directions = tuple(first.higher_is_better[first.metrics.index(rule.metric)] for rule in rules)
    _check_groups(found, rules, groups, first)
    order = sorted(found)
    estimates = [
        Estimate.of(found[place][0], _skewness(found[place][0], cubes.get(place, 0))) for place in order
    ]
    verdicts = []
    for place, estimate, decision in zip(order, estimates, decide(estimates, alpha, correction), strict=True):
        rule, (_, candidate_sums, baseline_sums) = rules[place[0]], found[place]
        sign, bound = _axis(rule, baseline_sums, higher=directions[place[0]])
        low, high = (None if end is None else sign * end + bound for end in decision[1:3])
        verdicts.append(
            Verdict(
                rule.place,
                str(rule),
                rule.metric,
                groups[rule.by].names[place[1]] if rule.by else "",
                decision.outcome,
                candidate_sums.mean,
                baseline_sums.mean,
                sign * estimate.mean + bound,
                *((low, high) if sign > 0 else (high, low)),
                bound,
                sign > 0,
                decision.p_shown,
                decision.p_worse,
                estimate.n,
                decision.users_needed,
            )
        )
    return verdicts


def _contrasts(
    parts: Iterable[UserValues], rules: Sequence[MetricRule], groups: Mapping[str, UserGroups]
) -> Iterator[tuple[_Place, DoubleArray, DoubleArray, DoubleArray]]:
    """Yield by rule and group what some users add to its contrast, and their values in the two runs."""
    for part in parts:
        codes = {by: each.codes(part.users) for by, each in groups.items()}
        for number, rule in enumerate(rules):
            which = part.metrics.index(rule.metric)
            pair, higher = part.contributions[which], part.higher_is_better[which]
            there = np.unique(codes[rule.by]).tolist() if rule.by else [0]
            for code in there:
                if code < 0:
                    continue
                chosen = pair[:, codes[rule.by] == code] if rule.by else pair
                candidate, baseline = chosen[:, np.isfinite(chosen).all(axis=0)]
                yield (number, code), _contrast(rule, candidate, baseline, higher=higher), candidate, baseline


def count_ungrouped(
    parts: Iterable[UserValues], rules: Sequence[MetricRule], groups: Mapping[str, UserGroups]
) -> dict[str, tuple[int, int]]:
    """Count by attribute the users with a value who are in no group, and all with a value."""
    found = dict.fromkeys(groups, (0, 0))
    for part in parts:
        for by, each in groups.items():
            metrics = [part.metrics.index(rule.metric) for rule in rules if rule.by == by]
            valued = np.isfinite(part.contributions[metrics]).all(axis=1).any(axis=0)
            without = valued & (each.codes(part.users) < 0)
            found[by] = found[by][0] + int(without.sum()), found[by][1] + int(valued.sum())
    return found


def ungrouped_verdict(by: str, n_without: int, n_users: int) -> Verdict:
    """Say that users are in no group, so that nobody judges them."""
    return Verdict(
        f"segments.{by}",
        "every user in a group",
        UNGROUPED,
        "none",
        "worse",
        None,
        None,
        float(n_without),
        None,
        None,
        1.0,
        above=False,
        n_users=n_users,
    )


def difference_of(parts: Iterable[UserValues], metric: str) -> tuple[float, float, Estimate]:
    """Return the means of two runs, and the difference between them."""
    found = [UserSums.nobody() for _ in range(3)]
    for part in parts:
        pair = part.contributions[part.metrics.index(metric)]
        candidate, baseline = pair[:, np.isfinite(pair).all(axis=0)]
        for place, values in enumerate((candidate, baseline, candidate - baseline)):
            found[place] += UserSums.of(values)
    return found[0].mean, found[1].mean, Estimate.of(found[2])


def _skewness(sums: UserSums, cubes: int) -> float:
    """Return the skewness of values from the sum of their cubes about the mean.

    That of a few differences is mostly chance, and hardly there; they have none.
    """
    squares = sums.stderr**2 * (sums.n_valued - 1)
    return to_float(cubes, count=sums.n_valued) / squares**1.5 if cubes and squares else 0.0


def judge_number(rule: MetricRule, candidate: float, baseline: float, *, higher: bool) -> Verdict:
    """Judge a rule of a metric that is one number for all users, such as coverage: compared, not tested."""
    contrast = float(_contrast(rule, np.array([candidate]), np.array([baseline]), higher=higher)[0])
    sign, bound = _axis(rule, UserSums.of(np.array([baseline])), higher=higher)
    holds = contrast > 0 or (contrast == 0 and rule.kind.startswith("at_"))
    return Verdict(
        rule.place,
        str(rule),
        rule.metric,
        "",
        "shown" if holds else "worse",
        candidate,
        baseline,
        sign * contrast + bound,
        None,
        None,
        bound,
        sign > 0,
    )


def _sign_and_margin(rule: MetricRule, *, higher: bool) -> tuple[float, float]:
    """Return 1 if above the margin is good, else -1, and the margin of the value or of the difference."""
    value = rule.bound.value
    if rule.kind in ("at_least", "at_most"):
        return (1.0 if rule.kind == "at_least" else -1.0), value
    sign = 1.0 if higher else -1.0
    return sign, sign * (-value if rule.kind == "not_worse" else value)


def _contrast(
    rule: MetricRule, candidate: DoubleArray, baseline: DoubleArray, *, higher: bool
) -> DoubleArray:
    """Return values of users whose mean is above zero exactly if the rule holds.

    A share of the baseline's value is a contrast of the two runs, linear in their values, and no ratio.
    """
    sign, margin = _sign_and_margin(rule, higher=higher)
    value = candidate if rule.kind in ("at_least", "at_most") else candidate - baseline
    contrast: DoubleArray = sign * value - sign * margin * (baseline if rule.bound.relative else 1.0)
    return contrast


def _axis(rule: MetricRule, baseline: UserSums, *, higher: bool) -> tuple[float, float]:
    """Return sign and bound of ``sign * contrast + bound``, which is what people read."""
    level = baseline.mean if rule.bound.relative else 1.0
    _check_margin(rule, baseline, level, higher=higher)
    sign, margin = _sign_and_margin(rule, higher=higher)
    return sign, margin * level


def _check_margin(rule: MetricRule, baseline: UserSums, level: float, *, higher: bool) -> None:
    if rule.by:  # a group may be all zeros
        return
    if rule.bound.relative and level <= 0:
        raise ConfigError(
            f"{rule.place}: {rule.bound} of the baseline's value, which is {level:.6g}; give a number."
        )
    lowest = rule.kind == "not_worse" and higher and not rule.bound.relative and baseline.least >= 0
    if lowest and baseline.mean <= rule.bound.value:
        raise ConfigError(
            f"{rule.place}: the margin {rule.bound} is not below the baseline's value, {baseline.mean:.6g}: "
            "every candidate would keep it. Give a smaller one."
        )


def _check_same_users(parts: Iterable[UserValues]) -> None:
    """Refuse users with a value in one run alone: a candidate must not choose its users."""
    n_others: dict[str, int] = {}
    examples: dict[str, str] = {}
    for part in parts:
        for metric, (first, second) in zip(part.metrics, np.isfinite(part.values), strict=True):
            if len(places := np.flatnonzero(first != second)):
                n_others[metric] = n_others.get(metric, 0) + len(places)
                has = part.runs[0 if first[places[0]] else 1]
                examples.setdefault(metric, f"{shown(part.users[places[0]])} in {has}")
    for metric, n in n_others.items():
        raise ConfigError(
            f"the two runs have other users: {n:,} have a value of {label(metric)} in one of them alone, "
            f"such as {examples[metric]}. Judge both on the same test rows and users."
        )


def _check_groups(
    found: Mapping[_Place, Sequence[UserSums]],
    rules: Sequence[MetricRule],
    groups: Mapping[str, UserGroups],
    part: UserValues,
) -> None:
    """Refuse an attribute by which nobody has a group, and a group in which nobody has a value."""
    for number, rule in enumerate(rules):
        sums = {code: of_rule[0] for (other, code), of_rule in found.items() if other == number}
        if not sums:
            raise ConfigError(
                f"segments.{rule.by}: no user of the two runs has a group. Users look like "
                f"{listed(part.users[:3])}, those with a group like {groups[rule.by]}."
            )
        if empty := [code for code, each in sums.items() if not each.n_valued]:
            name = groups[rule.by].names[empty[0]] if rule.by else "all"
            raise ConfigError(f"{rule.place}: no user of {rule.by} {name} has a value.")
