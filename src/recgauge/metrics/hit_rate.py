"""Hit rate: whether the list holds anything relevant."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import hits
from recgauge.metrics.metric import UserMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class HitRate(UserMetric):
    r"""1 for a user with a relevant item among the first k, else 0; the mean is the share of such users.

    .. math:: \mathrm{HR@}k(u) = [\,|L_k \cap R_u| > 0\,]

    In plain Python
    ---------------
    >>> def hit_rate(items, grades, k):
    ...     return float(any(item in grades for item in items[:k]))

    Notes
    -----
    Range {0, 1}, higher is better. Also called success or hit ratio.

    References
    ----------
    .. [1] M. Deshpande, G. Karypis, "Item-based top-N recommendation algorithms", TOIS 22(1), 2004.

    Examples
    --------
    >>> from recgauge.metrics.examples import judged_example
    >>> HitRate().per_user(judged_example(), 1)
    array([1.])
    """

    name: ClassVar[str] = "hit_rate"
    label: ClassVar[str] = "HitRate"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return 1 or 0 for each list, shape (m,)."""
        return (hits(judged, k) > 0).astype(np.float64)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return True

    def expected(
        self,
        judged: JudgedTopK,  # noqa: ARG002 - contract
        tied: TiedGains,
        k: int | None,
    ) -> DoubleArray:
        """Return the expected hit rate of each list, shape (t,)."""
        return tied.expect_hits(k, lambda count, _: (count > 0).astype(np.float64))
