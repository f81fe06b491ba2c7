"""What an evaluation returns: numbers with their definitions, per-user values and counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.errors import MetricError
from recgauge.judging.policies import Policies
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.evaluation.tied import Ties

MetricT = TypeVar("MetricT")


@dataclass(frozen=True, slots=True, eq=False)
class MetricResult:
    """One number with its standard error and the users behind it.

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
        NaN where a policy or the definition leaves a user out of the mean.
    definition : str
        The canonical text of the definition.
    higher_is_better : bool
    n_users : int
        Users whose values make the mean; for a metric of the whole run, users that it saw.
    """

    key: str
    name: str
    k: int | None
    value: float
    stderr: float | None
    per_user: DoubleArray | None
    definition: str
    higher_is_better: bool
    n_users: int


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """All results of one evaluation.

    Parameters
    ----------
    users : ndarray, shape (m,)
        Ids of the users who have a list or relevant items; per-user values are aligned with them.
    results : tuple of MetricResult
    counts : mapping of str to int
        ``users_evaluated`` and how many of them have no relevant item,
        ``users_evaluated_without_relevant_items``; ``users_left_out``; and, counted or not,
        ``users_without_relevant_items`` and ``users_without_list``.
    policies : str
        The canonical text of the policies.
    ties : Ties or None
        Equal scores at the cutoffs; None where nobody looked or scores are not known.
    """

    users: IdArray
    results: tuple[MetricResult, ...]
    counts: Mapping[str, int]
    policies: str = ""
    ties: "Ties | None" = None

    @property
    def user_ids(self) -> IdArray:
        """The same as `users`."""
        return self.users

    def values(self) -> dict[str, float]:
        """Return ``{key: value}`` in the order of the suite."""
        return {result.key: result.value for result in self.results}

    def stderrs(self) -> dict[str, float]:
        """Return ``{key: standard error}`` for the results that have one."""
        return {result.key: result.stderr for result in self.results if result.stderr is not None}

    def per_user(self, key: str) -> DoubleArray:
        """Return the per-user values of a result, shape (m,), aligned with `users`.

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

    def to_frame(self) -> "pd.DataFrame":
        """Return the per-user values: one row per user, one column per key, indexed by user id.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        columns = {result.key: result.per_user for result in self.results if result.per_user is not None}
        return pd.DataFrame(columns, index=pd.Index(self.users, name="user"))


def merge(parts: "list[Evaluation]", keys: list[str]) -> Evaluation:
    """Return evaluations of the same users as one, its results in the order of `keys`."""
    by_key = {result.key: result for part in parts for result in part.results}
    first = parts[0]
    return Evaluation(first.users, tuple(by_key[key] for key in keys), first.counts, first.policies)


def evaluate_or_refuse(
    suite: Mapping[str, MetricT], evaluate: Callable[[Mapping[str, MetricT]], Evaluation]
) -> tuple[Evaluation, dict[str, str]]:
    """Evaluate a suite; leave out the metrics that their own definition refuses.

    A library's definition may raise for a user without a hit, and a correlation within users has no value
    where each has one rating; a long run must not lose its other numbers to that.

    Parameters
    ----------
    suite : mapping of str to Definition or RatingMetric
    evaluate : callable
        Evaluates a suite of the same kind.

    Returns
    -------
    Evaluation
        Of the metrics that have a value.
    dict of str to str
        ``{name: reason}`` of the others.

    Raises
    ------
    MetricError
        If no metric has a value.
    """
    try:
        return evaluate(suite), {}
    except MetricError:
        pass  # one of them; the rest is worth the time of asking one by one
    done, refused = [], {}
    for name, definition in suite.items():
        try:
            done.append(evaluate({name: definition}))
        except MetricError as error:
            refused[name] = str(error).removeprefix(f"{name}: ")
    if not done:
        raise MetricError("No metric of the suite has a value: " + " ".join(refused.values()))
    return merge(done, [result.key for part in done for result in part.results]), refused


def rounded(values: DoubleArray, policies: Policies) -> DoubleArray:
    """Return `values` with the decimals that the policies keep, all of them where they say nothing.

    Examples
    --------
    >>> values = np.array([0.003125])
    >>> rounded(values, Policies(round=5)), rounded(values, Policies(round=5, rounding="printf"))
    (array([0.00312]), array([0.00313]))
    """
    if policies.round is None:
        return values
    if policies.rounding == "numpy":
        return np.round(values, policies.round)
    # Python rounds the binary number itself, and halves to even, as printf of C does
    return np.array([round(value, policies.round) for value in values.tolist()], np.float64)


def mean_and_stderr(values: DoubleArray) -> tuple[float, float | None]:
    """Return the mean and its standard error, None for a single value."""
    if len(values) == 1:
        return float(values[0]), None
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
