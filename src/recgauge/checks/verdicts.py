"""What a check says of each rule, in all users and in groups of them, from the values of two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recgauge.checks.decision import Estimate, Outcome, decide
from recgauge.checks.rules import FamilyCorrection, MetricRule
from recgauge.comparison.tests_of_pairs import UserSums
from recgauge.comparison.user_tables import UserGroups
from recgauge.comparison.user_values import UserValues
from recgauge.data.ids import IdArray
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import label
from recgauge.utils.checks import DoubleArray, shown
from recgauge.utils.exact import exact_sum, to_float

_Test: TypeAlias = tuple[int, int]  # position of a rule, and code of its group

UNGROUPED = "users without a group"
"""What a verdict is about that counts the users whom no group has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a check says of one rule, in one group of users if it has groups.

    Parameters
    ----------
    rule : str
        Its path in the file, such as ``not_worse.ndcg@10``.
    words : str
        What must hold, such as ``not worse by 2 %``.
    metric : str
        Key, such as ``ndcg_at_10``, or what a cost is of.
    segment : str
        The group; empty: all users.
    outcome : {"shown", "worse", "undecided"}
    candidate, baseline : float or None
        Means over the users; None if unknown.
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
    segment: str = ""
    outcome: Outcome
    candidate: float | None = None
    baseline: float | None = None
    estimate: float
    low: float | None = None
    high: float | None = None
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


def judge_users(
    values: UserValues,
    rules: Sequence[MetricRule],
    groups: Mapping[str, UserGroups],
    alpha: float,
    correction: FamilyCorrection = "hochberg",
) -> list[Verdict]:
    """Judge rules of metrics with a value for each user, of two runs, the candidate first.

    `alpha` and `correction` are as of `decide`. Refused are users with a value in one run alone, a group that
    has nobody, and an impossible margin.
    """
    _check_same_users(values)
    contrasts = _contrasts(values, rules, groups)
    sums = {test: [*map(UserSums.of, columns)] for test, columns in contrasts.items()}
    _check_groups(sums, rules, groups, values.users)
    estimates = [
        Estimate.of(sums[test][0], 0.0 if rules[test[0]].compares else _skewness(sums[test][0], contrast))
        for test, (contrast, *_) in contrasts.items()
    ]
    verdicts = []
    for test, estimate, decision in zip(sums, estimates, decide(estimates, alpha, correction), strict=True):
        rule, (_, candidate, baseline) = rules[test[0]], sums[test]
        higher = values.higher_is_better[values.metrics.index(rule.metric)]
        sign, bound = _axis(rule, baseline, higher=higher)
        low, high = (
            None if end is None else sign * end + bound for end in (decision.low, decision.high)[:: int(sign)]
        )
        verdicts.append(
            Verdict(
                rule=rule.path,
                words=str(rule),
                metric=rule.metric,
                segment=groups[rule.by].names[test[1]] if rule.by else "",
                candidate=candidate.mean,
                baseline=baseline.mean,
                estimate=sign * estimate.mean + bound,
                bound=bound,
                above=sign > 0,
                n_users=estimate.n,
                **decision._replace(low=low, high=high)._asdict(),
            )
        )
    return verdicts


def _contrasts(
    values: UserValues, rules: Sequence[MetricRule], groups: Mapping[str, UserGroups]
) -> dict[_Test, tuple[DoubleArray, DoubleArray, DoubleArray]]:
    """Return by rule and group the contrast of its users, and their values in the two runs."""
    codes = {by: of_users.codes(values.users) for by, of_users in groups.items()}
    contrasts = {}
    for number, rule in enumerate(rules):
        position = values.metrics.index(rule.metric)
        pair, higher = values.contributions[position], values.higher_is_better[position]
        for code in np.unique(codes[rule.by]).tolist() if rule.by else [0]:
            if code >= 0:
                chosen = pair[:, codes[rule.by] == code] if rule.by else pair
                candidate, baseline = chosen[:, np.isfinite(chosen).all(axis=0)]
                contrast = _contrast(rule, candidate, baseline, higher=higher)
                contrasts[number, code] = contrast, candidate, baseline
    return contrasts


def _skewness(sums: UserSums, values: DoubleArray) -> float:
    """Return the skewness of values: of those compared with a number; of a few differences it is chance."""
    centred = values - sums.mean
    cubes, squares = exact_sum(centred * centred * centred), sums.stderr**2 * (sums.n_valued - 1)
    return to_float(cubes, count=sums.n_valued) / squares**1.5 if cubes and squares else 0.0


def count_ungrouped(
    values: UserValues, rules: Sequence[MetricRule], groups: Mapping[str, UserGroups]
) -> dict[str, tuple[int, int]]:
    """Count by attribute the users with a value who are in no group, and all with a value."""
    counts = {}
    for by, of_users in groups.items():
        metrics = [values.metrics.index(rule.metric) for rule in rules if rule.by == by]
        valued = np.isfinite(values.contributions[metrics]).all(axis=1).any(axis=0)
        without = valued & (of_users.codes(values.users) < 0)
        counts[by] = int(without.sum()), int(valued.sum())
    return counts


def ungrouped_verdict(by: str, n_without: int, n_users: int) -> Verdict:
    """Return the verdict on users in no group, whom no rule judges."""
    return Verdict(
        rule=f"segments.{by}",
        words="every user in a group",
        metric=UNGROUPED,
        segment="none",
        outcome="worse",
        estimate=float(n_without),
        bound=1.0,
        above=False,
        n_users=n_users,
    )


def judge_number(rule: MetricRule, candidate: float, baseline: float, *, higher: bool) -> Verdict:
    """Judge a rule of a metric that is one number for all users, such as coverage: compared, not tested."""
    contrast = float(_contrast(rule, np.array([candidate]), np.array([baseline]), higher=higher)[0])
    sign, bound = _axis(rule, UserSums.of(np.array([baseline])), higher=higher)
    holds = contrast > 0 or (contrast == 0 and rule.kind.startswith("at_"))
    return Verdict(
        rule=rule.path,
        words=str(rule),
        metric=rule.metric,
        outcome="shown" if holds else "worse",
        candidate=candidate,
        baseline=baseline,
        estimate=sign * contrast + bound,
        bound=bound,
        above=sign > 0,
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
    """Return sign and bound of ``sign * contrast + bound``, the number that is printed."""
    level = baseline.mean if rule.bound.relative else 1.0
    _check_margin(rule, baseline, level, higher=higher)
    sign, margin = _sign_and_margin(rule, higher=higher)
    return sign, margin * level


def _check_margin(rule: MetricRule, baseline: UserSums, level: float, *, higher: bool) -> None:
    if rule.by:  # a group may be all zeros
        return
    if rule.bound.relative and level <= 0:
        raise ConfigError(
            f"{rule.path}: {rule.bound} of the baseline's value, which is {level:.6g}; give a number."
        )
    lowest = rule.kind == "not_worse" and higher and not rule.bound.relative and baseline.least >= 0
    if lowest and baseline.mean <= rule.bound.value:
        raise ConfigError(
            f"{rule.path}: the margin {rule.bound} is not below the baseline's value, {baseline.mean:.6g}: "
            "every candidate would keep it. Give a smaller one."
        )


def _check_same_users(values: UserValues) -> None:
    """Refuse users with a value in one run alone: a candidate must not choose its users."""
    for metric, (first, second) in zip(values.metrics, np.isfinite(values.values), strict=True):
        if len(alone := np.flatnonzero(first != second)):
            example = f"{shown(values.users[alone[0]])} in {values.runs[0 if first[alone[0]] else 1]}"
            raise ConfigError(
                f"the two runs have other users: {len(alone):,} have a value of {label(metric)} in one of "
                f"them alone, such as {example}. Judge both on the same test rows and users."
            )


def _check_groups(
    sums: Mapping[_Test, Sequence[UserSums]],
    rules: Sequence[MetricRule],
    groups: Mapping[str, UserGroups],
    users: IdArray,
) -> None:
    """Refuse an attribute that groups no user, and a group without a value."""
    for number, rule in enumerate(rules):
        by_group = {code: contrast for (position, code), (contrast, *_) in sums.items() if position == number}
        if not by_group:
            raise ConfigError(
                f"segments.{rule.by}: no user of the two runs has a group. Users look like "
                f"{listed(users[:3])}, those with a group like {groups[rule.by]}."
            )
        if empty := [code for code, contrast in by_group.items() if not contrast.n_valued]:
            name = groups[rule.by].names[empty[0]] if rule.by else "all"
            raise ConfigError(f"{rule.path}: no user of {rule.by} {name} has a value.")
