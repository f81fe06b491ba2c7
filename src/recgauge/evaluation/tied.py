"""What equal scores do to an evaluation: whose lists they cut, and the mean over random orders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from recgauge.conventions import Definition
from recgauge.data.relevance import Relevant
from recgauge.data.top_k import TopK
from recgauge.errors import ConfigError, MetricError
from recgauge.evaluation.results import Evaluation, MetricResult, mean_and_stderr
from recgauge.judging.ties import tied_rows
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, read_only


@dataclass(frozen=True, slots=True)
class Ties:
    """Equal scores at the cutoffs of an evaluation.

    Parameters
    ----------
    shares : mapping of int to float
        Cutoff to the share of users whose k-th item scores as one that is known to follow it.
    open : float
        Share of users whose list ends with equal scores and nobody knows whether more of them follow, as in
        lists from outside.
    expected : mapping of str to float
        Result key to the expected value over random orders of equal scores, for metrics with a formula;
        empty if no cutoff falls inside a tie.
    """

    shares: Mapping[int, float]
    open: float
    expected: Mapping[str, float] = field(default_factory=dict)

    @property
    def largest(self) -> float:
        """The share at the largest cutoff."""
        return self.shares[max(self.shares)] if self.shares else 0.0


def ties_at_cutoffs(
    suite: Mapping[str, Definition],
    top_k: TopK,
    relevant: Relevant,
    *,
    cutoffs: Sequence[int | None],
    measure: Callable[[Mapping[str, Definition]], Evaluation],
) -> Ties:
    """Look for equal scores at the cutoffs.

    Parameters
    ----------
    suite : mapping of str to Definition
        The evaluation's metrics.
    top_k : TopK
    relevant : Relevant
    cutoffs : sequence of int or None
        None, the whole list, is none.
    measure : callable
        Evaluates a suite of the same kind on the lists.

    Returns
    -------
    Ties
    """
    rows = _counted(top_k, relevant, suite)
    ks = [k for k in cutoffs if k is not None]
    items, scores, beyond = top_k.items[rows], top_k.scores[rows], top_k.beyond
    if not len(items):
        return Ties(dict.fromkeys(ks, 0.0), 0.0)
    more = np.zeros(len(items), bool) if beyond is None else beyond.size[rows] > 0
    shares = {k: float(_cut_at(k, items, scores, more).mean()) for k in ks}
    is_open = np.zeros(len(items), bool) if beyond is not None else _ends_tied(items, scores)
    expected: dict[str, float] = {}
    exact = {
        name: replace(definition, policies=replace(definition.policies, ties="expected"))
        for name, definition in suite.items()
        if definition.metric.has_expected
    }
    if exact and any(shares.values()):
        try:
            expected = measure(exact).values()
        except MetricError:  # a definition refuses these lists; the evaluation itself says so
            expected = {}
    return Ties(shares, float(is_open.mean()), expected)


def _counted(top_k: TopK, relevant: Relevant, suite: Mapping[str, Definition]) -> LongArray | slice:
    """Return the rows of lists of users who count."""
    if any(definition.policies.no_relevant == "zero" for definition in suite.values()):
        return slice(None)
    judged = relevant.users[np.diff(relevant.start) > 0]
    if np.array_equal(judged, top_k.users):
        return slice(None)
    return np.flatnonzero(np.isin(top_k.users, judged))


def _cut_at(k: int, items: IntArray, scores: npt.NDArray[np.floating], more: BoolArray) -> BoolArray:
    width = items.shape[1]
    if k == width:
        return more
    if k > width:
        return np.zeros(len(items), bool)
    cut: BoolArray = (items[:, k] >= 0) & (scores[:, k] == scores[:, k - 1])
    return cut


def _ends_tied(items: IntArray, scores: npt.NDArray[np.floating]) -> BoolArray:
    """Return which lists end with two equal scores at least."""
    last = np.maximum((items >= 0).sum(axis=1) - 1, 0)
    rows = np.arange(len(items))
    tied: BoolArray = (last > 0) & (scores[rows, last] == scores[rows, np.maximum(last - 1, 0)])
    return tied


def check_scores_known(top_k: TopK, ties: str | None) -> bool:
    """Return whether lists came with scores; where they did not, refuse a way of ties that needs them.

    Raises
    ------
    ConfigError
        If `ties` is more than the order as given and there are no scores.
    """
    known = top_k.scores.strides[0] != 0  # one row for all is made up
    if not known and ties not in (None, "stable"):
        raise ConfigError(
            f"ties={ties} needs scores, and the lists have none: pass scores=..., or a table with scores."
        )
    return known


def any_ties(top_k: TopK) -> bool:
    """Whether some order of equal scores could change a number."""
    beyond = top_k.beyond
    return bool(tied_rows(top_k.items, top_k.scores).any() or (beyond is not None and beyond.size.any()))


def mean_over_orders(measure: Callable[[int], Evaluation], n_draws: int, *, tied: bool) -> Evaluation:
    """Return the mean of evaluations of the same lists with equal scores in several random orders.

    Parameters
    ----------
    measure : callable
        Evaluates the lists in the order of a number.
    n_draws : int
        Orders 0 to ``n_draws - 1``.
    tied : bool
        False: all orders are the same, and one is enough.

    Notes
    -----
    A user's value is the mean over the orders in which there is one.
    """
    first = measure(0)
    moves = {entry.key: _Mean(entry) for entry in first.results}
    for draw in range(1, n_draws if tied else 1):
        for entry in measure(draw).results:
            moves[entry.key].add(entry)
    return replace(first, results=tuple(move.result(n_draws) for move in moves.values()))


class _Mean:
    """A mean of results, as the first and the mean distance from it: exact where all are equal."""

    def __init__(self, first: MetricResult) -> None:
        self._first = first
        self._base = self._values(first)
        self._moved = np.zeros(len(self._base))
        self._count = np.isfinite(self._base).astype(np.float64)

    @staticmethod
    def _values(entry: MetricResult) -> DoubleArray:
        return np.array([entry.value]) if entry.per_user is None else entry.per_user

    def add(self, entry: MetricResult) -> None:
        values = self._values(entry)
        known, new = np.isfinite(values), np.isnan(self._base)
        self._base = np.where(new, values, self._base)
        self._moved[known] += values[known] - self._base[known]
        self._count += known

    def result(self, n_draws: int) -> MetricResult:
        moved = np.divide(self._moved, self._count, out=np.zeros_like(self._moved), where=self._count > 0)
        values = read_only(self._base + moved)
        definition = f"{self._first.definition} (mean over {n_draws} orders)"
        if self._first.per_user is None:
            return replace(self._first, value=float(values[0]), definition=definition)
        defined = values[~np.isnan(values)]
        value, stderr = mean_and_stderr(defined)
        return replace(
            self._first,
            value=value,
            stderr=stderr,
            per_user=values,
            definition=definition,
            n_users=len(defined),
        )
