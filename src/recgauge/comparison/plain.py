"""The answer of a comparison in plain words: who finds more, by how much, whether it is chance."""

from typing import TYPE_CHECKING

from recgauge.data.coverage import FEW_USERS
from recgauge.errors import listed
from recgauge.metrics.names import metric_label, split_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recgauge.comparison.results import Comparison, MetricComparison, Pair, Procedure

RANKING = ("ndcg", "dcg", "map", "mrr")
"""Metrics that rise the higher the held-out items stand in a list."""
ERRORS = ("rmse", "mae", "rmse_user", "mae_user")
MOST = 4  # runs that a sentence names
_LEAST_P = 0.0001  # which 10,000 resamples can show


def sure_winner(result: "MetricComparison", procedure: "Procedure") -> str | None:
    """Return the run that is shown to be better than all that it is compared with, None if there is none."""
    best, level = _best(result, procedure)
    pairs = [pair for pair in result.pairs if best in (pair.a, pair.b)]
    return best if not level and all(_gains(pair, result) == (pair.a == best) for pair in pairs) else None


def plain_claim(comparison: "Comparison", dataset: str | None = None) -> str:
    r"""Return the answer by the first metric, on a data set if there are several, without statistics.

    The first line is the answer and names its metric, others say how sure it is. It is of the best run
    against the second, or against the baseline.

    Raises
    ------
    ConfigError
        If there is no such data set.

    Examples
    --------
    >>> import pandas as pd
    >>> from recgauge.comparison import compare
    >>> users = pd.Index(range(40), name="user")
    >>> values = {"new": [0.6, 0.7] * 20, "old": [0.5] * 40}
    >>> comparison = compare({run: pd.DataFrame({"recall": each}, users) for run, each in values.items()})
    >>> print(plain_claim(comparison))
    new finds 30 % more of what people want than old (Recall).
    Chance alone would show as much in at most 0.01 % of comparisons.
    """
    result, procedure = comparison.result(comparison.metrics[0], dataset), comparison.procedure
    best, level = _best(result, procedure)
    other = procedure.baseline or next(row.run for row in result.rows if row.run != best)
    pair = result.pair(best, other)
    if pair.equal == 1:
        text = f"{pair.a} and {pair.b} are equal for every user."
    elif not level:
        text = (
            f"{_sentence(pair, result)}.\nChance alone would show as much in at most "
            f"{100 * max(pair.p_adjusted, _LEAST_P):.2g} % of comparisons."
        )
    else:
        text = _doubt(result, best, level)
    few = f"\nOnly {result.n_users} users are evaluated." if result.n_users < FEW_USERS else ""
    return f"{text}{few}"


def winners_claim(comparison: "Comparison") -> str:
    """Return which run is shown to be the best on which of several data sets, by the first metric."""
    runs: dict[str | None, list[str]] = {}
    for dataset in comparison.datasets:
        result = comparison.result(comparison.metrics[0], dataset)
        runs.setdefault(sure_winner(result, comparison.procedure), []).append(dataset)
    unsure, n = runs.pop(None, []), len(comparison.datasets)
    places = [(run, f"on {f'all {n} data sets' if len(on) == n else listed(on)}") for run, on in runs.items()]
    label = metric_label(comparison.metrics[0])
    if not places:
        return f"By {label} the best is not sure on {listed(unsure)}."
    (first, where), *others = places
    text = "; ".join(
        [f"By {label} {first} is shown to be best {where}", *(f"{run} {on}" for run, on in others)]
    )
    return f"{text}.{f' Not sure on {listed(unsure)}.' if unsure else ''}"


def _best(result: "MetricComparison", procedure: "Procedure") -> tuple[str, "Sequence[Pair]"]:
    """Return the best run that is no baseline, and its pairs of which no difference is shown."""
    best = next(row.run for row in result.rows if row.run != procedure.baseline)
    return best, [pair for pair in result.pairs if best in (pair.a, pair.b) and not pair.differs]


def _gains(pair: "Pair", result: "MetricComparison") -> bool:
    return (pair.difference > 0) == result.higher_is_better


def _sentence(pair: "Pair", result: "MetricComparison") -> str:
    """Say what a shown difference means for people."""
    name, label = split_key(result.metric)[0], metric_label(result.metric)
    gains, more = _gains(pair, result), pair.difference > 0
    if pair.relative is None or result.row(pair.b).mean < 0:
        return f"{pair.a} is {'better' if gains else 'worse'} than {pair.b} in {label}"
    share = 100 * abs(pair.relative)
    amount = f"{share:,.0f} %" if share >= 1 else f"{share:.1g} %"
    if name in RANKING:
        side = "better" if more else "worse"
        return f"{pair.a} ranks what people want {amount} {side} than {pair.b} ({label})"
    size = f"{amount} {'more' if more else 'less'}"
    if name == "recall":
        return f"{pair.a} finds {size} of what people want than {pair.b} ({label})"
    if name in ERRORS:
        return f"{pair.a} errs {size} than {pair.b} in the ratings it predicts ({label})"
    return (
        f"{pair.a} is {'better' if gains else 'worse'} than {pair.b}: its {label} is "
        f"{amount} {'higher' if more else 'lower'}"
    )


def _doubt(result: "MetricComparison", best: str, level: "Sequence[Pair]") -> str:
    """Say which runs may all be the best, and which are shown to be worse."""
    rivals, label = [pair.b if pair.a == best else pair.a for pair in level], metric_label(result.metric)
    pairs = [pair for pair in result.pairs if best in (pair.a, pair.b) and pair.differs]
    worse = [pair.b if pair.a == best else pair.a for pair in pairs]
    shown = f"\n{best} is shown to be better than {listed(worse, MOST)}." if worse else ""
    if len(rivals) > 1:
        names = listed([best, *rivals], MOST)
        return f"Which is the best of {names} is not sure: their differences in {label} may be chance.{shown}"
    pair, n = level[0], result.n_users
    size = "" if pair.relative is None else f" of {100 * abs(pair.relative):.1f} %"
    more = ""
    if pair.users_needed is not None and pair.users_needed > n:
        more = f"\nTo show one of this size takes about {_rounded(pair.users_needed)} users; there are {n:,}."
    text = (
        f"Whether {best} or {rivals[0]} is better is not sure: a difference{size} in {label} may be chance."
    )
    return f"{text}{more}{shown}"


def _rounded(n: int) -> str:
    """Return a number of users with two digits that mean something."""
    digits = len(str(n)) - 2
    return f"{round(n, -digits) if digits > 0 else n:,}"
