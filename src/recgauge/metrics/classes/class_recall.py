"""Recall of predicted class labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.classes import ClassMetric
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray, LongArray


@dataclass(frozen=True)
class ClassRecall(ClassMetric):
    r"""How many of the rows that deserve a label are given it.

    .. math:: R_c = \frac{TP_c}{TP_c + FN_c}

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
