"""What a check says of each rule, in all users and in groups of them, from the values of two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recgauge.checks.decision import Decision, Estimate, Outcome, decide
from recgauge.checks.rules import Rule
from recgauge.comparison.tests_of_pairs import UserSums
from recgauge.comparison.user_tables import UserGroups
from recgauge.comparison.user_values import UserValues
from recgauge.errors import ConfigError
from recgauge.metrics.names import label
from recgauge.utils.checks import DoubleArray, shown
from recgauge.utils.exact import exact_sum, to_float

NO_GROUP = -1
"""The code of users without a group, who are judged as a group of their own."""


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
        return self.rule.startswith(("not_worse", "better_by", "segments"))

    @property
    def tested(self) -> bool:
        """Whether there are values of users; otherwise two numbers were compared."""
        return self.p_shown is not None


def outcome_of(verdicts: Sequence[Verdict]) -> Outcome:
    """Return ``worse`` if any verdict is, else ``undecided`` if any is, else ``shown``."""
    outcomes = {verdict.outcome for verdict in verdicts}
    return "worse" if "worse" in outcomes else "undecided" if "undecided" in outcomes else "shown"


def judge_users(
    values: UserValues, rules: Sequence[Rule], groups: Mapping[str, UserGroups], alpha: float
) -> list[Verdict]:
    """Judge rules of metrics with a value for each user, of two runs, the candidate first.

    Users without a group are one by themselves. Refused are users with a value in one run alone, a group that
    has nobody, and an impossible margin.
    """
    _check_same_users(values)
    codes = {by: of_users.codes(values.users) for by, of_users in groups.items()}
    verdicts, estimates = [], []
    for rule in rules:
        position = values.metrics.index(rule.metric)
        pair, higher = values.contributions[position], values.higher_is_better[position]
        group = codes[rule.by] if rule.by else np.zeros(len(values.users), np.int32)
        valued = np.isfinite(pair).all(axis=0)
        for code in np.unique(group).tolist():
            name = "" if not rule.by else "no group" if code == NO_GROUP else groups[rule.by].names[code]
            candidate, baseline = pair[:, valued & (group == code)]
            if not len(candidate):
                if code == NO_GROUP:
                    continue
                raise ConfigError(f"{rule.path}: no user of {name or 'all'} has a value. Leave it out.")
            contrast = _contrast(rule, candidate, baseline, higher=higher)
            total, compared = UserSums.of(contrast), rule.relative or not rule.is_value
            # the skewness of few differences is chance
            estimate = Estimate.of(total, 0.0 if compared else _skewness(total, contrast))
            means = UserSums.of(candidate).mean, UserSums.of(baseline)
            verdict = _verdict(rule, estimate.mean, *means, higher=higher)
            verdicts.append(replace(verdict, segment=name, n_users=estimate.n))
            estimates.append(estimate)
    return [
        _decided(verdict, decision)
        for verdict, decision in zip(verdicts, decide(estimates, alpha), strict=True)
    ]


def _decided(verdict: Verdict, decision: Decision) -> Verdict:
    """Return a verdict with its outcome, and with bounds in the unit of its estimate."""
    ends = (decision.low, decision.high) if verdict.above else (decision.high, decision.low)
    sign = 1 if verdict.above else -1
    low, high = (None if end is None else sign * end + verdict.bound for end in ends)
    return replace(verdict, **decision._replace(low=low, high=high)._asdict())


def _skewness(sums: UserSums, values: DoubleArray) -> float:
    """Return the skewness of values."""
    centred = values - sums.mean
    cubes, squares = exact_sum(centred * centred * centred), sums.stderr**2 * (sums.n_valued - 1)
    return to_float(cubes, count=sums.n_valued) / squares**1.5 if cubes and squares else 0.0


def judge_number(rule: Rule, candidate: float, baseline: float | None, *, higher: bool) -> Verdict:
    """Judge a number for all users, such as coverage or a cost: it is compared, not tested."""
    known = np.array([] if baseline is None else [baseline])
    (contrast,) = _contrast(rule, np.array([candidate]), known if len(known) else np.zeros(1), higher=higher)
    holds = contrast > 0 or bool(contrast == 0 and rule.is_value)
    verdict = _verdict(rule, float(contrast), candidate, UserSums.of(known), higher=higher)
    estimate = candidate if rule.kind == "cost" else verdict.estimate
    return replace(verdict, outcome="shown" if holds else "worse", baseline=baseline, estimate=estimate)


def _verdict(rule: Rule, contrast: float, candidate: float, baseline: UserSums, *, higher: bool) -> Verdict:
    """Return a verdict with the numbers that are printed, its outcome open."""
    sign, margin = _sign_and_margin(rule, higher=higher)
    level = baseline.mean if rule.relative else 1.0
    _check_margin(rule, baseline, level, higher=higher)
    return Verdict(
        rule=rule.path,
        words=str(rule),
        metric=rule.metric,
        outcome="undecided",
        candidate=candidate,
        baseline=baseline.mean,
        estimate=sign * contrast + margin * level,
        bound=margin * level,
        above=sign > 0,
    )


def _sign_and_margin(rule: Rule, *, higher: bool) -> tuple[float, float]:
    """Return 1 if above the margin is good, else -1, and the margin of the value or of the difference."""
    if rule.is_value:
        return (1.0 if rule.kind == "at_least" else -1.0), rule.value
    sign = 1.0 if higher else -1.0
    return sign, sign * (-rule.value if rule.kind == "not_worse" else rule.value)


def _contrast(rule: Rule, candidate: DoubleArray, baseline: DoubleArray, *, higher: bool) -> DoubleArray:
    """Return values of users whose mean is above zero exactly if the rule holds.

    A share of the baseline's value is a contrast of the two runs, linear in their values, and no ratio.
    """
    sign, margin = _sign_and_margin(rule, higher=higher)
    value = candidate if rule.is_value else candidate - baseline
    contrast: DoubleArray = sign * value - sign * margin * (baseline if rule.relative else 1.0)
    return contrast


def _check_margin(rule: Rule, baseline: UserSums, level: float, *, higher: bool) -> None:
    if rule.by or rule.kind == "cost":  # a group may be all zeros
        return
    if rule.relative and level <= 0:
        raise ConfigError(
            f"{rule.path}: {rule.bound} of the baseline's value, which is {level:.6g}; give a number."
        )
    lowest = rule.kind == "not_worse" and higher and not rule.relative and baseline.least >= 0
    if lowest and baseline.mean <= rule.value:
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
