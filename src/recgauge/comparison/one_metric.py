"""One metric on one data set: every run's mean, every pair's difference."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from recgauge.comparison.claims import metric_claims
from recgauge.comparison.procedure import Procedure, Test
from recgauge.comparison.resampling import bootstrap_interval, normal_interval
from recgauge.comparison.results import MetricComparison, Pair, Repeats, RunRow
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
ROUNDING = 1e-12
"""Of the largest value: two sums of the same terms in another order differ by less."""


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


class MeanDifference(NamedTuple):
    """Two runs of one metric, a - b, before the decision: see `Pair`."""

    mean: float
    low: float
    high: float
    deviation: float  # of the users' differences
    p: dict[str, float]
    better: float
    equal: float
    worse: float
    p_folds: float | None = None


@dataclass(eq=False)
class Measured(ABC):
    """Runs by one metric, from values of users or from sums over them; what is told of them follows."""

    dataset: str
    metric: str
    runs: tuple[str, ...]
    higher_is_better: bool
    procedure: Procedure

    @property
    @abstractmethod
    def n_compared(self) -> int:
        """How many users have a value in every run."""

    @abstractmethod
    def mean(self, run: int) -> float:
        """Return the number of a run."""

    @abstractmethod
    def interval(self, run: int) -> tuple[float, float]:
        """Return the interval of a run's number."""

    @abstractmethod
    def difference(self, a: int, b: int) -> MeanDifference:
        """Return two runs compared."""

    @property
    def repeats(self) -> Mapping[int, Repeats]:
        """What there is of several seeds and folds, by run."""
        return {}

    def corrected(self, found: Mapping[tuple[int, int], MeanDifference]) -> tuple[DoubleArray, float]:
        """Return corrected p-values, and the t from which on a single pair would have differed."""
        first = np.array([one.p[self.procedure.tests[0]] for one in found.values()])
        level = self.procedure.alpha
        if self.procedure.correction == "holm":
            return holm(first), student_quantile(1 - level / (2 * len(found)), self.n_compared - 1)
        adjusted = benjamini_hochberg(first) if self.procedure.correction == "bh" else first
        return adjusted, student_quantile(1 - level / 2, self.n_compared - 1)

    def compared(self, n_left_out: int, *, over_rows: bool = False) -> MetricComparison:
        """Return the leaderboard, the pairs, letters and claims."""
        means = [self.mean(run) for run in range(len(self.runs))]
        sign = 1.0 if self.higher_is_better else -1.0
        order = sorted(range(len(means)), key=lambda run: (-sign * means[run], run))
        places = sorted(set(means), reverse=self.higher_is_better)
        rows = [
            RunRow(
                self.runs[run],
                means[run],
                *self.interval(run),
                self.n_compared,
                is_best=means[run] == places[0],
                is_second=len(places) > 1 and means[run] == places[1],
                repeats=self.repeats.get(run),
            )
            for run in order
        ]
        if self.procedure.baseline is None:
            chosen = list(combinations(order, 2))
        else:
            base = self.runs.index(self.procedure.baseline)
            chosen = [(run, base) for run in order if run != base]
        found = {(a, b): self.difference(a, b) for a, b in chosen}
        adjusted, critical = self.corrected(found)
        pairs = [
            self._decided(a, b, one, means[b], p, critical)
            for ((a, b), one), p in zip(found.items(), adjusted.tolist(), strict=True)
        ]
        if self.procedure.baseline is None:
            place = {run: i for i, run in enumerate(order)}
            different = [
                (place[a], place[b]) for (a, b), pair in zip(chosen, pairs, strict=True) if pair.differs
            ]
            marks = compact_letters(len(rows), different) or [""] * len(rows)
            rows = [replace(row, letters=mark) for row, mark in zip(rows, marks, strict=True)]
        result = MetricComparison(
            self.dataset,
            self.metric,
            self.higher_is_better,
            tuple(rows),
            tuple(pairs),
            self.n_compared,
            n_left_out,
            over_rows=over_rows,
        )
        return replace(result, claims=metric_claims(result, self.procedure))

    def _decided(self, a: int, b: int, one: MeanDifference, base: float, p: float, critical: float) -> Pair:
        """Return a pair with its decision, and what as many users could have decided."""
        n, stderr = self.n_compared, one.deviation / sqrt(self.n_compared)
        detectable = detectable_difference(stderr, n, critical)
        return Pair(
            self.runs[a],
            self.runs[b],
            one.mean,
            one.low,
            one.high,
            stderr,
            relative=one.mean / abs(base) if base else None,
            p=one.p,
            p_adjusted=p,
            differs=p <= self.procedure.alpha,
            effect_size=one.mean / one.deviation if one.deviation else None,
            better=one.better,
            equal=one.equal,
            worse=one.worse,
            detectable=detectable,
            users_needed=users_to_show(one.mean, detectable, n),
            p_folds=one.p_folds,
        )


def compare_metric(
    table: UserValues, which: int, procedure: Procedure, resamples: Resamples
) -> MetricComparison:
    """Compare all runs by the metric at `which`, of which at least two users have a value in every run."""
    _, own, n_left_out = table.complete(which)
    values = own
    if table.shares is not None:
        values = np.ascontiguousarray(table.shares[which][:, np.isfinite(table.values[which]).all(axis=0)])
    metric, higher = table.metrics[which], table.higher_is_better[which]
    rounding = ROUNDING * float(np.abs(values).max())
    measured = _InMemory(
        table.dataset, metric, table.runs, higher, procedure, table, which, values, own, resamples, rounding
    )
    return measured.compared(n_left_out, over_rows=metric in table.pooled)


@dataclass(eq=False)
class _InMemory(Measured):
    """What users with a value in every run contribute, and their own values: (n_runs, m) each."""

    table: UserValues
    which: int
    values: DoubleArray
    own: DoubleArray
    resamples: Resamples
    rounding: float

    @property
    def n_compared(self) -> int:
        return int(self.values.shape[1])

    def mean(self, run: int) -> float:
        return float(self.values[run].mean())

    def interval(self, run: int) -> tuple[float, float]:
        drawn = None if self.resamples.means is None else self.resamples.means[:, run]
        return self._interval(self.values[run], drawn, float(self.resamples.centre[run]))

    @property
    def repeats(self) -> Mapping[int, Repeats]:
        known = {run: self.table.repeats.get((self.metric, name)) for run, name in enumerate(self.runs)}
        return {run: one for run, one in known.items() if one is not None}

    def _interval(
        self, values: DoubleArray, means: DoubleArray | None, observed: float
    ) -> tuple[float, float]:
        method, confidence = self.procedure.interval, self.procedure.confidence
        if method == "normal" or means is None:
            return normal_interval(values, confidence)
        return bootstrap_interval(means, values, confidence, method, observed)

    def difference(self, a: int, b: int) -> MeanDifference:
        differences = self._differences(self.values, a, b)
        mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
        if deviation <= self.rounding:  # every user differs by the same
            deviation = 0.0
        gains = differences if self.own is self.values else self._differences(self.own, a, b)
        gains = gains if self.higher_is_better else -gains
        drawn = None if self.resamples.means is None else _difference(self.resamples.means, a, b)
        observed = float(self.resamples.centre[a] - self.resamples.centre[b])
        return MeanDifference(
            mean,
            *self._interval(differences, drawn, observed),
            deviation,
            {test: self._p(test, differences, gains, a, b) for test in self.procedure.tests},
            float((gains > 0).mean()),
            float((gains == 0).mean()),
            float((gains < 0).mean()),
            self._p_folds(a, b),
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

    def corrected(self, found: Mapping[tuple[int, int], MeanDifference]) -> tuple[DoubleArray, float]:
        return self._by_max_t(found) if self.procedure.correction == "max_t" else super().corrected(found)

    def _by_max_t(self, found: Mapping[tuple[int, int], MeanDifference]) -> tuple[DoubleArray, float]:
        """Compare in units of the root of the mean square, which flipped signs do not change.

        Student's t is a rising function of that statistic, the same for all pairs.
        """
        flipped, observed, n = self.resamples.flipped, self.resamples.observed, self.values.shape[1]
        assert flipped is not None
        scale = np.array(
            [sqrt((n - 1) * (pair.deviation / sqrt(n)) ** 2 + pair.mean**2) for pair in found.values()]
        )
        first, second = (list(side) for side in zip(*found, strict=True))
        per_unit = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
        rows = max(1, _BLOCK_BYTES // (8 * len(found)))
        blocks = (flipped[start : start + rows] for start in range(0, len(flipped), rows))
        resampled = (np.abs(block[:, first] - block[:, second]) * per_unit for block in blocks)
        statistics = np.abs(observed[first] - observed[second]) * per_unit
        rounding = self.resamples.rounding * per_unit + ROUNDING
        adjusted, largest = max_t(statistics, resampled, exact=self.resamples.exact, tolerance=rounding)
        critical = float(np.quantile(largest, self.procedure.confidence))
        rest = 1 - critical**2
        return adjusted, critical * sqrt((n - 1) / rest) if rest > ROUNDING else inf


def _difference(values: DoubleArray, i: int, j: int) -> DoubleArray:
    difference: DoubleArray = values[:, i] - values[:, j]
    return difference
