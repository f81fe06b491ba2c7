"""The contract of metrics of class labels: an actual and a predicted label a row, counts per label."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from recgauge._checks import DoubleArray, LongArray, check_choice
from recgauge.errors import ConfigError, SchemaError
from recgauge.metrics import Metric

AVERAGES = ("macro", "micro", "weighted", "binary")


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """How often each label was right, predicted and actual.

    Parameters
    ----------
    labels : ndarray, shape (c,)
        Every actual or predicted label, sorted.
    correct, predicted, actual : ndarray of int64, shape (c,)
        Rows where the label was predicted rightly, predicted, or actual.
    """

    labels: npt.NDArray[Any]
    correct: LongArray
    predicted: LongArray
    actual: LongArray


def count_labels(actual: npt.ArrayLike, predicted: npt.ArrayLike) -> LabelCounts:
    """Count rows by label.

    Parameters
    ----------
    actual, predicted : array-like, shape (n,)
        Labels of one sortable type.

    Returns
    -------
    LabelCounts

    Raises
    ------
    SchemaError
        If the columns differ in length, are empty or hold missing labels.

    Examples
    --------
    >>> counts = count_labels(["good", "bad", "bad"], ["good", "good", "bad"])
    >>> counts.labels.tolist(), counts.correct.tolist(), counts.predicted.tolist()
    (['bad', 'good'], [1, 1], [1, 2])
    """
    columns = np.asarray(actual), np.asarray(predicted)
    for name, column in zip(("actual", "predicted"), columns, strict=True):
        if column.ndim != 1 or len(column) == 0:
            raise SchemaError(f"{name} must be one column with at least one label, got shape {column.shape}.")
        if (column != column).any():
            raise SchemaError(f"{name} must not hold missing labels (NaN).")
    n_rows = len(columns[0])
    if len(columns[1]) != n_rows:
        raise SchemaError(
            f"predicted must have one label for each of the {n_rows} of actual, got {len(columns[1])}."
        )
    try:
        labels, codes = np.unique(np.concatenate(columns), return_inverse=True)
    except TypeError as error:
        raise SchemaError("actual and predicted must be labels of one sortable type.") from error
    true, guess = codes[:n_rows], codes[n_rows:]
    correct, as_predicted, as_actual = (
        np.bincount(rows, minlength=len(labels)) for rows in (true[true == guess], guess, true)
    )
    return LabelCounts(labels, correct, as_predicted, as_actual)


@dataclass(frozen=True)
class ClassMetric(Metric):
    """A metric of labels, averaged over the labels.

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary"}, default "macro"
        ``macro``: the plain mean over labels; ``micro``: from the counts of all labels together, which is
        accuracy; ``weighted``: the mean weighted by the actual rows of a label; ``binary``: the value of the
        label `positive` alone.
    positive : label, default 1
        What ``binary`` looks at; no other average does.

    Raises
    ------
    ConfigError
        If `average` is unknown.
    """

    higher_is_better: ClassVar[bool] = True

    average: str = "macro"
    positive: Any = 1

    def __post_init__(self) -> None:
        check_choice(f"{type(self).__name__}: average", self.average, AVERAGES)

    @abstractmethod
    def ratio(self, correct: LongArray, predicted: LongArray, actual: LongArray) -> DoubleArray:
        """Return the metric of each count, 0 where it divides by nothing; shape (c,)."""

    def per_label(
        self, actual: npt.ArrayLike, predicted: npt.ArrayLike
    ) -> tuple[npt.NDArray[Any], DoubleArray]:
        """Return all labels, sorted, and the value of each; no average is taken.

        Parameters
        ----------
        actual, predicted : array-like, shape (n,)

        Returns
        -------
        labels : ndarray, shape (c,)
        values : ndarray of float64, shape (c,)
        """
        counts = count_labels(actual, predicted)
        return counts.labels, self.ratio(counts.correct, counts.predicted, counts.actual)

    def value(self, actual: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
        """Return the average over labels.

        Parameters
        ----------
        actual, predicted : array-like, shape (n,)

        Returns
        -------
        float
        """
        counts = count_labels(actual, predicted)
        columns = counts.correct, counts.predicted, counts.actual
        if self.average == "micro":
            return float(self.ratio(*(column.sum(keepdims=True) for column in columns))[0])
        values = self.ratio(*columns)
        if self.average == "binary":
            return float(values[self._place_of_positive(counts.labels)])
        return float(np.average(values, weights=counts.actual if self.average == "weighted" else None))

    def _place_of_positive(self, labels: npt.NDArray[Any]) -> int:
        places = np.flatnonzero(labels == self.positive)
        if len(places) != 1 or len(labels) > 2:
            raise ConfigError(
                f"{type(self).__name__}: average=binary needs two labels, one of them positive="
                f"{self.positive!r}; got {', '.join(map(str, labels))}. Choose another average or positive."
            )
        return int(places[0])
