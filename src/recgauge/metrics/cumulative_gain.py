"""Cumulative gain: the plain sum of gains, which DCG discounts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.gains import GAINS, list_gain
from recgauge.utils.checks import DoubleArray, check_choice


@dataclass(frozen=True)
class CumulativeGain(UserMetric):
    r"""Gains of the first k items, all ranks alike.

    .. math:: \mathrm{CG@}k(u) = \sum_{r=1}^{k} g_{ur}

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        The grade as it is, ``2**grade - 1``, or 1 for every relevant item, which counts the hits.

    Raises
    ------
    ConfigError
        If `gain` is unknown.

    Notes
    -----
    Range [0, inf), higher is better; 0 without a hit. The order within the first k does not matter: see DCG.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    Examples
    --------
    Hits at ranks 1 and 3:

    >>> from recgauge.metrics.examples import judged_example
    >>> CumulativeGain().per_user(judged_example(), 3)
    array([2.])
    """

    name: ClassVar[str] = "cg"
    label: ClassVar[str] = "CG"

    gain: str = "linear"

    def __post_init__(self) -> None:
        check_choice("CumulativeGain: gain", self.gain, GAINS)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the cumulative gain of each list, shape (m,)."""
        weights = np.ones(judged.items.shape[1] + 1)
        weights[0] = 0.0  # there is no rank 0
        return list_gain(judged, k, weights, self.gain, 0.0)
