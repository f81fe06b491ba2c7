"""Is the mean of users' values shown to be above zero, below zero, or neither: the statistics of a check."""

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple, Self

from recgauge.comparison.tests_of_pairs import (
    UserSums,
    detectable_difference,
    hochberg,
    student_quantile,
    t_above,
    t_bound,
    users_to_show,
)

Outcome = Literal["shown", "worse", "undecided"]
_ROUNDING = 1e-12  # two sums of the same terms in another order differ by less


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
    """The outcome for an estimate; its one-sided bounds are at the levels of the correction's last step."""

    outcome: Outcome
    low: float | None
    high: float | None
    p_shown: float
    p_worse: float
    users_needed: int | None


def decide(estimates: Sequence[Estimate], alpha: float) -> list[Decision]:
    """Return for each estimate whether its mean is shown to be above zero, below zero, or neither.

    The two sides are two families of one-sided tests, each at level `alpha`. Hochberg's method rejects with a
    p-value up to ``alpha / max(1, n - n_rejected)``; bounds at that level agree.

    Parameters
    ----------
    estimates : sequence of Estimate
    alpha : float

    Examples
    --------
    >>> rules = [Estimate(0.02, 0.01, 500), Estimate(0.03, 0.01, 500), Estimate(-0.01, 0.01, 500)]
    >>> [decision.outcome for decision in decide(rules, alpha=0.05)]
    ['shown', 'shown', 'undecided']
    """
    p_shown = hochberg([t_above(*estimate) for estimate in estimates])
    p_worse = hochberg([t_above(-mean, stderr, n, -skewness) for mean, stderr, n, skewness in estimates])
    levels = [alpha / max(1, len(p) - int((p <= alpha).sum())) for p in (p_shown, p_worse)]
    rows = zip(estimates, p_shown.tolist(), p_worse.tolist(), strict=True)
    return [_decision(*row, alpha, levels) for row in rows]


def _decision(
    estimate: Estimate, p_shown: float, p_worse: float, alpha: float, levels: Sequence[float]
) -> Decision:
    mean, stderr, n, skewness = estimate
    outcome: Outcome = "shown" if p_shown <= alpha else "worse" if p_worse <= alpha else "undecided"
    if stderr == 0:
        return Decision(outcome, None, None, p_shown, p_worse, None)
    low = t_bound(mean, stderr, n, levels[0], skewness)
    high = -t_bound(-mean, stderr, n, levels[1], -skewness)
    users = None
    if outcome == "undecided":
        critical = student_quantile(1 - levels[0 if mean > 0 else 1], n - 1)
        users = users_to_show(mean, detectable_difference(stderr, n, critical), n)
    return Decision(outcome, low, high, p_shown, p_worse, users)
