"""From judged lists to numbers: every metric at every cutoff, per user and as a mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge._checks import DoubleArray, check_cutoffs, read_only
from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.metrics import UserMetric, check_suite, metric_key


@dataclass(frozen=True, slots=True, eq=False)
class MetricResult:
    """One number with what stands behind it.

    Parameters
    ----------
    key : str
        Such as ``ndcg_at_10``.
    name : str
        The key without its cutoff.
    k : int or None
        The cutoff; None: the whole list.
    value : float
        Finite.
    stderr : float or None
        Standard error of the mean over users; None for one user or a metric without per-user values.
    per_user : ndarray of float64, shape (m,), or None
        NaN where the definition leaves a user out of the mean.
    definition : str
        The canonical text of the definition.
    higher_is_better : bool
    """

    key: str
    name: str
    k: int | None
    value: float
    stderr: float | None
    per_user: DoubleArray | None
    definition: str
    higher_is_better: bool


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """All results of one evaluation.

    Parameters
    ----------
    user_ids : ndarray, shape (m,)
        Ids of the evaluated users; per-user values are aligned with them.
    results : tuple of MetricResult
    counts : mapping of str to int
        Users evaluated and left out.
    """

    user_ids: npt.NDArray[Any]
    results: tuple[MetricResult, ...]
    counts: Mapping[str, int]

    def values(self) -> dict[str, float]:
        """Return ``{key: value}`` in the order of the suite."""
        return {result.key: result.value for result in self.results}

    def stderrs(self) -> dict[str, float]:
        """Return ``{key: standard error}`` for the results that have one."""
        return {result.key: result.stderr for result in self.results if result.stderr is not None}

    def per_user(self, key: str) -> DoubleArray:
        """Return the per-user values of a result, shape (m,), aligned with `user_ids`.

        Raises
        ------
        MetricError
            If there is no such result, or it has no per-user values.
        """
        for result in self.results:
            if result.key == key and result.per_user is not None:
                return result.per_user
        keys = ", ".join(result.key for result in self.results if result.per_user is not None)
        raise MetricError(f"Evaluation: no per-user values called {key!r}; there are {keys}.")

    def definitions(self) -> dict[str, str]:
        """Return ``{key: canonical text of the definition}``."""
        return {result.key: result.definition for result in self.results}


def evaluate_lists(
    metrics: Mapping[str, UserMetric],
    judged: JudgedTopK,
    *,
    cutoffs: Sequence[int],
    user_ids: npt.NDArray[Any],
    n_without_relevant: int = 0,
) -> Evaluation:
    """Compute every metric at every cutoff from one set of lists.

    Parameters
    ----------
    metrics : mapping of str to UserMetric
        Result name to definition.
    judged : JudgedTopK
    cutoffs : sequence of int
        Each >= 1.
    user_ids : ndarray
        Ids of all user codes.
    n_without_relevant : int
        Users left out since they have no relevant item; only counted.

    Returns
    -------
    Evaluation

    Raises
    ------
    ConfigError
        If a name or a cutoff cannot be used.
    MetricError
        If a value is not finite.
    """
    ks = check_cutoffs("cutoffs", cutoffs)
    suite = check_suite(metrics)
    results = tuple(_result(name, metric, judged, k) for name, metric in suite.items() for k in ks)
    counts = {"users_evaluated": judged.n_users, "users_without_relevant_items": n_without_relevant}
    return Evaluation(user_ids[judged.users], results, counts)


def _result(name: str, metric: UserMetric, judged: JudgedTopK, k: int | None) -> MetricResult:
    key = metric_key(name, k)
    per_user = metric.per_user(judged, k)
    defined = per_user[~np.isnan(per_user)]
    if len(defined) == 0 or not np.isfinite(defined).all():
        raise MetricError(f"{key}: {metric.definition(k)} is undefined for every user or not finite.")
    stderr = float(defined.std(ddof=1) / np.sqrt(len(defined))) if len(defined) > 1 else None
    return MetricResult(
        key,
        name,
        k,
        float(defined.mean()),
        stderr,
        read_only(per_user),
        metric.definition(k),
        metric.higher_is_better,
    )
