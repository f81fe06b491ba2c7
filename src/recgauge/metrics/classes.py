"""Precision, recall and F-score of class labels, averaged over the labels."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from recgauge.errors import ConfigError
from recgauge.metrics._labels import count_labels, count_samples
from recgauge.metrics.metric import Kind, Metric, divide
from recgauge.utils.checks import DoubleArray, LongArray, check_real


@dataclass(frozen=True)
class ClassMetric(Metric):
    """A metric of labels, averaged over the labels.

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary", "samples"}, default "macro"
        ``macro``: the plain mean over labels; ``micro``: from the counts of all labels together, which is
        accuracy where each row has one label; ``weighted``: the mean weighted by the actual rows of a label;
        ``binary``: the value of the label `positive` alone; ``samples``: of each row that may have several
        labels, then the mean over rows.
    positive : int or str, default 1
        What ``binary`` looks at; no other average does.

    Raises
    ------
    ConfigError
        If `average` is unknown.
    """

    kind: ClassVar[Kind] = "class labels"

    average: Literal["macro", "micro", "weighted", "binary", "samples"] = "macro"
    positive: Any = 1

    @abstractmethod
    def ratio(self, correct: LongArray, predicted: LongArray, actual: LongArray) -> DoubleArray:
        """Return the metric of each count, 0 where it divides by nothing; shape (c,)."""

    def per_label(
        self, actual: npt.ArrayLike, predicted: npt.ArrayLike
    ) -> tuple[npt.NDArray[Any], DoubleArray]:
        """Return all labels, sorted, and the value of each; no average is taken.

        Parameters
        ----------
        actual, predicted : array-like, shape (n,) or (n, c)
            As for :func:`count_labels`.

        Returns
        -------
        labels : ndarray, shape (c,)
        values : ndarray of float64, shape (c,)
        """
        counts = count_labels(actual, predicted)
        return counts.labels, self.ratio(counts.correct, counts.predicted, counts.actual)

    def value(self, actual: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
        """Return the average over labels, or over rows with ``average="samples"``.

        Parameters
        ----------
        actual, predicted : array-like, shape (n,) or (n, c)
            As for :func:`count_labels`.

        Returns
        -------
        float
        """
        counts = (count_samples if self.average == "samples" else count_labels)(actual, predicted)
        columns = counts.correct, counts.predicted, counts.actual
        if self.average == "micro":
            return float(self.ratio(*(column.sum(keepdims=True) for column in columns))[0])
        values = self.ratio(*columns)
        if self.average == "binary":
            return float(values[self._index_of_positive(counts.labels, np.ndim(actual))])
        if self.average != "weighted":
            return float(np.mean(values))
        # where no row has a label, nothing weighs and nothing could be found
        return float(np.average(values, weights=counts.actual)) if counts.actual.any() else 0.0

    def _index_of_positive(self, labels: npt.NDArray[Any], n_dimensions: int) -> int:
        if n_dimensions == 2:
            raise ConfigError(
                f"{type(self).__name__}: average=binary needs one label per row, got a table of labels. "
                "Choose another average, or pass one column of it."
            )
        found = np.flatnonzero(labels == self.positive)
        if len(found) != 1 or len(labels) > 2:
            raise ConfigError(
                f"{type(self).__name__}: average=binary needs two labels, one of them positive="
                f"{self.positive!r}; got {', '.join(map(str, labels))}. Choose another average or positive."
            )
        return int(found[0])


@dataclass(frozen=True)
class ClassPrecision(ClassMetric):
    r"""How many of the rows given a label deserve it.

    .. math:: P_c = \frac{TP_c}{TP_c + FP_c}

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary", "samples"}, default "macro"
        How the labels' values become one, see `ClassMetric`; `per_label` gives them unaveraged.
    positive : int or str, default 1
        What ``binary`` looks at.

    Raises
    ------
    ConfigError
        If `average` is unknown.

    Notes
    -----
    Range [0, 1], higher is better. A label that is never predicted has precision 0. With one label per row,
    micro precision, recall and F1 are all the accuracy.

    References
    ----------
    .. [1] M. Sokolova, G. Lapalme, "A systematic analysis of performance measures for classification tasks",
       Information Processing and Management 45(4), 2009.

    Examples
    --------
    >>> actual, predicted = ["a", "a", "b", "c"], ["a", "b", "b", "b"]
    >>> ClassPrecision().value(actual, predicted) == (1 + 1 / 3 + 0) / 3
    True
    >>> ClassPrecision(average="micro").value(actual, predicted)
    0.5
    """

    name: ClassVar[str] = "class_precision"
    label: ClassVar[str] = "Class precision"

    def ratio(self, correct: LongArray, predicted: LongArray, actual: LongArray) -> DoubleArray:  # noqa: ARG002
        """Return right predictions over predictions, shape (c,)."""
        return divide(correct.astype(np.float64), predicted.astype(np.float64))


@dataclass(frozen=True)
class ClassRecall(ClassMetric):
    r"""How many of the rows that deserve a label are given it.

    .. math:: R_c = \frac{TP_c}{TP_c + FN_c}

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary", "samples"}, default "macro"
        How the labels' values become one, see `ClassMetric`; `per_label` gives them unaveraged.
    positive : int or str, default 1
        What ``binary`` looks at.

    Raises
    ------
    ConfigError
        If `average` is unknown.

    Notes
    -----
    Range [0, 1], higher is better. A label that is only predicted, never actual, has recall 0 and counts in
    the macro average. Weighted recall equals micro recall: the accuracy.

    References
    ----------
    .. [1] M. Sokolova, G. Lapalme, "A systematic analysis of performance measures for classification tasks",
       Information Processing and Management 45(4), 2009.

    Examples
    --------
    >>> ClassRecall(average="binary").value([1, 1, 0, 0], [1, 0, 0, 1])
    0.5
    """

    name: ClassVar[str] = "class_recall"
    label: ClassVar[str] = "Class recall"

    def ratio(self, correct: LongArray, predicted: LongArray, actual: LongArray) -> DoubleArray:  # noqa: ARG002
        """Return right predictions over actual rows, shape (c,)."""
        return divide(correct.astype(np.float64), actual.astype(np.float64))


@dataclass(frozen=True)
class ClassFScore(ClassMetric):
    r"""The weighted harmonic mean of a label's precision and recall.

    .. math:: F_{\beta, c} = \frac{(1 + \beta^2) TP_c}{(1 + \beta^2) TP_c + \beta^2 FN_c + FP_c}

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary", "samples"}, default "macro"
        How the labels' values become one, see `ClassMetric`; `per_label` gives them unaveraged.
    positive : int or str, default 1
        What ``binary`` looks at.
    beta : float, default 1.0
        How many times recall weighs as much as precision, > 0.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.

    Notes
    -----
    Range [0, 1], higher is better. The macro average is the mean of the labels' F-scores, not the F-score
    of macro precision and macro recall.

    References
    ----------
    .. [1] M. Sokolova, G. Lapalme, "A systematic analysis of performance measures for classification tasks",
       Information Processing and Management 45(4), 2009.

    Examples
    --------
    >>> labels, values = ClassFScore().per_label(["a", "a", "b"], ["a", "b", "b"])
    >>> labels.tolist(), values.round(4).tolist()
    (['a', 'b'], [0.6667, 0.6667])
    """

    name: ClassVar[str] = "class_f1"
    label: ClassVar[str] = "Class F"

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("ClassFScore: beta", self.beta, low=0.0, high=np.inf, low_open=True)

    def ratio(self, correct: LongArray, predicted: LongArray, actual: LongArray) -> DoubleArray:
        """Return the F-score of each count, shape (c,)."""
        weight = self.beta**2
        gained = (1.0 + weight) * correct.astype(np.float64)
        return divide(gained, weight * actual.astype(np.float64) + predicted)
