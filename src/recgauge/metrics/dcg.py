"""Discounted cumulative gain."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.judging.judge import JudgedTopK
from recgauge.judging.tied_gains import TiedGains
from recgauge.metrics import UserMetric, quiet
from recgauge.metrics.gains import DISCOUNTS, GAINS, discounts, expected_gain, list_gain
from recgauge.utils.checks import DoubleArray, check_choice, check_real


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

    gain: str = "linear"
    discount: str = "log2"
    gain_offset: float = quiet(0.0)

    def __post_init__(self) -> None:
        check_choice("DCG: gain", self.gain, GAINS)
        check_choice("DCG: discount", self.discount, DISCOUNTS)
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
