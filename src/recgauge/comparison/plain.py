"""The answer of a comparison in plain words: who finds more, by how much, whether it is chance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recgauge.data.coverage import FEW_USERS
from recgauge.errors import listed
from recgauge.metrics.names import metric_label, split_key

if TYPE_CHECKING:
    from recgauge.comparison.results import MetricComparison, Pair, Procedure

FINDING = ("ndcg", "recall", "precision", "f1", "map")
"""Metrics that rise with the items in a list that people want."""
ERRORS = ("rmse", "mae", "rmse_user", "mae_user")
MOST = 4  # runs that a sentence names


def sure_winner(result: "MetricComparison", procedure: "Procedure") -> str | None:
    """Return the run that is shown to be better than all that it is compared with, None if there is none."""
    best, level = _best(result, procedure)
    pairs = [pair for pair in result.pairs if best in (pair.a, pair.b)]
    return best if not level and all(_gains(pair, result) == (pair.a == best) for pair in pairs) else None


def plain_claim(result: "MetricComparison", procedure: "Procedure") -> str:
    """Return the answer by one metric in words that need no statistics.

    It is of the best run against the second, or against the baseline.

    Examples
    --------
    >>> import pandas as pd
    >>> from recgauge.comparison import compare
    >>> users = pd.Index(range(40), name="user")
    >>> values = {"new": [0.6, 0.7] * 20, "old": [0.5] * 40}
    >>> comparison = compare({run: pd.DataFrame({"ndcg": each}, users) for run, each in values.items()})
    >>> print(plain_claim(comparison.results[0], comparison.procedure))
    new finds 30 % more of what people want than old. This is sure, not chance. 100 % of users gain, 0 % lose.
    """
    best, level = _best(result, procedure)
    other = procedure.baseline or next(row.run for row in result.rows if row.run != best)
    pair = result.pair(best, other)
    if pair.equal == 1:
        text = f"{pair.a} and {pair.b} are equal for every user."
    elif not level:
        text = (
            f"{_sentence(pair, result)}. This is sure, not chance. {100 * pair.better:.0f} % of users gain, "
            f"{100 * pair.worse:.0f} % lose."
        )
    else:
        text = _doubt(result, best, level)
    few = f" Only {result.n_users} users are evaluated." if result.n_users < FEW_USERS else ""
    return f"{text}{few}"


def winners_claim(results: "Sequence[MetricComparison]", procedure: "Procedure") -> str:
    """Return which run is the best on which of several data sets, as far as that is sure."""
    runs: dict[str | None, list[str]] = {}
    for result in results:
        runs.setdefault(sure_winner(result, procedure), []).append(result.dataset)
    unsure, n = runs.pop(None, []), len(results)
    parts = [
        f"{run} is the best on {f'all {n} data sets' if len(on) == n else listed(on)}"
        for run, on in runs.items()
    ]
    return (
        "; ".join(
            [*parts, *([f"on {listed(unsure)} it is not sure which run is the best"] if unsure else [])]
        )
        + "."
    )


def _best(result: "MetricComparison", procedure: "Procedure") -> tuple[str, "Sequence[Pair]"]:
    """Return the best run that is no baseline, and its pairs of which no difference is shown."""
    best = next(row.run for row in result.rows if row.run != procedure.baseline)
    return best, [pair for pair in result.pairs if best in (pair.a, pair.b) and not pair.differs]


def _gains(pair: "Pair", result: "MetricComparison") -> bool:
    return (pair.difference > 0) == result.higher_is_better


def _sentence(pair: "Pair", result: "MetricComparison") -> str:
    """Say what a shown difference means for people."""
    name, gains, more = split_key(result.metric)[0], _gains(pair, result), pair.difference > 0
    if pair.relative is None or result.row(pair.b).mean < 0:
        return f"{pair.a} is {'better' if gains else 'worse'} than {pair.b} in {metric_label(result.metric)}"
    share = 100 * abs(pair.relative)
    amount = f"{share:,.0f} %" if share >= 1 else f"{share:.1g} %"
    if name in FINDING:
        return f"{pair.a} finds {amount} {'more' if more else 'less'} of what people want than {pair.b}"
    if name in ERRORS:
        return f"{pair.a} errs {amount} {'more' if more else 'less'} than {pair.b} in the ratings it predicts"
    return (
        f"{pair.a} is {'better' if gains else 'worse'} than {pair.b}: its {metric_label(result.metric)} is "
        f"{amount} {'higher' if more else 'lower'}"
    )


def _doubt(result: "MetricComparison", best: str, level: "Sequence[Pair]") -> str:
    """Say which runs may all be the best, and which are worse for sure."""
    others = [pair.b if pair.a == best else pair.a for pair in level]
    pairs = [pair for pair in result.pairs if best in (pair.a, pair.b) and pair.differs]
    worse = [pair.b if pair.a == best else pair.a for pair in pairs]
    surely = f" {best} is surely better than {listed(worse, MOST)}." if worse else ""
    if len(others) > 1:
        names = listed([best, *others], MOST)
        return f"Which is the best of {names} is not sure: their differences may be chance.{surely}"
    pair, n = level[0], result.n_users
    size = "" if pair.relative is None else f" of {100 * abs(pair.relative):.1f} %"
    more = ""
    if pair.users_needed is not None and pair.users_needed > n:
        more = f" To show one of this size takes about {_rounded(pair.users_needed)} users; there are {n:,}."
    text = f"Whether {best} or {others[0]} is better is not sure: a difference{size} may be chance."
    return f"{text}{more}{surely}"


def _rounded(n: int) -> str:
    """Return a number of users with two digits that mean something."""
    digits = len(str(n)) - 2
    return f"{round(n, -digits) if digits > 0 else n:,}"
