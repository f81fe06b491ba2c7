"""Cumulative gain, plain and discounted by rank."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.gains import Discount, Gain, discounts, expected_gain, list_gain
from recgauge.metrics.metric import UserMetric, quiet
from recgauge.utils.checks import DoubleArray, check_real


@dataclass(frozen=True)
class DCG(UserMetric):
    r"""Gains of the first k items, each discounted by its rank.

    .. math:: \mathrm{DCG@}k(u) = \sum_{r=1}^{k} \frac{g_{ur}}{\log_2(r+1)}

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        The grade as it is, ``2**grade - 1``, or 1 for every relevant item.
    discount : {"log2", "ln", "jarvelin2", "reciprocal"}, default "log2"
        Divisor of rank r: ``log2(r + 1)``, ``ln(r + 1)``, ``max(1, log2(r))``, or r itself.
    gain_offset : float, default 0.0
        Taken off the grade first; the threshold less 1 gives the least relevant grade a gain of 1.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def dcg(items, grades, k):
    ...     gains = [grades.get(item, 0) for item in items[:k]]
    ...     return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    Notes
    -----
    Range [0, inf), higher is better; 0 without a hit. Not comparable between users with different numbers
    of relevant items: see nDCG.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    Examples
    --------
    Hits at ranks 1 and 3: 1 + 1/2.

    >>> from recgauge.metrics.examples import judged_example
    >>> DCG().per_user(judged_example(), 3)
    array([1.5])
    """

    name: ClassVar[str] = "dcg"
    label: ClassVar[str] = "DCG"

    gain: Gain = "linear"
    discount: Discount = "log2"
    gain_offset: float = quiet(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("DCG: gain_offset", self.gain_offset, low=float("-inf"), high=float("inf"))

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the DCG of each list, shape (m,)."""
        weights = discounts(self.discount, judged.items.shape[1])
        return list_gain(judged, k, weights, self.gain, self.gain_offset)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return True

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected DCG of each list, shape (t,)."""
        weights = discounts(self.discount, judged.items.shape[1])
        return expected_gain(tied, k, weights, self.gain, self.gain_offset)


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

    In plain Python
    ---------------
    >>> def cumulative_gain(items, grades, k):
    ...     return sum(grades.get(item, 0) for item in items[:k])

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

    gain: Gain = "linear"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the cumulative gain of each list, shape (m,)."""
        weights = np.ones(judged.items.shape[1] + 1)
        weights[0] = 0.0  # there is no rank 0
        return list_gain(judged, k, weights, self.gain, 0.0)
