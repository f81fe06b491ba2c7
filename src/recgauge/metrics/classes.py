"""Precision, recall and F-score of class labels, and of ratings that are liked or not, averaged over both."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from recgauge.data.columns import aligned, cells, is_row
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.metrics.metric import Kind, Metric, divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray, LongArray, Positive, Real


@dataclass(frozen=True, slots=True, eq=False)
class _LabelCounts:
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


def count_labels(actual: npt.ArrayLike, predicted: npt.ArrayLike, *, by_row: bool = False) -> _LabelCounts:
    """Count rows by label, or labels by row: what each row's own precision and recall are made from.

    Parameters
    ----------
    actual, predicted : array-like, shape (n,) or (n, c)
        Labels of one sortable type, one per row; or a table with one column per label and 1 where a row has
        it, so that a row may have several labels or none. Series and data frames of pandas are paired by
        index and columns, which must hold the same labels; arrays and lists by place.
    by_row : bool, default False
        One entry per row of the tables; `labels` are the numbers of the rows.

    Returns
    -------
    _LabelCounts

    Raises
    ------
    SchemaError
        If the two differ in shape, index or kind of labels, are empty, hold missing labels or fractions or,
        as tables, anything but 0 and 1, or are to be counted by row and are no tables.

    Examples
    --------
    >>> counts = count_labels(["good", "bad", "bad"], ["good", "good", "bad"])
    >>> counts.labels.tolist(), counts.correct.tolist(), counts.predicted.tolist()
    (['bad', 'good'], [1, 1], [1, 2])
    >>> count_labels([[1, 1], [0, 1]], [[1, 0], [1, 1]]).actual.tolist()
    [1, 2]
    >>> count_labels([[1, 1], [0, 1]], [[1, 0], [1, 1]], by_row=True).correct.tolist()
    [1, 1]
    """
    paired = _aligned(actual, predicted)
    true, guess = _labels("actual", paired["actual"]), _labels("predicted", paired["predicted"])
    if guess.shape != true.shape:
        raise SchemaError(f"predicted must have the shape of actual, {true.shape}, got {guess.shape}.")
    if true.ndim == 2:
        true, guess, axis = true.astype(np.int64), guess.astype(np.int64), int(by_row)
        counts = (table.sum(axis=axis, dtype=np.int64) for table in (true * guess, guess, true))
        return _LabelCounts(np.arange(true.shape[1 - axis]), *counts)
    if by_row:
        raise SchemaError(
            "average=samples needs several labels per row: pass tables of shape (rows, labels) with 1 where "
            "a row has the label. With one label per row choose average=macro, micro, weighted or binary."
        )
    kinds = _kind(true.ravel()), _kind(guess.ravel())
    if kinds[0] != kinds[1]:
        raise SchemaError(
            f"actual and predicted must be labels of one sortable type, got {kinds[0]} and {kinds[1]}."
        )
    labels, codes = np.unique(np.concatenate((true, guess)), return_inverse=True)
    true, guess = codes[: len(true)], codes[len(true) :]
    counts = (np.bincount(rows, minlength=len(labels)) for rows in (true[true == guess], guess, true))
    return _LabelCounts(labels, *counts)


def _aligned(actual: Any, predicted: Any) -> dict[str, Any]:
    """Return both with the rows, and of tables the columns, in one order."""
    by_row = aligned({"actual": actual, "predicted": predicted})
    if all(hasattr(table, "columns") and hasattr(table, "iloc") for table in by_row.values()):
        turned = aligned({name: table.T for name, table in by_row.items()})
        return {name: table.T for name, table in turned.items()}
    return by_row


def _labels(name: str, values: Any) -> npt.NDArray[Any]:
    """Return a column of labels, or a table of 0 and 1."""
    column = cells(values)
    if (
        isinstance(column, list)
        and column
        and not any(is_row(cell) or isinstance(cell, np.ndarray) for cell in column)
    ):
        _kind(np.array(column, object))
    try:
        labels = np.asarray(values if column is None else column)
    except ValueError as error:
        raise SchemaError(
            f"{name} must be one column of labels, or a table with 1 where a row has the label; its rows "
            "differ in length."
        ) from error
    if labels.ndim not in (1, 2) or labels.size == 0:
        raise SchemaError(f"{name} must be one column with at least one label, got shape {labels.shape}.")
    if labels.dtype.kind == "O":
        _kind(labels.ravel())
    if (labels != labels).any():
        raise SchemaError(f"{name} must not hold missing labels (NaN).")
    if labels.ndim == 2 and not np.isin(labels, (0, 1)).all():
        raise SchemaError(f"{name} is a table, which must hold 1 where a row has a label and 0 elsewhere.")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise SchemaError(
            f"{name} must hold labels, got the fraction {labels[labels != np.floor(labels)][0]}. Choose a "
            "threshold for probabilities: (values >= 0.5)."
        )
    return labels


def _kind(labels: npt.NDArray[Any]) -> str:
    """Return what labels are, which must be one: numbers, among them True and False, text, or a type."""
    kinds = {type(label) for label in (labels[:1] if labels.dtype.kind != "O" else labels).tolist()}
    names = {"numbers" if issubclass(kind, (int, float, np.number)) else kind.__name__ for kind in kinds}
    if len(names) > 1:
        raise SchemaError(f"labels must be of one sortable type, none missing; got {listed(sorted(names))}.")
    return names.pop()


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
        counts = count_labels(actual, predicted, by_row=self.average == "samples")
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
        positives = np.flatnonzero(labels == self.positive)
        if len(positives) != 1 or len(labels) > 2:
            raise ConfigError(
                f"{type(self).__name__}: average=binary needs two labels, one of them positive="
                f"{self.positive!r}; got {', '.join(map(str, labels))}. Choose another average or positive."
            )
        return int(positives[0])


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

    beta: Positive = 1.0

    def ratio(self, correct: LongArray, predicted: LongArray, actual: LongArray) -> DoubleArray:
        """Return the F-score of each count, shape (c,)."""
        weight = self.beta**2
        gained = (1.0 + weight) * correct.astype(np.float64)
        return divide(gained, weight * actual.astype(np.float64) + predicted)


SCORES: dict[str, ClassMetric] = {
    "precision": ClassPrecision(),
    "recall": ClassRecall(),
    "f1": ClassFScore(),
}


@dataclass(frozen=True)
class LikedScore(RatingMetric):
    r"""Precision, recall or F1 of the labels liked and not liked, from ratings and a threshold.

    .. math::
        P_c = \frac{|\{c(\hat r) = c(r) = c\}|}{|\{c(\hat r) = c\}|}, \quad
        R_c = \frac{|\{c(\hat r) = c(r) = c\}|}{|\{c(r) = c\}|}, \quad
        c(x) = [x \ge t]

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users.
    score : {"precision", "recall", "f1"}, default "f1"
        Of each label.
    average : {"macro", "micro", "weighted", "binary"}, default "macro"
        ``macro``: the plain mean over the labels that occur; ``micro``: from the counts of both together,
        which is accuracy; ``weighted``: weighted by the actual rows of each; ``binary``: of liked alone.
    liked_from : float, default 4.0
        The lowest rating, actual or predicted, that is liked: the t of the formula.

    Raises
    ------
    ConfigError
        If a parameter is unknown or not finite.

    Notes
    -----
    Range [0, 1], higher is better; 0 where it divides by nothing, as where no rating is predicted as liked.
    Says nothing about the order of lists: only rows with an actual rating count.

    The averages are scikit-learn's. ``aggregate="user", average="binary"`` is its ``samples``: a user is a
    row with several labels, the liked items.

    References
    ----------
    .. [1] M. Sokolova, G. Lapalme, "A systematic analysis of performance measures for classification tasks",
       Information Processing and Management 45(4), 2009.
    .. [2] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.2.

    Examples
    --------
    Two of three predicted as liked are; all that are liked are found:

    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> metric = LikedScore(score="precision", average="binary")
    >>> evaluate_ratings([5, 4, 3, 1], [4, 4.5, 4, 2], metrics={"precision": metric}).values()
    {'precision': 0.6666666666666666}
    """

    name: ClassVar[str] = "liked_score"
    label: ClassVar[str] = "LikedScore"

    score: Literal["precision", "recall", "f1"] = "f1"
    average: Literal["macro", "micro", "weighted", "binary"] = "macro"
    liked_from: Real = 4.0

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the score of each group, shape (g,)."""
        least = min(self.liked_from, float(np.float32(self.liked_from)))  # ratings of runs have 32 bits
        is_liked, as_liked = ratings.actual >= least, ratings.predicted >= least
        rows = ratings.counts
        hits, right, predicted, actual = (
            ratings.total(flags.astype(np.float64)).astype(np.int64)
            for flags in (is_liked & as_liked, is_liked == as_liked, as_liked, is_liked)
        )
        ratio = SCORES[self.score].ratio
        if self.average == "micro":
            return ratio(right, rows, rows)
        liked = ratio(hits, predicted, actual)
        if self.average == "binary":
            return liked
        other = ratio(right - hits, rows - predicted, rows - actual)
        weight, of_other = actual.astype(np.float64), (rows - actual).astype(np.float64)
        if self.average == "macro":
            weight = (predicted + actual > 0).astype(np.float64)
            of_other = (predicted + actual < 2 * rows).astype(np.float64)
        return divide(liked * weight + other * of_other, weight + of_other)
