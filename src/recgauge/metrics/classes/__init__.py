"""The contract of metrics of class labels: actual and predicted ones, one or several a row."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from recgauge.errors import ConfigError, SchemaError
from recgauge.metrics import Metric
from recgauge.utils.checks import DoubleArray, LongArray, check_choice

AVERAGES = ("macro", "micro", "weighted", "binary", "samples")


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """How often each label was right, predicted and actual.

    Parameters
    ----------
    labels : ndarray, shape (c,)
        Every actual or predicted label, sorted; the column numbers of a table.
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
    actual, predicted : array-like, shape (n,) or (n, c)
        Labels of one sortable type, one a row; or a table with a column a label and 1 where a row has it, so
        that a row may have several labels or none.

    Returns
    -------
    LabelCounts

    Raises
    ------
    SchemaError
        If the two differ in shape, are empty, or hold missing labels or, as tables, anything but 0 and 1.

    Examples
    --------
    >>> counts = count_labels(["good", "bad", "bad"], ["good", "good", "bad"])
    >>> counts.labels.tolist(), counts.correct.tolist(), counts.predicted.tolist()
    (['bad', 'good'], [1, 1], [1, 2])
    >>> count_labels([[1, 1], [0, 1]], [[1, 0], [1, 1]]).actual.tolist()
    [1, 2]
    """
    true, guess = _checked(actual, predicted)
    if true.ndim == 2:
        return _count_table(true, guess, axis=0)
    try:
        labels, codes = np.unique(np.concatenate((true, guess)), return_inverse=True)
    except TypeError as error:
        raise SchemaError("actual and predicted must be labels of one sortable type.") from error
    true, guess = codes[: len(true)], codes[len(true) :]
    correct, as_predicted, as_actual = (
        np.bincount(rows, minlength=len(labels)) for rows in (true[true == guess], guess, true)
    )
    return LabelCounts(labels, correct, as_predicted, as_actual)


def count_samples(actual: npt.ArrayLike, predicted: npt.ArrayLike) -> LabelCounts:
    """Count labels by row: what each row's own precision and recall are made from.

    Parameters
    ----------
    actual, predicted : array-like, shape (n, c)
        As for :func:`count_labels`; one label a row is no table.

    Returns
    -------
    LabelCounts
        An entry a row; `labels` are the numbers of the rows.

    Raises
    ------
    SchemaError
        If they are no tables of 0 and 1 of one shape.

    Examples
    --------
    >>> count_samples([[1, 1], [0, 1]], [[1, 0], [1, 1]]).correct.tolist()
    [1, 1]
    """
    true, guess = _checked(actual, predicted)
    if true.ndim != 2:
        raise SchemaError(
            "average=samples needs several labels a row: pass tables of shape (rows, labels) with 1 where a "
            "row has the label. With one label a row choose average=macro, micro, weighted or binary."
        )
    return _count_table(true, guess, axis=1)


def _count_table(true: npt.NDArray[Any], guess: npt.NDArray[Any], *, axis: int) -> LabelCounts:
    counts = (table.sum(axis=axis, dtype=np.int64) for table in (true * guess, guess, true))
    return LabelCounts(np.arange(true.shape[1 - axis]), *counts)


def _checked(actual: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both as arrays of one shape, tables as 0 and 1."""
    given = []
    for name, value in (("actual", actual), ("predicted", predicted)):
        try:
            given.append(np.asarray(value))
        except ValueError as error:
            raise SchemaError(
                f"{name} must be one column of labels, or a table with 1 where a row has the label; its rows "
                "differ in length."
            ) from error
        _check_labels(name, given[-1])
    true, guess = given
    if true.ndim == 2 and guess.shape != true.shape:
        raise SchemaError(f"predicted must have the shape of actual, {true.shape}, got {guess.shape}.")
    if guess.shape != true.shape:
        raise SchemaError(
            f"predicted must have one label for each of the {len(true)} of actual, got {len(guess)}."
        )
    return (true.astype(np.int64), guess.astype(np.int64)) if true.ndim == 2 else (true, guess)


def _check_labels(name: str, labels: npt.NDArray[Any]) -> None:
    if labels.ndim not in (1, 2) or labels.size == 0:
        raise SchemaError(f"{name} must be one column with at least one label, got shape {labels.shape}.")
    if (labels != labels).any():
        raise SchemaError(f"{name} must not hold missing labels (NaN).")
    if labels.ndim == 2 and not np.isin(labels, (0, 1)).all():
        raise SchemaError(f"{name} is a table, which must hold 1 where a row has a label and 0 elsewhere.")


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
            return float(values[self._place_of_positive(counts.labels, np.ndim(actual))])
        if self.average != "weighted":
            return float(np.mean(values))
        # where no row has a label, nothing weighs and nothing could be found
        return float(np.average(values, weights=counts.actual)) if counts.actual.any() else 0.0

    def _place_of_positive(self, labels: npt.NDArray[Any], n_dimensions: int) -> int:
        if n_dimensions == 2:
            raise ConfigError(
                f"{type(self).__name__}: average=binary needs one label a row, got a table of labels. Choose "
                "another average, or pass one column of it."
            )
        places = np.flatnonzero(labels == self.positive)
        if len(places) != 1 or len(labels) > 2:
            raise ConfigError(
                f"{type(self).__name__}: average=binary needs two labels, one of them positive="
                f"{self.positive!r}; got {', '.join(map(str, labels))}. Choose another average or positive."
            )
        return int(places[0])
