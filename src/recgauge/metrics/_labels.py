"""How often each class label was right, predicted and actual."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError
from recgauge.utils.checks import LongArray


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
        Labels of one sortable type, one per row; or a table with one column per label and 1 where a row has
        it, so that a row may have several labels or none.

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
        As for :func:`count_labels`; one label per row is no table.

    Returns
    -------
    LabelCounts
        One entry per row; `labels` are the numbers of the rows.

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
            "average=samples needs several labels per row: pass tables of shape (rows, labels) with 1 where "
            "a row has the label. With one label per row choose average=macro, micro, weighted or binary."
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
