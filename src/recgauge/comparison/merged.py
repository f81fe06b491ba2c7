"""Comparison of runs whose users' values do not fit into memory, from sums over parts of the users."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import ceil, exp, factorial, frexp, ldexp, sqrt

import numpy as np

from recgauge.comparison.comparing import check_runs, notes_on
from recgauge.comparison.one_metric import ROUNDING, Measured, few_users
from recgauge.comparison.procedure import Procedure
from recgauge.comparison.results import Comparison, Pair
from recgauge.comparison.tests_of_pairs import sign_p, student_quantile, two_sided_t
from recgauge.comparison.user_sums import UserSums
from recgauge.comparison.user_values import UserValues
from recgauge.data.ids import IdArray
from recgauge.errors import ConfigError
from recgauge.utils.arrow import to_arrow
from recgauge.utils.checks import DoubleArray
from recgauge.utils.randomness import GOLDEN, Words, hash_ids, mix, stream

USUAL = Procedure(correction="holm", interval="normal")
"""What needs no resamples: of so many users the mean is as good as normal."""
_USERS = 4096  # whose weights are drawn at a time
_SHARES = 1 << 16  # parts of 1 in which probabilities of weights are counted


def compare_parts(parts: Iterable[UserValues], procedure: Procedure = USUAL) -> Comparison:
    """Compare runs on their users' values, part by part.

    Equal to `compare` on the values of all users, but for how resamples are drawn: a user's weight in a
    resample, which is Poisson with mean 1, follows from the user's id and the seed. So nothing depends on the
    parts, their order or that of the users.

    Parameters
    ----------
    parts : iterable of UserValues
        All runs' values of some users each, of equal metrics; iterated twice.
    procedure : Procedure
        With an interval that is normal or of percentiles, a correction other than ``max_t``, and the tests t,
        sign and bootstrap.

    Returns
    -------
    Comparison

    Raises
    ------
    ConfigError
        If the procedure has more, or there are no two runs or no two users in common.

    References
    ----------
    .. [1] N. Chamandy, O. Muralidharan, A. Najmi, S. Naidu, "Estimating uncertainty for massive data
       streams", Google, 2012 (Poisson bootstrap).

    Examples
    --------
    >>> from recgauge.comparison import RunValues
    >>> strong, weak, users = np.linspace(0.5, 1.0, 40), np.linspace(0.0, 0.4, 40), np.arange(40)
    >>> parts = [
    ...     UserValues.paired(
    ...         {run: RunValues(users[rows], {"ndcg": values[rows]})
    ...          for run, values in (("a", weak), ("b", strong))},
    ...         {"ndcg": True},
    ...     )
    ...     for rows in (slice(0, 15), slice(15, 40))
    ... ]
    >>> found = compare_parts(parts)
    >>> [(row.run, round(row.mean, 2), row.letters) for row in found.results[0].rows]
    [('b', 0.75, 'a'), ('a', 0.2, 'b')]
    """
    _refuse(procedure)
    if isinstance(parts, Iterator):
        raise TypeError("compare_parts iterates its parts twice; give a list, or what makes them again")
    first = next(iter(parts))
    check_runs(first.runs, procedure)
    largest, n_users = np.zeros(len(first.metrics)), np.zeros(len(first.metrics), np.int64)
    for part in parts:
        for which in range(len(first.metrics)):
            _, values, _ = part.complete(which)
            largest[which] = max(largest[which], np.abs(values).max(initial=0.0))
            n_users[which] += values.shape[1]
    usable = np.flatnonzero(n_users > 1).tolist()
    if not usable:
        raise few_users(first.metrics, n_users)
    sums = {which: _sums(first, which, largest[which], n_users[which], procedure) for which in usable}
    for part in parts:
        for which, of_metric in sums.items():
            of_metric.add(*part.complete(which))
    results = [of_metric.compared(of_metric.n_left_out) for of_metric in sums.values()]
    return Comparison(tuple(results), procedure, (), tuple(notes_on(first.metrics, results, procedure)))


def _refuse(procedure: Procedure) -> None:
    """Refuse what is no sum over users."""
    more = [
        ("interval", procedure.interval, ("normal", "percentile")),
        ("correction", procedure.correction, ("holm", "bh", "none")),
        *(("tests", test, ("t", "sign", "bootstrap")) for test in procedure.tests),
    ]
    for name, value, known in more:
        if value not in known:
            raise ConfigError(
                f"{name}: {value} is no sum over users, so it is not computed in parts; choose one of "
                f"{', '.join(known)}."
            )


@dataclass(eq=False)
class _Sums(Measured):
    """What users add to the comparison of runs by one metric."""

    rounding: float
    unit: float
    of_runs: list[UserSums]
    of_pairs: dict[tuple[int, int], UserSums]
    weighted: DoubleArray
    n_left_out: int = 0

    @property
    def n_compared(self) -> int:
        return self.of_runs[0].n_valued

    def add(self, users: IdArray, values: DoubleArray, n_left_out: int) -> None:
        """Add some users' values, (n_runs, m)."""
        self.n_left_out += n_left_out
        for run, row in enumerate(values):
            self.of_runs[run] += UserSums.of(row)
        for a, b in self.of_pairs:
            differences = values[a] - values[b]
            differences[np.abs(differences) <= self.rounding] = 0.0
            self.of_pairs[a, b] += UserSums.of(differences)
        if len(self.weighted) and len(users):
            words = hash_users(users)
            columns = np.vstack([np.rint(values / self.unit), np.ones(values.shape[1])]).T
            for first in range(0, len(words), _USERS):
                some = slice(first, first + _USERS)
                weights = poisson_weights(words[some], len(self.weighted), self.procedure.seed)
                self.weighted += weights @ columns[some]

    def mean(self, run: int) -> float:
        return self.of_runs[run].mean

    def interval(self, run: int) -> tuple[float, float]:
        return self._interval(self.of_runs[run], self._drawn(run))

    def difference(self, a: int, b: int) -> Pair:
        sums = self.of_pairs[a, b] if a < b else -self.of_pairs[b, a]
        n, deviation = sums.n_valued, sums.stderr * sqrt(sums.n_valued)
        if deviation <= self.rounding:  # every user differs by the same
            deviation = 0.0
        p = {
            "t": two_sided_t(sums.mean, deviation / sqrt(n), n - 1),
            "sign": sign_p(sums.above, sums.above + sums.below),
        }
        drawn = None
        if len(self.weighted):
            drawn = self._drawn(a) - self._drawn(b)
            as_large = int((np.abs(drawn - sums.mean) >= abs(sums.mean) - 2 * self.unit).sum())
            p["bootstrap"] = (as_large + 1) / (len(drawn) + 1)
        gains = sums if self.higher_is_better else -sums
        shares = gains.above / n, (n - gains.above - gains.below) / n, gains.below / n
        p = {test: p[test] for test in self.procedure.tests}
        return self.pair(a, b, sums.mean, deviation, self._interval(sums, drawn), p, shares)

    def _drawn(self, run: int) -> DoubleArray:
        """Return the means of a run in the resamples that have a user."""
        weighted = self.weighted[self.weighted[:, -1] > 0]
        drawn: DoubleArray = weighted[:, run] / weighted[:, -1] * self.unit
        return drawn

    def _interval(self, sums: UserSums, drawn: DoubleArray | None) -> tuple[float, float]:
        if self.procedure.interval == "percentile" and drawn is not None:
            low, high = np.quantile(drawn, [self.procedure.alpha / 2, 1 - self.procedure.alpha / 2])
            return float(low), float(high)
        half = student_quantile((1 + self.procedure.confidence) / 2, sums.n_valued - 1) * sums.stderr
        return sums.mean - half, sums.mean + half


def _sums(part: UserValues, which: int, largest: float, n_users: int, procedure: Procedure) -> _Sums:
    """Return the sums of nobody yet."""
    runs, base = part.runs, procedure.baseline
    drawn = procedure.interval == "percentile" or "bootstrap" in procedure.tests
    return _Sums(
        part.dataset,
        part.metrics[which],
        runs,
        part.higher_is_better[which],
        procedure,
        ROUNDING * largest,
        # weighted sums of whole numbers stay below 2**53, so that they are exact in any order
        ldexp(1.0, frexp(largest)[1] + int(2 * n_users).bit_length() - 52),
        [UserSums.nobody() for _ in runs],
        {
            (a, b): UserSums.nobody()
            for a, b in combinations(range(len(runs)), 2)
            if base is None or base in (runs[a], runs[b])
        },
        np.zeros((procedure.n_resamples if drawn else 0, len(runs) + 1)),
    )


def hash_users(users: IdArray) -> Words:
    """Return 64 bits for each user, whose id may be a number or the same as text, shape (m,)."""
    import pyarrow as pa

    return hash_ids(pa.chunked_array([to_arrow(users)]), as_text=True)


def poisson_weights(words: Words, n_resamples: int, seed: int) -> DoubleArray:
    """Return how often each user is in each resample, Poisson with mean 1, shape (n_resamples, m).

    A weight follows from the user's hash, the seed and the number of the resample alone. Probabilities are
    rounded to 1 in 65,536.

    Examples
    --------
    >>> words = mix(np.arange(10_000, dtype=np.uint64))
    >>> weights = poisson_weights(words, 8, seed=0)
    >>> round(float(weights.mean()), 2), round(float(weights.var()), 1)
    (1.0, 1.0)
    >>> bool((poisson_weights(words[7:9], 8, seed=0) == weights[:, 7:9]).all())
    True
    """
    ends = np.rint(_SHARES * np.cumsum([exp(-1) / factorial(weight) for weight in range(9)])).astype(np.int64)
    ends[-1] = _SHARES
    weight_of = np.repeat(np.arange(9.0), np.diff(ends, prepend=0))
    key = np.uint64(stream(seed, "comparison poisson").integers(2**63))
    blocks = []
    for block in range(ceil(n_resamples / 4)):  # of 16 bits for each of four resamples
        drawn = mix((words ^ key) + np.uint64((block + 1) * int(GOLDEN) % 2**64))
        blocks.append(weight_of[drawn.astype("<u8", copy=False).view("<u2").reshape(-1, 4).T])
    return np.concatenate(blocks)[:n_resamples]
