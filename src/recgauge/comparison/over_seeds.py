"""Conditions compared by the numbers of their seeds: Welch's t-test, paired where seeds are the same."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from recgauge.comparison.conditions import Condition
from recgauge.comparison.one_metric import ROUNDING, Measured, PairDifference
from recgauge.comparison.resampling import normal_interval
from recgauge.comparison.results import Comparison, Pair, Procedure, Repeats, Unit, check_baseline
from recgauge.comparison.tests_of_pairs import (
    corrected_resampled_t,
    detectable_difference,
    student_quantile,
    two_sided_t,
)
from recgauge.errors import ConfigError, listed
from recgauge.utils.checks import DoubleArray

_MOST_SEEDS = 10_000
"""More than these are said to be needed of no pair."""


def compare_over_seeds(
    conditions: Sequence[Condition], metrics: Mapping[str, bool], procedure: Procedure
) -> Comparison:
    """Compare conditions by the mean of their runs, whose deviation over seeds or folds is chance.

    Parameters
    ----------
    conditions : sequence of Condition
        Those of one run alone are left out, and a note says so.
    metrics : mapping of str to bool
        Which all runs have, and whether more is better.
    procedure : Procedure
        With normal intervals, the t-test, and any correction but ``max_t``.

    Raises
    ------
    ConfigError
        If there are no two conditions of several runs on a data set, or the procedure has more.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population variances
       are involved", Biometrika 34, 1947.

    Examples
    --------
    >>> from recgauge.comparison.conditions import LoggedRun
    >>> def condition(name, *values):
    ...     runs = {f"seed {i}": LoggedRun("", "", {}, {"f1": value}) for i, value in enumerate(values)}
    ...     return Condition(name, "", runs)
    >>> svd, ease = condition("svd", 0.50, 0.54), condition("ease", 0.60, 0.65, 0.61)
    >>> result = compare_over_seeds([svd, ease], {"f1": True}, Procedure(None, "holm", interval="normal"))
    >>> [(row.run, round(row.mean, 2), row.n_users) for row in result.results[0].rows]
    [('ease', 0.62, 3), ('svd', 0.52, 2)]
    """
    if procedure.correction == "max_t" or procedure.interval != "normal" or procedure.tests != ("t",):
        raise ConfigError(
            "--correction max_t, --interval bca or percentile, and --tests other than t need values of "
            "users, and a seed has one number. Leave them out."
        )
    several = [each for each in conditions if len(each.runs) > 1]
    alone = [each for each in conditions if len(each.runs) == 1]
    sizes = Counter(each.dataset for each in several)
    if max(sizes.values(), default=0) < 2:
        has = listed([f"{each.name}: {len(each.runs)}" for each in conditions], most=6)
        if len(conditions) == 1:
            has = f"all {len(conditions[0].runs)} runs that are chosen, as one"
        raise ConfigError(
            f"a comparison over seeds needs two conditions of two runs each; there are {has}. Runs that "
            "differ in a seed or fold alone are one condition: log the seed as a param, or name the params "
            "and tags that differ from repeat to repeat, --over NAME,NAME."
        )
    notes = [f"{name} is left out, with one condition of seeds" for name, n in sizes.items() if n < 2]
    results = []
    for dataset in (name for name, n in sizes.items() if n > 1):
        own = [each for each in several if each.dataset == dataset]
        names = tuple(each.name for each in own)
        check_baseline(procedure.baseline, names)
        for key, higher in metrics.items():
            values = [each.values(key) for each in own]
            folds = all(each.of_folds for each in own)
            repeats = [Repeats.of(list(numbers.values()), list(numbers)) for numbers in values]
            measured = _OverSeeds(
                dataset=dataset,
                metric=key,
                runs=names,
                higher_is_better=higher,
                procedure=procedure,
                repeats=dict(zip(names, repeats, strict=True)),
                values=values,
                folds=folds,
            )
            results.append(measured.compared())
            idle = [name for name, each in measured.repeats.items() if len({*each.means}) == 1]
            notes += [f"{name}: all its seeds have one {key}, which says nothing of chance" for name in idle]
    if alone:
        key = next(iter(metrics))
        texts = [f"{each.name} ({next(iter(each.values(key).values())):.4f})" for each in alone]
        notes.append(f"one run alone, so not compared: {listed(texts, most=8)}")
    return Comparison(tuple(results), procedure, notes=tuple(dict.fromkeys(notes)))


class _Error(NamedTuple):
    """What two conditions differ by, and how sure that is."""

    variances: DoubleArray  # of the paired differences, or of each side
    sizes: DoubleArray
    gains: DoubleArray  # of each seed, or of each pair of seeds

    def at(self, sizes: DoubleArray) -> tuple[float, float]:
        """Return the standard error and the degrees of freedom of Welch and Satterthwaite."""
        terms = self.variances / sizes
        total = float(terms.sum())
        return sqrt(total), total**2 / float((terms**2 / (sizes - 1)).sum()) if total else float(sizes[0] - 1)


@dataclass(eq=False, kw_only=True)
class _OverSeeds(Measured):
    """Conditions by one metric.

    Parameters
    ----------
    values : sequence of mapping of str to float
        Of each condition, by seed.
    folds : bool
        Whether these are folds, whose training rows overlap.
    """

    values: Sequence[Mapping[str, float]]
    folds: bool
    unit: ClassVar[Unit] = "seeds"

    @property
    def n_compared(self) -> int:
        return min(map(len, self.values))

    @property
    def least(self) -> float:
        return ROUNDING * max(abs(value) for values in self.values for value in values.values())

    def n_of(self, run: int) -> int:
        return len(self.values[run])

    def mean(self, run: int) -> float:
        return float(np.mean([*self.values[run].values()]))

    def interval(self, run: int) -> tuple[float, float]:
        return normal_interval(np.array([*self.values[run].values()]), self.procedure.confidence)

    def _error(self, a: int, b: int) -> _Error:
        first, second = self.values[a], self.values[b]
        left, right = (np.array([*values.values()]) for values in (first, second))
        if first.keys() == second.keys():
            gains = left - np.array([second[text] for text in first])
            gains[np.abs(gains) <= ROUNDING * np.abs(left).max()] = 0.0
            sides = [gains]
        else:
            gains, sides = np.subtract.outer(left, right).ravel(), [left, right]
        variances = np.array([side.var(ddof=1) for side in sides])
        variances[variances <= (ROUNDING * np.abs(left).max()) ** 2] = 0.0
        return _Error(variances, np.array([float(len(side)) for side in sides]), gains)

    def difference(self, a: int, b: int) -> PairDifference:
        error = self._error(a, b)
        mean = self.mean(a) - self.mean(b)
        stderr, degrees = error.at(error.sizes)
        half = student_quantile((1 + self.procedure.confidence) / 2, degrees) * stderr
        gains = error.gains if self.higher_is_better else -error.gains
        shares = (self.n_compared * float(np.mean(gains > 0)), self.n_compared * float(np.mean(gains < 0)))
        p_folds = None
        if self.folds and len(error.sizes) == 1:
            p_folds = corrected_resampled_t(error.gains)
        p = {"t": two_sided_t(mean, stderr, degrees) if stderr else 1.0}
        return PairDifference(
            mean, stderr * sqrt(self.n_compared), (mean - half, mean + half), p, *shares, p_folds
        )

    def _pair(self, a: int, b: int, difference: PairDifference, p: float, critical: float) -> Pair:
        """Return a pair, whose power grows with the degrees of freedom, too."""
        pair = super()._pair(a, b, difference, p, critical)
        error, n_runs = self._error(a, b), len(self.values)
        if not error.variances.any():  # nothing varies, which says nothing of chance
            return replace(pair, detectable=None, users_needed=None)
        n_pairs = comb(n_runs, 2) if self.procedure.baseline is None else n_runs - 1
        share = self.procedure.alpha / (2 * (n_pairs if self.procedure.correction == "holm" else 1))

        def detectable(sizes: DoubleArray) -> float | None:
            stderr, degrees = error.at(sizes)
            return detectable_difference(stderr, degrees + 1, student_quantile(1 - share, degrees))

        def shows(n: int) -> bool:
            least = detectable(np.full(len(error.sizes), float(n)))
            return least is not None and least <= abs(pair.difference)

        n = 2 + bisect_left(range(2, _MOST_SEEDS), True, key=shows)
        needed = n if pair.difference and n < _MOST_SEEDS else None
        return replace(pair, detectable=detectable(error.sizes), users_needed=needed)
