"""What an evaluation returns: numbers with their definitions, counts, and what equal scores do."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.data.lists import GradeCounts, Relevant
from recgauge.data.meeting import Meeting
from recgauge.errors import MetricError
from recgauge.metrics.names import label
from recgauge.metrics.rating import Pooled
from recgauge.utils.checks import DoubleArray
from recgauge.utils.exact import Moments
from recgauge.utils.notebook import html_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


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
    pooled : Pooled or None
        What each user adds to an error over all ratings, aligned as `per_user`: comparisons resample users.
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
    pooled: Pooled | None = None


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
    meetings : tuple of Meeting
        How many users and items of lists, relevant items and training rows met, where they came with ids.
    grades : GradeCounts or None
        Which rows of relevant items with grades are relevant; None where there are no grades.
    ineligible : Ineligible or None
        How many listed items are unknown, seen or repeats, and what becomes of them; None if none is.
    reversed_lists : str
        That lists from outside are better from their end; empty if they are not.
    truth : Relevant or None
        By what the lists were judged, of which a comparison takes the digest; None: not kept, as of parts.
    """

    users: IdArray
    results: tuple[MetricResult, ...]
    counts: Mapping[str, int]
    policies: str = ""
    ties: "Ties | None" = None
    meetings: tuple[Meeting, ...] = ()
    grades: GradeCounts | None = None
    ineligible: "Ineligible | None" = None
    reversed_lists: str = ""
    truth: Relevant | None = None

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

    def __repr__(self) -> str:
        """Return how many users there are and the first numbers, in a line behind what did not meet."""
        first = [f"{result.key.replace('_at_', '@')} {result.value:.4f}" for result in self.results[:4]]
        more = f", and {len(self.results) - 4} more" if len(self.results) > 4 else ""
        unmet = "".join(f"Warning: {warning}\n" for warning in self.warnings())
        n_users = self.counts.get("users_evaluated", len(self.users))
        return f"{unmet}Evaluation({n_users:,} users: {', '.join(first)}{more})"

    def warnings(self) -> list[str]:
        """Return what did not meet or has no list, grades and items that count for nothing, turned lists."""
        warnings = [meeting.warning for meeting in self.meetings]
        n_users, n_out, n_listless = (
            self.counts.get(f"users_{name}", 0) for name in ("evaluated", "left_out", "without_list")
        )
        if n_listless - n_out > n_users / 2 and "no_list=zero" in self.policies:
            text = f"{n_listless:,} of {n_users + n_out:,} users have no list, and count as 0 where evaluated"
            warnings.append(f"{text}; to leave them out: no_list='skip'")
        warnings += [] if self.grades is None else [self.grades.warning]
        warnings += [] if self.ineligible is None else [self.ineligible.sentence]
        warnings += [self.reversed_lists]
        return [warning for warning in warnings if warning]

    def _repr_html_(self) -> str:
        """Return a row per metric and a column per cutoff: the mean over users ± its standard error."""
        columns: list[int | None] = [*sorted({result.k for result in self.results if result.k is not None})]
        if any(result.k is None for result in self.results):
            columns.append(None)
        cells: dict[str, dict[int | None, str]] = {}
        for result in self.results:
            error = "" if result.stderr is None else f" ± {result.stderr:.4f}"
            cells.setdefault(result.name, {})[result.k] = f"{result.value:.4f}{error}"
        header = ["metric", *("value" if k is None else f"@{k}" for k in columns)]
        rows = [[name, *(values.get(k, "") for k in columns)] for name, values in cells.items()]
        n_left_out = self.counts.get("users_left_out", 0)
        left_out = f", {n_left_out:,} left out" if n_left_out else ""
        users = f"{self.counts.get('users_evaluated', len(self.users)):,} users{left_out}"
        return html_table(rows, header, [*self.warnings(), f"Mean over {users} ± its standard error."])


def merge(parts: Sequence[Evaluation], keys: Iterable[str]) -> Evaluation:
    """Return evaluations of the same users as one, its results in the order of `keys`, if there are such."""
    by_key = {result.key: result for part in parts for result in part.results}
    first = parts[0]
    results = tuple(by_key[key] for key in keys if key in by_key)
    return Evaluation(first.users, results, first.counts, first.policies)


def mean_and_stderr(values: DoubleArray) -> tuple[float, float | None]:
    """Return the mean and its standard error, None for a single value."""
    if not np.isfinite(values).all():
        return float(values.mean()), None
    moments = Moments.of(values)
    return moments.mean(), moments.stderr()


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


@dataclass(frozen=True, slots=True)
class Ineligible:
    """Items of lists from outside that no list should hold, and what the choice of their policy is worth.

    Parameters
    ----------
    counts : dict of str to int
        How many listed items are ``unknown``, ``seen`` or ``repeats``; only those that there are.
    policies : dict of str to str
        What becomes of them, see `Policies`.
    n_items : int
        All listed items.
    instead : str
        Another policy for all of them.
    key : str
        The result that is judged once more: the metric and cutoff to read first.
    difference : float or None
        The result under that policy less the result; None if it has no value.
    """

    counts: dict[str, int]
    policies: dict[str, str]
    n_items: int
    instead: str = ""
    key: str = ""
    difference: float | None = None

    @property
    def sentence(self) -> str:
        """Return the counts, the policies and the difference in one line."""
        texts = [
            f"{name} {count:,} ({count / self.n_items:.1%}): {self.policies[name]}"
            for name, count in self.counts.items()
        ]
        if self.difference is not None:
            texts.append(f"{self.instead} instead: {label(self.key)} {self.difference:+.4f}")
        if self.counts.get("seen", 0) > self.n_items / 2 and self.policies["seen"] != "hit":
            texts.append("most items are training rows of the user: are these exchanged with the truth?")
        return "; ".join(texts)


_KEY = b"recgauge"


def described(schema: "pa.Schema", about: Mapping[str, Any]) -> "pa.Schema":
    """Return a schema that says, as JSON in its metadata, what its columns hold."""
    return schema.with_metadata({_KEY: json.dumps(about, ensure_ascii=False)})


def about_values(schema: "pa.Schema") -> dict[str, Any]:
    """Return what `described` wrote; nothing of tables that others have made.

    Examples
    --------
    >>> import pyarrow as pa
    >>> about_values(described(pa.schema([("user", pa.int64())]), {"run": "svd"}))
    {'run': 'svd'}
    """
    try:
        about = json.loads((schema.metadata or {}).get(_KEY, b"{}"))
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}
