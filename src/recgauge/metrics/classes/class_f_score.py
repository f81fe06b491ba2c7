"""F-score of predicted class labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.classes import ClassMetric
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray, LongArray, check_real


@dataclass(frozen=True)
class ClassFScore(ClassMetric):
    r"""The weighted harmonic mean of a label's precision and recall.

    .. math:: F_{\beta, c} = \frac{(1 + \beta^2) TP_c}{(1 + \beta^2) TP_c + \beta^2 FN_c + FP_c}

    Parameters
    ----------
    average : {"macro", "micro", "weighted", "binary", "samples"}, default "macro"
        How the labels' values become one, see `ClassMetric`; `per_label` gives them unaveraged.
    positive : label, default 1
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
