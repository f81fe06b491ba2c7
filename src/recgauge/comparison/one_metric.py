"""One metric on one data set: every run's mean, every pair's difference."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import inf, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from recgauge.comparison.claims import metric_claims
from recgauge.comparison.resampling import (
    Rounded,
    bootstrap_interval,
    bootstrap_means,
    bootstrap_pooled,
    flipped_sums,
    normal_interval,
)
from recgauge.comparison.results import MetricComparison, Pair, Procedure, Repeats, RunRow, Test, Unit
from recgauge.comparison.tests_of_pairs import (
    UserSums,
    benjamini_hochberg,
    compact_letters,
    corrected_resampled_t,
    detectable_difference,
    holm,
    max_t,
    paired_t,
    sign_test,
    student_quantile,
    two_sided_t,
    users_to_show,
    wilcoxon,
)
from recgauge.comparison.user_values import UserValues
from recgauge.errors import ConfigError
from recgauge.utils.checks import DoubleArray, LongArray

_BLOCK_BYTES = 1 << 25  # of the statistics of all pairs at once: memory must not grow with resamples x pairs
ROUNDING = 1e-12
"""Of the largest value: two sums of the same terms in another order differ by less."""


class PairDifference(NamedTuple):
    """Two runs compared by their users, before the correction for many pairs."""

    mean: float
    deviation: float  # of the users' differences
    interval: tuple[float, float]
    p: dict[str, float]
    better: float  # users for whom the first run is better
    worse: float
    p_folds: float | None = None


@dataclass(eq=False, kw_only=True)
class Measured(ABC):
    """Runs by one metric, from values of users or from sums over them: their rows, pairs and claims.

    The last fields are those of `MetricComparison`, and the repeats of each run.
    """

    dataset: str
    metric: str
    runs: tuple[str, ...]
    higher_is_better: bool
    procedure: Procedure
    n_left_out: int = 0
    over_rows: bool = False
    n_held_out: int | None = None
    repeats: Mapping[str, Repeats] = field(default_factory=dict)
    unit: ClassVar[Unit] = "users"

    @property
    @abstractmethod
    def n_compared(self) -> int:
        """How many users have a value in every run."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The least difference that is not rounding."""

    @abstractmethod
    def mean(self, run: int) -> float:
        """Return the number of a run."""

    @abstractmethod
    def interval(self, run: int) -> tuple[float, float]:
        """Return the interval of a run's number."""

    @abstractmethod
    def difference(self, a: int, b: int) -> PairDifference:
        """Return two runs compared, before the correction."""

    def corrected(self, differences: Mapping[tuple[int, int], PairDifference]) -> tuple[DoubleArray, float]:
        """Return corrected p-values, and the t from which on a single pair would have differed."""
        first = np.array([each.p[self.procedure.tests[0]] for each in differences.values()])
        level = self.procedure.alpha
        if self.procedure.correction == "holm":
            return holm(first), student_quantile(1 - level / (2 * len(differences)), self.n_compared - 1)
        adjusted = benjamini_hochberg(first) if self.procedure.correction == "bh" else first
        return adjusted, student_quantile(1 - level / 2, self.n_compared - 1)

    def n_of(self, run: int) -> int:  # noqa: ARG002 -- seeds are not the same in every run
        """Return how many values a run has."""
        return self.n_compared

    def _pair(self, a: int, b: int, difference: PairDifference, p: float, critical: float) -> Pair:
        n, base, stderr = self.n_compared, self.mean(b), difference.deviation / sqrt(self.n_compared)
        detectable = detectable_difference(stderr, n, critical)
        mean = difference.mean if abs(difference.mean) > self.least else 0.0
        return Pair(
            self.runs[a],
            self.runs[b],
            mean,
            *difference.interval,
            stderr,
            relative=mean / abs(base) if base else None,
            p=difference.p,
            p_adjusted=p,
            differs=p <= self.procedure.alpha,
            effect_size=mean / difference.deviation if difference.deviation else None,
            better=difference.better / n,
            equal=(n - difference.better - difference.worse) / n,
            worse=difference.worse / n,
            detectable=detectable,
            users_needed=users_to_show(mean, detectable, n),
            p_folds=difference.p_folds,
        )

    def compared(self) -> MetricComparison:
        """Return the leaderboard, the pairs, letters and claims."""
        means = [self.mean(run) for run in range(len(self.runs))]
        sign = 1.0 if self.higher_is_better else -1.0
        order = sorted(range(len(means)), key=lambda run: (-sign * means[run], run))
        steps = np.abs(np.diff([means[run] for run in order])) > self.least
        ranks = [0, *np.cumsum(steps).tolist()]  # means that differ by rounding share one
        order = [run for _, run in sorted(zip(ranks, order, strict=True))]
        base = None if self.procedure.baseline is None else self.runs.index(self.procedure.baseline)
        chosen = combinations(order, 2) if base is None else ((run, base) for run in order if run != base)
        differences = {(a, b): self.difference(a, b) for a, b in chosen}
        adjusted, critical = self.corrected(differences)
        pairs = [
            self._pair(*place, differences[place], p, critical)
            for place, p in zip(differences, adjusted.tolist(), strict=True)
        ]
        marks = None
        if base is None:
            differ = [place for place, pair in zip(differences, pairs, strict=True) if pair.differs]
            marks = compact_letters(len(order), [(order.index(a), order.index(b)) for a, b in differ])
        rows = [
            RunRow(
                self.runs[run],
                means[run],
                *self.interval(run),
                self.n_of(run),
                letters=mark,
                is_best=rank == 0,
                is_second=rank == 1,
                repeats=self.repeats.get(self.runs[run]),
            )
            for run, rank, mark in zip(order, ranks, marks or [""] * len(order), strict=True)
        ]
        result = MetricComparison(
            self.dataset,
            self.metric,
            self.higher_is_better,
            tuple(rows),
            tuple(pairs),
            self.n_compared,
            self.n_left_out,
            over_rows=self.over_rows,
            n_held_out=self.n_held_out,
            unit=self.unit,
        )
        return replace(result, claims=metric_claims(result, self.procedure))


def few_users(metrics: Sequence[str], n_users: LongArray) -> ConfigError:
    """Return the error that no metric has two users with a value in every run."""
    return ConfigError(
        "compare: a metric needs at least two users who have a value in every run; "
        + ", ".join(f"{metric}: {n}" for metric, n in zip(metrics, n_users, strict=True))
        + "."
    )


def compare_table(table: UserValues, procedure: Procedure) -> list[MetricComparison]:
    """Compare all runs by each metric of which at least two users have a value in every run."""
    n_complete = np.isfinite(table.values).all(axis=1).sum(axis=1)
    usable = np.flatnonzero(n_complete >= 2)
    if not len(usable):
        raise few_users(table.metrics, n_complete)
    rounded = Rounded.of(table.contributions[usable])
    means = flips = np.empty((0, *rounded.shape))  # none where the procedure needs none
    exact = False
    if procedure.interval != "normal" or "bootstrap" in procedure.tests:
        means = bootstrap_means(rounded, procedure.n_resamples, procedure.seed)
    if procedure.correction == "max_t" or "permutation" in procedure.tests:
        flips, exact = flipped_sums(rounded, procedure.n_resamples, procedure.seed)
    results = []
    for place, row in enumerate(usable.tolist()):
        metric, n = table.metrics[row], int(n_complete[row])
        _, own, n_left_out = table.complete(row)
        values = np.ascontiguousarray(table.contributions[row][:, rounded.used[place]])
        observed = centre = rounded.sums()[place] / n
        drawn = means[:, place]
        if len(drawn) and (parts := table.pooled.get(metric)) is not None:
            drawn, centre = bootstrap_pooled(parts, procedure.n_resamples, procedure.seed)
        measured = _InMemory(
            dataset=table.dataset,
            metric=metric,
            runs=table.runs,
            higher_is_better=table.higher_is_better[row],
            procedure=procedure,
            n_left_out=n_left_out,
            over_rows=metric in table.pooled,
            n_held_out=table.n_held_out,
            repeats={run: each for (key, run), each in table.repeats.items() if key == metric},
            values=values,
            own=own,
            drawn=drawn[np.isfinite(drawn).all(axis=1)],
            observed=observed,
            centre=centre,
            flipped=flips[:, place] / n,
            exact=exact,
            rounding=2 * float(rounded.unit[place]),
            folds=None if table.folds is None else table.folds[row],
        )
        results.append(measured.compared())
    return results


@dataclass(eq=False, kw_only=True)
class _InMemory(Measured):
    """Runs by one metric, from the values of all users.

    Parameters
    ----------
    values, own : ndarray of float64, shape (n_runs, m)
        What users with a value in every run contribute, and their own values.
    drawn : ndarray of float64, shape (n, n_runs)
        Means in samples of users; n is 0 where the procedure needs none, as in `flipped`.
    observed, centre : ndarray of float64, shape (n_runs,)
        Means without random signs and without resampling, each rounded as those with it are.
    flipped : ndarray of float64, shape (n, n_runs)
        Means over users with random signs.
    exact : bool
        Whether all signs were tried.
    rounding : float
        What rounding may have done to `drawn` and `flipped`.
    folds : ndarray of float64, shape (n_runs, n_folds), or None
    """

    values: DoubleArray
    own: DoubleArray
    drawn: DoubleArray
    observed: DoubleArray
    centre: DoubleArray
    flipped: DoubleArray
    exact: bool
    rounding: float
    folds: DoubleArray | None

    @property
    def n_compared(self) -> int:
        return int(self.values.shape[1])

    def mean(self, run: int) -> float:
        return float(self.values[run].mean())

    def interval(self, run: int) -> tuple[float, float]:
        return self._interval(self.values[run], self.drawn[:, run], float(self.centre[run]))

    def _interval(self, values: DoubleArray, means: DoubleArray, observed: float) -> tuple[float, float]:
        method, confidence = self.procedure.interval, self.procedure.confidence
        if method == "normal":
            return normal_interval(values, confidence)
        return bootstrap_interval(means, values, confidence, method, observed)

    def difference(self, a: int, b: int) -> PairDifference:
        differences = _differences(self.values, a, b, self.least)
        mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
        if deviation <= self.least:  # every user differs by the same
            deviation = 0.0
        gains = _differences(self.own, a, b, self.least) * (1 if self.higher_is_better else -1)
        drawn = self.drawn[:, a] - self.drawn[:, b]
        of_folds = None if self.folds is None else self.folds[a] - self.folds[b]
        return PairDifference(
            mean,
            deviation,
            self._interval(differences, drawn, float(self.centre[a] - self.centre[b])),
            {test: self._p(test, differences, gains, a, b) for test in self.procedure.tests},
            int((gains > 0).sum()),
            int((gains < 0).sum()),
            None if of_folds is None else corrected_resampled_t(of_folds),
        )

    @cached_property
    def least(self) -> float:
        return ROUNDING * float(np.abs(self.values).max())

    def _p(self, test: Test, differences: DoubleArray, gains: DoubleArray, i: int, j: int) -> float:
        """Return a p-value: of means from what users contribute, of ranks and signs from their gains."""
        if test == "t":
            return paired_t(differences)
        if test == "wilcoxon":
            return wilcoxon(gains)
        if test == "sign":
            return sign_test(gains)
        if test == "permutation":
            observed = float(self.observed[i] - self.observed[j])
            null, n_observed = self.flipped[:, i] - self.flipped[:, j], 0 if self.exact else 1
        else:
            observed = float(self.centre[i] - self.centre[j])
            null, n_observed = self.drawn[:, i] - self.drawn[:, j] - observed, 1
        n_as_large = int((np.abs(null) >= abs(observed) - self.rounding).sum())
        return (n_as_large + n_observed) / (len(null) + n_observed)

    def corrected(self, differences: Mapping[tuple[int, int], PairDifference]) -> tuple[DoubleArray, float]:
        """Return the same; max-T compares in units of the root of the mean square, which no sign changes.

        Student's t is a rising function of that statistic, the same for all pairs.
        """
        if self.procedure.correction != "max_t":
            return super().corrected(differences)
        flipped, n = self.flipped, self.n_compared
        scale = np.array(
            [sqrt((n - 1) * (each.deviation / sqrt(n)) ** 2 + each.mean**2) for each in differences.values()]
        )
        first, second = (list(side) for side in zip(*differences, strict=True))
        per_unit = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
        rows = max(1, _BLOCK_BYTES // (8 * len(differences)))
        blocks = (flipped[start : start + rows] for start in range(0, len(flipped), rows))
        resampled = (np.abs(block[:, first] - block[:, second]) * per_unit for block in blocks)
        statistics = np.abs(self.observed[first] - self.observed[second]) * per_unit
        rounding = self.rounding * per_unit + ROUNDING
        adjusted, largest = max_t(statistics, resampled, exact=self.exact, tolerance=rounding)
        critical = float(np.quantile(largest, self.procedure.confidence))
        rest = 1 - critical**2
        return adjusted, critical * sqrt((n - 1) / rest) if rest > ROUNDING else inf


@dataclass(eq=False, kw_only=True)
class Sums(Measured):
    """Runs by one metric, from sums over users, which are empty at first.

    Parameters
    ----------
    largest : float
        The largest absolute value of all users.
    """

    largest: float

    def __post_init__(self) -> None:
        base, n = self.procedure.baseline, len(self.runs)
        self._of_runs = [UserSums.nobody() for _ in range(n)]
        self._of_pairs = {
            (a, b): UserSums.nobody()
            for a, b in combinations(range(n), 2)
            if base is None or base in (self.runs[a], self.runs[b])
        }

    @property
    def n_compared(self) -> int:
        """How many users have been added."""
        return self._of_runs[0].n_valued

    def add(self, values: DoubleArray, n_left_out: int) -> None:
        """Add some users' values, (n_runs, m)."""
        self.n_left_out += n_left_out
        for run, row in enumerate(values):
            self._of_runs[run] += UserSums.of(row)
        for a, b in self._of_pairs:
            self._of_pairs[a, b] += UserSums.of(_differences(values, a, b, self.least))

    @property
    def least(self) -> float:
        """The least difference that is not rounding."""
        return ROUNDING * self.largest

    def mean(self, run: int) -> float:
        """Return the mean over the users."""
        return self._of_runs[run].mean

    def interval(self, run: int) -> tuple[float, float]:
        """Return the interval of the mean over the users."""
        return self._interval(self._of_runs[run])

    def _interval(self, sums: UserSums) -> tuple[float, float]:
        half = student_quantile((1 + self.procedure.confidence) / 2, sums.n_valued - 1) * sums.stderr
        return sums.mean - half, sums.mean + half

    def difference(self, a: int, b: int) -> PairDifference:
        """Return two runs compared by the t-test."""
        sums = self._of_pairs[a, b] if a < b else -self._of_pairs[b, a]
        n, deviation = sums.n_valued, sums.stderr * sqrt(sums.n_valued)
        if deviation <= self.least:  # every user differs by the same
            deviation = 0.0
        p = {"t": two_sided_t(sums.mean, deviation / sqrt(n), n - 1)}
        gains = sums if self.higher_is_better else -sums
        return PairDifference(sums.mean, deviation, self._interval(sums), p, gains.above, gains.below)


def _differences(values: DoubleArray, i: int, j: int, least: float) -> DoubleArray:
    """Return differences of two rows, 0 where they are rounding."""
    differences: DoubleArray = values[i] - values[j]
    differences[np.abs(differences) <= least] = 0.0
    return differences
