"""Sentences that follow from a comparison's numbers by rule."""

from collections.abc import Sequence
from math import ceil, log10
from typing import TYPE_CHECKING

from recgauge.errors import listed
from recgauge.metrics.names import metric_label

if TYPE_CHECKING:
    from recgauge.comparison.results import MetricComparison, Pair, Procedure


def metric_claims(result: "MetricComparison", procedure: "Procedure") -> tuple[str, ...]:
    """Return what may be claimed from the comparison by one metric.

    With a baseline, a sentence per run; otherwise the best against the second, and who else is not shown to
    differ from the best.
    """
    rows, pairs, confidence = result.rows, result.pairs, procedure.confidence
    if procedure.baseline is not None:
        return tuple(pair_claim(pair, result, confidence) for pair in pairs)
    best, second = rows[0].run, rows[1].run
    claims = [pair_claim(result.pair(best, second), result, confidence)]
    open_ends = [row.run for row in rows[2:] if not result.pair(best, row.run).differs]
    if open_ends:
        runs = [second, *open_ends] if not result.pair(best, second).differs else open_ends
        claims.append(f"{metric_words(result)}: not shown to differ from the best, {best}: {listed(runs)}.")
    return tuple(claims)


def pair_claim(pair: "Pair", result: "MetricComparison", confidence: float) -> str:
    """Return what may be claimed of two runs of a comparison."""
    decimals = _decimals((pair.high - pair.low) / 2)
    decimals += any(end and not round(end, decimals) for end in (pair.low, pair.high))  # no -.000
    metric, sure = metric_words(result), f"{100 * confidence:g} %"
    repeats = _better_in(pair, result)
    if result.n_held_out is not None and result.n_held_out > result.n_users:
        metric += f" of {result.n_users:,} of {result.n_held_out:,} users"
    if pair.equal == 1:
        return f"{pair.a} and {pair.b} have the same {metric} for every {result.unit[:-1]}."
    if not pair.differs:
        power = f"so few {result.unit} can show no difference at all"
        if result.unit == "seeds" and pair.users_needed is not None:
            power = f"too few seeds to tell: about {pair.users_needed:,} of each would (80 % power)"
        elif pair.detectable is not None and pair.detectable > _largest_mean(pair, result):
            power = f"too few {result.unit} to tell"
        elif pair.detectable is not None:
            power = f"a difference of {short(pair.detectable, decimals)} would have been seen with 80 % power"
        text = _with_interval(pair.difference, pair.low, pair.high, decimals) + result.of_few
        power += repeats and f"; {pair.a} is {repeats}"
        return f"No difference shown between {pair.a} and {pair.b}: {text} {metric}, {sure}; {power}."
    ends = sorted((abs(pair.low), abs(pair.high)))
    if pair.low <= 0 <= pair.high:  # the test decides; its interval may lie a little differently
        ends = [pair.low, pair.high] if pair.difference > 0 else [-pair.high, -pair.low]
    wins = (pair.difference > 0) == result.higher_is_better
    text = _with_interval(abs(pair.difference), ends[0], ends[1], decimals) + result.of_few
    shares = f"; {100 * pair.better:.0f} % of users gain, {100 * pair.worse:.0f} % lose"
    return (
        f"{pair.a} is {'better' if wins else 'worse'} than {pair.b} by {text} {metric}, {sure}"
        f"{shares if result.unit == 'users' else ''}{repeats and f'; {repeats}'}."
    )


def _better_in(pair: "Pair", result: "MetricComparison") -> str:
    """Say in how many seeds or folds, which vary apart from the users, the first run of a pair is better."""
    a, b = (result.row(run).repeats for run in (pair.a, pair.b))
    if a is None or b is None or a.labels != b.labels or len(a.labels) < 2:
        return ""
    kinds = {label.rstrip("0123456789").rstrip() for label in a.labels}
    kind = f"{kinds.pop()}s" if kinds in ({"seed"}, {"fold"}) else "repeats"
    wins = sum((x > y) == result.higher_is_better and x != y for x, y in zip(a.means, b.means, strict=True))
    equal = sum(x == y for x, y in zip(a.means, b.means, strict=True))
    return f"better in {wins}{f', equal in {equal},' if equal else ''} of {len(a.labels)} {kind}"


def _largest_mean(pair: "Pair", result: "MetricComparison") -> float:
    return max(abs(result.row(run).mean) for run in (pair.a, pair.b))


def metric_words(result: "MetricComparison") -> str:
    """Return the metric as people write it, and the data set if it has a name.

    Examples
    --------
    >>> from recgauge.comparison import MetricComparison
    >>> metric_words(MetricComparison("ml_1m", "ndcg_at_10", True, (), (), 2))
    'nDCG@10 on ml_1m'
    """
    return metric_label(result.metric) + (f" on {result.dataset}" if result.dataset else "")


def short(value: float, decimals: int) -> str:
    """Return a number without the zero before its decimal point.

    Examples
    --------
    >>> short(0.0361, 3), short(-0.5, 1), short(1.25, 1)
    ('.036', '-.5', '1.2')
    """
    text = f"{value:.{decimals}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _with_interval(value: float, low: float, high: float, decimals: int) -> str:
    return f"{short(value, decimals)} [{short(low, decimals)}, {short(high, decimals)}]"


def _decimals(width: float) -> int:
    """Return as many decimals as show a width with one to two digits."""
    return min(8, max(1, ceil(-log10(width / 5)))) if width > 0 else 3


def too_few_claim(metric: str, n: int, n_runs: int) -> str:
    """Return what is said of ranks over n data sets where no ranks could show a difference."""
    return (
        f"{metric_label(metric)} by ranks: {n} data sets are too few to show a difference between "
        f"{n_runs} runs."
    )


def ranks_claims(
    metric: str, runs: Sequence[str], groups: Sequence[Sequence[str]], n: int, p: float, alpha: float
) -> tuple[str, ...]:
    """Return what may be claimed from ranks over n data sets; runs are in the order of their ranks."""
    subject = f"{metric_label(metric)} by ranks on {n} data sets"
    if p > alpha:
        return (f"{subject}: no run is shown to differ from another (Friedman, p = {p:.2g}).",)
    with_best = next((group for group in groups if runs[0] in group), (runs[0],))
    worse = [run for run in runs if run not in with_best]
    claims = []
    if worse:
        claims.append(f"{subject}: {runs[0]} has the best mean rank and differs from {listed(worse)}.")
    if len(with_best) > 1:
        alike = [run for run in with_best if run != runs[0]]
        claims.append(f"{subject}: {runs[0]} is not shown to be better than {listed(alike)}.")
    return tuple(claims)
