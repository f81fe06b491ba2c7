"""Comparison of runs whose users' values do not fit into memory, from sums over parts of the users."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, exp, factorial, frexp, ldexp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.comparing import notes_on
from recgauge.comparison.one_metric import concluded, corrected, decided
from recgauge.comparison.procedure import Procedure
from recgauge.comparison.results import Comparison, MetricComparison, Pair, RunRow
from recgauge.comparison.tests_of_pairs import sign_p, student_quantile, two_sided_t
from recgauge.data.ids import encode
from recgauge.errors import ConfigError, listed
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray
from recgauge.utils.exact import Moments
from recgauge.utils.hashed import hash_ids
from recgauge.utils.randomness import GOLDEN, Words, mix, stream

if TYPE_CHECKING:
    import pyarrow as pa

_ROUNDING = 1e-12  # of the largest value: differences that are less count as none
_USERS = 4096  # whose weights are drawn at a time
_SHARES = 1 << 16  # parts of 1 in which probabilities of weights are counted


def compare_parts(
    parts: "Iterable[Mapping[str, pa.Table]]",
    again: "Iterable[Mapping[str, pa.Table]]",
    higher_is_better: Mapping[str, bool],
    procedure: Procedure,
) -> Comparison:
    """Compare runs on their users' values, part by part.

    Equal to `compare` on the values of all users, but for how resamples are drawn: a user's weight in a
    resample, which is Poisson with mean 1, follows from the user's id and the seed. So nothing depends on the
    parts, their order or that of the users.

    Parameters
    ----------
    parts : iterable of mapping of str to pyarrow.Table
        Of each part the runs' values: a column ``user`` and one for each metric; NaN for who is left out.
    again : likewise
        The same parts a second time: values are rounded by the largest before weighted sums are taken.
    higher_is_better : mapping of str to bool
        The metrics to be compared.
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
    >>> import pyarrow as pa
    >>> strong, weak = np.linspace(0.5, 1.0, 40), np.linspace(0.0, 0.4, 40)
    >>> parts = [
    ...     {run: pa.table({"user": np.arange(40)[rows], "ndcg": values[rows]})
    ...      for run, values in (("a", weak), ("b", strong))}
    ...     for rows in (slice(0, 15), slice(15, 40))
    ... ]
    >>> found = compare_parts(parts, parts, {"ndcg": True}, Procedure(interval="normal", correction="holm"))
    >>> [(row.run, round(row.mean, 2), row.letters) for row in found.results[0].rows]
    [('b', 0.75, 'a'), ('a', 0.2, 'b')]
    """
    _refuse(procedure)
    largest: dict[str, float] = dict.fromkeys(higher_is_better, 0.0)
    n_users: dict[str, int] = dict.fromkeys(higher_is_better, 0)
    runs: tuple[str, ...] = ()
    for part in parts:
        runs = tuple(part)
        for metric in higher_is_better:
            _, values, _ = _in_common(part, metric)
            largest[metric] = max(largest[metric], float(np.abs(values).max(initial=0.0)))
            n_users[metric] += values.shape[1]
    if len(runs) < 2:
        raise ConfigError(f"compare: at least two runs are needed, got {listed(runs) or 'none'}.")
    if procedure.baseline is not None and procedure.baseline not in runs:
        raise ConfigError(f"baseline: no run {procedure.baseline!r}; there are {listed(runs)}.")
    usable = [metric for metric, n in n_users.items() if n > 1]
    if not usable:
        raise ConfigError("compare: a metric needs at least two users who have a value in every run.")
    sums = {metric: _Sums(runs, largest[metric], n_users[metric], procedure) for metric in usable}
    for part in again:
        for metric, of_metric in sums.items():
            of_metric.add(*_in_common(part, metric))
    results = [sums[metric].result(metric, higher_is_better[metric]) for metric in usable]
    return Comparison(tuple(results), procedure, (), tuple(notes_on([*higher_is_better], results, procedure)))


def _refuse(procedure: Procedure) -> None:
    """Refuse what is no sum over users."""
    more = [
        ("interval", procedure.interval, ("normal", "percentile")),
        ("correction", procedure.correction, ("holm", "bh", "none")),
        *(("tests", test, ("t", "sign", "bootstrap")) for test in procedure.tests),
    ]
    for name, value, known in more:
        if value not in known:
            raise ConfigError(f"{name}: {value} is not computed in parts; choose one of {', '.join(known)}.")


def _in_common(part: "Mapping[str, pa.Table]", metric: str) -> tuple[Words, DoubleArray, int]:
    """Return hashes of the users with a value in every run, their values (n_runs, m), and how many others."""
    columns = [to_numpy(table.column("user")) for table in part.values()]
    users, codes = encode(list(part), columns, in_order=False)
    values, words = np.full((len(columns), len(users)), np.nan), np.zeros(len(users), np.uint64)
    for row, code, table in zip(values, codes, part.values(), strict=True):
        row[code] = to_numpy(table.column(metric))
        words[code] = hash_ids(table.column("user"), as_text=True)
    known = np.isfinite(values)
    complete = known.all(axis=0)
    return words[complete], values[:, complete], int((known.any(axis=0) & ~complete).sum())


@dataclass
class _PairSums:
    """What users add to the difference of two runs."""

    moments: Moments = field(default_factory=lambda: Moments(0, 0, 0))
    higher: int = 0
    lower: int = 0


class _Sums:
    """What users add to the comparison of runs by one metric."""

    def __init__(self, runs: Sequence[str], largest: float, n_users: int, procedure: Procedure) -> None:
        self.runs, self.procedure, self.n_left_out = runs, procedure, 0
        self.rounding = _ROUNDING * largest
        self.of_runs = [Moments(0, 0, 0) for _ in runs]
        self.of_pairs = {pair: _PairSums() for pair in combinations(range(len(runs)), 2)}
        # weighted sums of whole numbers stay below 2**53, so that they are exact in any order
        self.unit = ldexp(1.0, frexp(largest)[1] + (2 * n_users).bit_length() - 52)
        drawn = procedure.interval == "percentile" or "bootstrap" in procedure.tests
        self.weighted = np.zeros((procedure.n_resamples if drawn else 0, len(runs) + 1))

    def add(self, words: Words, values: DoubleArray, n_left_out: int) -> None:
        """Add some users' values, (n_runs, m)."""
        self.n_left_out += n_left_out
        for run, row in enumerate(values):
            self.of_runs[run] += Moments.of(row)
        for (a, b), sums in self.of_pairs.items():
            differences = values[a] - values[b]
            differences[np.abs(differences) <= self.rounding] = 0.0
            sums.moments += Moments.of(differences)
            sums.higher += int((differences > 0).sum())
            sums.lower += int((differences < 0).sum())
        if len(self.weighted):
            columns = np.vstack([np.rint(values / self.unit), np.ones(values.shape[1])]).T
            for first in range(0, len(words), _USERS):
                some = slice(first, first + _USERS)
                weights = poisson_weights(words[some], len(self.weighted), self.procedure.seed)
                self.weighted += weights @ columns[some]

    def result(self, metric: str, higher: bool) -> MetricComparison:
        """Return the comparison."""
        n, sign = self.of_runs[0].n, 1.0 if higher else -1.0
        means = [moments.mean() for moments in self.of_runs]
        order = sorted(range(len(means)), key=lambda run: (-sign * means[run], run))
        places = sorted(set(means), reverse=higher)
        drawn = self.weighted[:, :-1] / self.weighted[:, -1:] * self.unit if len(self.weighted) else None
        rows = [
            RunRow(
                self.runs[run],
                means[run],
                *self._interval(self.of_runs[run], None if drawn is None else drawn[:, run]),
                n,
                is_best=means[run] == places[0],
                is_second=len(places) > 1 and means[run] == places[1],
            )
            for run in order
        ]
        if self.procedure.baseline is None:
            chosen = list(combinations(order, 2))
        else:
            base = self.runs.index(self.procedure.baseline)
            chosen = [(run, base) for run in order if run != base]
        pairs = [self._pair(a, b, sign, means, drawn) for a, b in chosen]
        adjusted, critical = corrected(pairs, n, self.procedure)
        pairs = [
            decided(pair, p, critical, n, self.procedure)
            for pair, p in zip(pairs, adjusted.tolist(), strict=True)
        ]
        result = MetricComparison("", metric, higher, tuple(rows), tuple(pairs), n, self.n_left_out)
        return concluded(result, self.procedure)

    def _pair(self, a: int, b: int, sign: float, means: Sequence[float], drawn: DoubleArray | None) -> Pair:
        sums = self.of_pairs[min(a, b), max(a, b)]
        moments, higher, lower = sums.moments, sums.higher, sums.lower
        if a > b:
            moments, higher, lower = Moments(moments.n, -moments.total, moments.squares), lower, higher
        n, mean, stderr = moments.n, moments.mean(), moments.stderr() or 0.0
        if stderr * sqrt(n) <= self.rounding:  # every user differs by the same
            stderr = 0.0
        differences = None if drawn is None else drawn[:, a] - drawn[:, b]
        p = {"t": two_sided_t(mean, stderr, n - 1), "sign": sign_p(higher, higher + lower)}
        if differences is not None:
            as_large = int((np.abs(differences - mean) >= abs(mean) - 2 * self.unit).sum())
            p["bootstrap"] = (as_large + 1) / (len(differences) + 1)
        better, worse = (higher, lower) if sign > 0 else (lower, higher)
        return Pair(
            self.runs[a],
            self.runs[b],
            mean,
            *self._interval(moments, differences),
            stderr=stderr,
            relative=mean / abs(means[b]) if means[b] else None,
            p={test: p[test] for test in self.procedure.tests},
            p_adjusted=1.0,
            differs=False,
            effect_size=mean / (stderr * sqrt(n)) if stderr else None,
            better=better / n,
            equal=(n - higher - lower) / n,
            worse=worse / n,
            detectable=None,
            users_needed=None,
        )

    def _interval(self, moments: Moments, drawn: DoubleArray | None) -> tuple[float, float]:
        if self.procedure.interval == "percentile" and drawn is not None:
            low, high = np.quantile(drawn, [self.procedure.alpha / 2, 1 - self.procedure.alpha / 2])
            return float(low), float(high)
        mean, stderr = moments.mean(), moments.stderr() or 0.0
        half = student_quantile((1 + self.procedure.confidence) / 2, moments.n - 1) * stderr
        return mean - half, mean + half


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
