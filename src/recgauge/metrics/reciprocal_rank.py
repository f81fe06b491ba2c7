"""Reciprocal rank: how early the first relevant item is; its mean is the MRR."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import hits
from recgauge.metrics.metric import UserMetric, quiet, undefined_value
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class ReciprocalRank(UserMetric):
    r"""One over the rank of the first relevant item; 0 if none is among the first k.

    .. math:: \mathrm{RR@}k(u) = \frac{1}{\min \{ r \le k : L_r \in R_u \}}

    Parameters
    ----------
    miss : {0, "raise"}, default 0
        The value of a list without a hit.

    Raises
    ------
    ConfigError
        If `miss` is unknown.

    In plain Python
    ---------------
    >>> def reciprocal_rank(items, grades, k):
    ...     for rank, item in enumerate(items[:k], 1):
    ...         if item in grades:
    ...             return 1 / rank
    ...     return 0.0

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit. The mean over users is the mean reciprocal rank (MRR).

    References
    ----------
    .. [1] E. M. Voorhees, "The TREC-8 question answering track report", TREC 1999.

    Examples
    --------
    >>> from recgauge.metrics.examples import judged_example
    >>> ReciprocalRank().per_user(judged_example(), 3)
    array([1.])
    """

    name: ClassVar[str] = "mrr"
    label: ClassVar[str] = "MRR"

    miss: Literal[0, "raise"] = quiet(0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the reciprocal rank of each list, shape (m,)."""
        found = judged.hits.cut(k)
        counts = hits(judged, k).astype(np.int64)
        hit = counts > 0
        values = np.full(judged.n_users, undefined_value(self.miss))
        values[hit] = 1.0 / found.rank[(np.cumsum(counts) - counts)[hit]]
        return values

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.miss == 0

    def expected(
        self,
        judged: JudgedTopK,  # noqa: ARG002 - contract
        tied: TiedGains,
        k: int | None,
    ) -> DoubleArray:
        """Return the expected reciprocal rank of each list, shape (t,)."""
        return tied.expected_reciprocal_rank(k)
