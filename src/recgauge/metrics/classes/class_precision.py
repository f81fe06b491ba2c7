"""Precision of predicted class labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.classes import ClassMetric
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray, LongArray


@dataclass(frozen=True)
class ClassPrecision(ClassMetric):
    r"""How many of the rows given a label deserve it.

    .. math:: P_c = \frac{TP_c}{TP_c + FP_c}

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary", "samples"}, default "macro"
        How the labels' values become one, see `ClassMetric`; `per_label` gives them unaveraged.
    positive : label, default 1
        What ``binary`` looks at.

    Raises
    ------
    ConfigError
        If `average` is unknown.

    Notes
    -----
    Range [0, 1], higher is better. A label that is never predicted has precision 0. With one label a row,
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
