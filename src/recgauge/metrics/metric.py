"""The contracts of metrics, each a frozen dataclass of its parameters, and the counts that they divide by."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal, TypeVar

import numpy as np

from recgauge.errors import ConfigError
from recgauge.judging import JudgedTopK
from recgauge.judging.ties import TiedGains
from recgauge.utils.checks import Checked, DoubleArray

Kind = Literal["lists", "ratings", "full rankings", "class labels"]
"""What a metric measures; full rankings are those of all candidates."""

Value = TypeVar("Value")


@dataclass(frozen=True)
class Metric(Checked, ABC):
    """A definition with all its parameters; equal parameters make equal metrics.

    A metric knows no cutoff: the suite's cutoffs apply to all its metrics, and one set of lists serves all.

    Raises
    ------
    ConfigError
        If a field whose type is a ``Literal`` or ``bool`` holds another value, or a number is out of range.
    """

    kind: ClassVar[Kind]
    """What it measures, and so which function evaluates it."""

    name: ClassVar[str]
    """Default start of the result's key, as in ``ndcg_at_10``."""
    label: ClassVar[str]
    """How the metric is written for people, as in ``nDCG``."""
    higher_is_better: ClassVar[bool] = True
    needs_relevant: ClassVar[bool] = True
    """False: the metric looks at lists only, so users without relevant items count too."""
    needs_all_users: ClassVar[bool] = False
    """True: a run makes lists for all users of the test part for this metric, not only for evaluated ones."""

    @property
    def smallest_k(self) -> int:
        """The smallest cutoff at which the metric can have a value; smaller ones are left out of a suite."""
        return 1

    @property
    def needs(self) -> frozenset[str]:
        """What the lists' catalogue must hold: "train", "features", "similarity" or its size, "n_items"."""
        return frozenset()

    def definition(self, k: int | None = None) -> str:
        """Return the canonical text of the definition.

        Parameters
        ----------
        k : int, optional
            The cutoff; None for the whole list.

        Returns
        -------
        str
            Such as ``nDCG(gain=linear, discount=log2, ideal=at_k)@10``; a side setting appears only where
            it is not at its default.
        """
        settings = ", ".join(
            f"{f.name}={value:g}" if isinstance(value, float) else f"{f.name}={value}"
            for f in fields(self)
            if (value := getattr(self, f.name)) != f.default or "quiet" not in f.metadata
        )
        return self.label + (f"({settings})" if settings else "") + ("" if k is None else f"@{k}")

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value over random orders of equal scores (`expected`)."""
        return False

    @property
    def refuses_undefined(self) -> bool:
        """Whether a user without a value is an error under this definition."""
        return any(getattr(self, f.name) == "raise" for f in fields(self))


class UserMetric(Metric):
    """A metric of one user's list; its value is the mean over users.

    The docstring of each one has a section "In plain Python": what it means for one list, in a few lines. A
    contract test runs these lines and `per_user` on random lists.
    """

    kind: ClassVar[Kind] = "lists"

    @abstractmethod
    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return one value per user.

        Parameters
        ----------
        judged : JudgedTopK
            Lists and relevant items of m users, some perhaps without either.
        k : int or None
            Only the first `k` ranks count; None: the whole list.

        Returns
        -------
        ndarray of float64, shape (m,)
            NaN where the definition gives a user no value.
        """

    @property
    def has_expected(self) -> bool:
        """Whether there is a formula, `expected`, under this definition."""
        return type(self).expected is not UserMetric.expected

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return each user's expected value over random orders of equal scores.

        Parameters
        ----------
        judged : JudgedTopK
            Lists and relevant items of t users with equal scores.
        tied : TiedGains
            Their relevant items by group of equal scores, in and beyond the lists.
        k : int or None

        Returns
        -------
        ndarray of float64, shape (t,)
        """
        raise NotImplementedError(f"{type(self).__name__} has no formula; see has_expected.")


class RunMetric(Metric):
    """A metric of all lists together, from sums that add up over blocks of users."""

    kind: ClassVar[Kind] = "lists"

    @abstractmethod
    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return what a block of users adds, shape (s,); blocks' sums are added to merge them.

        Parameters
        ----------
        judged : JudgedTopK
            Lists of a block of users; its `catalogue` is the same for all blocks.
        k : int or None
            Only the first `k` ranks count; None: the whole list.

        Returns
        -------
        ndarray of float64, shape (s,)
            Counts, or other numbers whose sums are exact, such as those of `recgauge.utils.exact`: then the
            value depends on no partition into blocks.
        """

    @abstractmethod
    def value(self, sums: DoubleArray) -> float:
        """Return the metric's value from the sums over all users."""


def quiet(default: Value) -> Value:
    """Declare a field that the definition's text shows only where it differs from `default`."""
    return field(default=default, metadata={"quiet": True})


def undefined_value(chosen: Literal[0, "nan", "raise"]) -> float:
    """Return the value of an undefined metric: 0 or NaN; the evaluation acts on "raise"."""
    return 0.0 if chosen == 0 else float("nan")


def metric_key(name: str, k: int | None) -> str:
    """Return the name of a result, the same in config, code, tracker and tables.

    Examples
    --------
    >>> metric_key("ndcg", 10), metric_key("ndcg", None)
    ('ndcg_at_10', 'ndcg')
    """
    return name if k is None else f"{name}_at_{k}"


def check_suite(metrics: Mapping[str, Metric]) -> None:
    """Refuse names that cannot be keys, and values that are no metrics."""
    for name, metric in metrics.items():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or "_at_" in name:
            raise ConfigError(
                f"Metrics: a name must be lower-case letters, digits and underscores without '_at_', "
                f"got {name!r}; cutoffs are set by cutoffs=[...]."
            )
        if not isinstance(metric, Metric):
            raise ConfigError(f"Metrics: {name} must be a recgauge metric, got {type(metric).__name__}.")
    if not metrics:
        raise ConfigError("Metrics: the suite is empty; name at least one, such as metrics=[ranking].")


Denominator = Literal["k", "list", "relevant", "min_relevant_k", "min_relevant_list", "hits"]


def list_length(judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return the number of items among the first `k` of each list, shape (m,)."""
    lengths = judged.list_length.astype(np.float64)
    return lengths if k is None else np.minimum(lengths, k)


def hits(judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return the number of relevant items among the first `k` of each list, shape (m,)."""
    return judged.hits.cut(k).counts()


def denominator(name: Denominator, judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return the count called `name` for each user, shape (m,).

    Parameters
    ----------
    name : {"k", "list", "relevant", "min_relevant_k", "min_relevant_list", "hits"}
        ``k``: the cutoff, or the list's length without one; ``list``: items among the first k of the
        list; ``relevant``: the user's relevant items; ``hits``: relevant items among the first k.
    judged : JudgedTopK
    k : int or None

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    relevant = judged.n_relevant.astype(np.float64)
    match name:
        case "k":
            return list_length(judged, None) if k is None else np.full(judged.n_users, float(k))
        case "list":
            return list_length(judged, k)
        case "relevant":
            return relevant
        case "min_relevant_k":
            return relevant if k is None else np.minimum(relevant, k)
        case "min_relevant_list":
            return np.minimum(relevant, list_length(judged, k))
        case "hits":
            return hits(judged, k)


def divide(numerator: DoubleArray, count: DoubleArray, empty: float = 0.0) -> DoubleArray:
    """Return ``numerator / count``, and `empty` where the count is 0; shape (m,)."""
    quotient = np.full(len(count), empty)
    np.divide(numerator, count, out=quotient, where=count != 0)
    return quotient
