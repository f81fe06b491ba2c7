"""One metric on one data set: every run's mean, every pair's difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from recgauge.comparison.claims import metric_claims
from recgauge.comparison.procedure import Procedure, Test
from recgauge.comparison.resampling import bootstrap_interval, normal_interval
from recgauge.comparison.results import MetricComparison, Pair, RunRow
from recgauge.comparison.tests_of_pairs import (
    benjamini_hochberg,
    compact_letters,
    corrected_resampled_t,
    detectable_difference,
    holm,
    max_t,
    paired_t,
    sign_test,
    student_quantile,
    users_to_show,
    wilcoxon,
)
from recgauge.comparison.user_values import UserValues
from recgauge.utils.checks import DoubleArray

_BLOCK_BYTES = 1 << 25  # of the statistics of all pairs at once: memory must not grow with resamples x pairs
_ROUNDING = 1e-12  # two sums of the same terms in another order differ by less


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """What resampling gave for one metric.

    Parameters
    ----------
    means : ndarray of float64, shape (n, n_runs), or None
        In samples of users.
    observed : ndarray of float64, shape (n_runs,)
        The means of what users contribute, rounded as those with random signs are.
    centre : ndarray of float64, shape (n_runs,)
        The numbers without resampling, rounded as those of the samples are: of metrics over all rows they
        are not `observed`.
    flipped : ndarray of float64, shape (n, n_runs), or None
        Sums over users with random signs, divided by the number of users.
    exact : bool
        Whether all signs were tried.
    rounding : float
        What rounding may have done to a mean.
    """

    means: DoubleArray | None
    observed: DoubleArray
    centre: DoubleArray
    flipped: DoubleArray | None
    exact: bool
    rounding: float


def compare_metric(
    table: UserValues, which: int, procedure: Procedure, resamples: Resamples
) -> MetricComparison:
    """Compare all runs by the metric at `which`, of which at least two users have a value in every run."""
    known = np.isfinite(table.values[which])
    complete = known.all(axis=0)
    own = np.ascontiguousarray(table.values[which][:, complete])
    values = own if table.shares is None else np.ascontiguousarray(table.shares[which][:, complete])
    higher = table.higher_is_better[which]
    sign, rounding = 1.0 if higher else -1.0, _ROUNDING * float(np.abs(values).max())
    measure = _Measure(table, which, values, own, procedure, resamples, sign, rounding)
    rows, pairs = measure.rows(), measure.pairs()
    result = MetricComparison(
        table.dataset,
        table.metrics[which],
        higher,
        tuple(rows),
        tuple(pairs),
        values.shape[1],
        int((known.any(axis=0) & ~complete).sum()),
        over_rows=table.metrics[which] in table.pooled,
    )
    return concluded(result, procedure)


def concluded(result: MetricComparison, procedure: Procedure) -> MetricComparison:
    """Return a comparison with the letters of its runs and its claims."""
    if procedure.baseline is None:
        place = {row.run: i for i, row in enumerate(result.rows)}
        different = [(place[pair.a], place[pair.b]) for pair in result.pairs if pair.differs]
        marks = compact_letters(len(result.rows), different)
        if marks is not None:
            lettered = (replace(row, letters=mark) for row, mark in zip(result.rows, marks, strict=True))
            result = replace(result, rows=tuple(lettered))
    return replace(result, claims=metric_claims(result, procedure))


def corrected(pairs: Sequence[Pair], n_users: int, procedure: Procedure) -> tuple[DoubleArray, float]:
    """Return p-values of the first test, corrected, and the t from which on a pair would have differed."""
    first = np.array([pair.p[procedure.tests[0]] for pair in pairs])
    if procedure.correction == "holm":
        return holm(first), student_quantile(1 - procedure.alpha / (2 * len(pairs)), n_users - 1)
    adjusted = benjamini_hochberg(first) if procedure.correction == "bh" else first
    return adjusted, student_quantile(1 - procedure.alpha / 2, n_users - 1)


def decided(pair: Pair, p_adjusted: float, critical: float, n_users: int, procedure: Procedure) -> Pair:
    """Return a pair with its decision, and what as many users could have decided."""
    detectable = detectable_difference(pair.stderr, n_users, critical)
    users = users_to_show(pair.difference, detectable, n_users)
    differs = p_adjusted <= procedure.alpha
    return replace(pair, p_adjusted=p_adjusted, differs=differs, detectable=detectable, users_needed=users)


@dataclass(frozen=True, slots=True, eq=False)
class _Measure:
    """What users with a value in every run contribute, and their own values: (n_runs, m) each."""

    table: UserValues
    which: int
    values: DoubleArray
    own: DoubleArray
    procedure: Procedure
    resamples: Resamples
    sign: float
    rounding: float

    def order(self) -> list[int]:
        """Return runs by their means, best first; equal ones as they were given."""
        means = self.values.mean(axis=1)
        return sorted(range(len(means)), key=lambda i: (-self.sign * means[i], i))

    def rows(self) -> list[RunRow]:
        """Return the leaderboard, without letters."""
        means = self.values.mean(axis=1).tolist()
        places = sorted(set(means), reverse=self.sign > 0)
        drawn, observed = self.resamples.means, self.resamples.centre
        return [
            RunRow(
                self.table.runs[i],
                means[i],
                *self._interval(self.values[i], None if drawn is None else drawn[:, i], observed[i]),
                self.values.shape[1],
                is_best=means[i] == places[0],
                is_second=len(places) > 1 and means[i] == places[1],
                repeats=self.table.repeats.get((self.table.metrics[self.which], self.table.runs[i])),
            )
            for i in self.order()
        ]

    def pairs(self) -> list[Pair]:
        """Return the pairs that are compared, with corrected p-values."""
        order = self.order()
        if self.procedure.baseline is None:
            chosen = [(i, j) for place, i in enumerate(order) for j in order[place + 1 :]]
        else:
            base = self.table.runs.index(self.procedure.baseline)
            chosen = [(i, base) for i in order if i != base]
        found = [self._pair(i, j) for i, j in chosen]
        adjusted, critical = self._corrected(chosen, found)
        n, decisions = self.values.shape[1], zip(found, adjusted.tolist(), strict=True)
        return [decided(pair, p, critical, n, self.procedure) for pair, p in decisions]

    def _interval(
        self, values: DoubleArray, means: DoubleArray | None, observed: float
    ) -> tuple[float, float]:
        method, confidence = self.procedure.interval, self.procedure.confidence
        if method == "normal" or means is None:
            return normal_interval(values, confidence)
        return bootstrap_interval(means, values, confidence, method, observed)

    def _pair(self, i: int, j: int) -> Pair:
        """Return two runs compared, p-values not corrected."""
        values = self.values
        differences = self._differences(values, i, j)
        mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
        if deviation <= self.rounding:  # every user differs by the same
            deviation = 0.0
        base, n = float(values[j].mean()), len(differences)
        gains = self.sign * (differences if self.own is values else self._differences(self.own, i, j))
        better, worse = float((gains > 0).mean()), float((gains < 0).mean())
        drawn = None if self.resamples.means is None else _difference(self.resamples.means, i, j)
        observed = float(self.resamples.centre[i] - self.resamples.centre[j])
        return Pair(
            self.table.runs[i],
            self.table.runs[j],
            mean,
            *self._interval(differences, drawn, observed),
            stderr=deviation / sqrt(n),
            relative=mean / abs(base) if base else None,
            p={test: self._p(test, differences, gains, i, j) for test in self.procedure.tests},
            p_adjusted=1.0,
            differs=False,
            effect_size=mean / deviation if deviation else None,
            better=better,
            equal=float((gains == 0).mean()),
            worse=worse,
            detectable=None,
            users_needed=None,
            p_folds=self._p_folds(i, j),
        )

    def _differences(self, values: DoubleArray, i: int, j: int) -> DoubleArray:
        differences: DoubleArray = values[i] - values[j]
        differences[np.abs(differences) <= self.rounding] = 0.0
        return differences

    def _p(self, test: Test, differences: DoubleArray, gains: DoubleArray, i: int, j: int) -> float:
        """Return a p-value: of means from what users contribute, of ranks and signs from their gains."""
        if test == "t":
            return paired_t(differences)
        if test == "wilcoxon":
            return wilcoxon(gains)
        if test == "sign":
            return sign_test(gains)
        if test == "permutation":
            observed = float(self.resamples.observed[i] - self.resamples.observed[j])
            assert self.resamples.flipped is not None
            null, one = _difference(self.resamples.flipped, i, j), 0 if self.resamples.exact else 1
        else:
            assert self.resamples.means is not None
            observed = float(self.resamples.centre[i] - self.resamples.centre[j])
            null, one = _difference(self.resamples.means, i, j) - observed, 1
        n_as_large = int((np.abs(null) >= abs(observed) - self.resamples.rounding).sum())
        return (n_as_large + one) / (len(null) + one)

    def _p_folds(self, i: int, j: int) -> float | None:
        if self.table.folds is None:
            return None
        folds = self.table.folds[self.which]
        return corrected_resampled_t(folds[i] - folds[j], test_share=1 / folds.shape[1])[0]

    def _corrected(
        self, chosen: Sequence[tuple[int, int]], pairs: Sequence[Pair]
    ) -> tuple[DoubleArray, float]:
        """Return corrected p-values, and the t from which on a single pair would have differed."""
        if self.procedure.correction == "max_t":
            return self._by_max_t(chosen, pairs)
        return corrected(pairs, self.values.shape[1], self.procedure)

    def _by_max_t(
        self, chosen: Sequence[tuple[int, int]], pairs: Sequence[Pair]
    ) -> tuple[DoubleArray, float]:
        """Compare in units of the root of the mean square, which flipped signs do not change.

        Student's t is a rising function of that statistic, the same for all pairs.
        """
        flipped, observed, n = self.resamples.flipped, self.resamples.observed, self.values.shape[1]
        assert flipped is not None
        scale = np.array([sqrt((n - 1) * pair.stderr**2 + pair.difference**2) for pair in pairs])
        first, second = (list(side) for side in zip(*chosen, strict=True))
        per_unit = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
        rows = max(1, _BLOCK_BYTES // (8 * len(pairs)))
        blocks = (flipped[start : start + rows] for start in range(0, len(flipped), rows))
        resampled = (np.abs(block[:, first] - block[:, second]) * per_unit for block in blocks)
        found = np.abs(observed[first] - observed[second]) * per_unit
        rounding = self.resamples.rounding * per_unit + _ROUNDING
        adjusted, largest = max_t(found, resampled, exact=self.resamples.exact, tolerance=rounding)
        critical = float(np.quantile(largest, self.procedure.confidence))
        rest = 1 - critical**2
        return adjusted, critical * sqrt((n - 1) / rest) if rest > _ROUNDING else inf


def _difference(values: DoubleArray, i: int, j: int) -> DoubleArray:
    difference: DoubleArray = values[:, i] - values[:, j]
    return difference
