"""Rank-biased precision: what a reader finds who goes on to the next rank with probability p."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import divide, list_length
from recgauge.metrics.metric import UserMetric, quiet
from recgauge.utils.checks import DoubleArray, check_real


@dataclass(frozen=True)
class RankBiasedPrecision(UserMetric):
    r"""Rate at which a reader finds relevant items who reads on after each with probability p.

    .. math:: \mathrm{RBP@}k(u) = (1 - p) \sum_{r \le k,\, L_r \in R_u} p^{r-1}

    Parameters
    ----------
    p : float, default 0.8
        Patience, between 0 and 1, both excluded: 0.5 looks at the top, 0.95 far down.
    gain : {"binary", "linear"}, default "binary"
        1 for every relevant item, or its grade.
    normalization : {"infinite", "ideal"}, default "infinite"
        The best list is endless; or divide by the best that the user's relevant items and the list allow.

    Raises
    ------
    ConfigError
        If a parameter has an unknown value.

    In plain Python
    ---------------
    >>> def rank_biased_precision(items, grades, k, p=0.8):
    ...     hits = [rank for rank, item in enumerate(items[:k], 1) if item in grades]
    ...     return (1 - p) * sum(p ** (rank - 1) for rank in hits)

    Notes
    -----
    Range [0, 1] (above 1 with linear gains of grades above 1), higher is better; 0 without a hit. What
    follows the list is taken to be irrelevant. With ``ideal``, undefined (NaN) for an empty list.

    References
    ----------
    .. [1] A. Moffat, J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
       TOIS 27(1), 2008.

    Examples
    --------
    Hits at ranks 1 and 3: 0.5 (1 + 0.25).

    >>> from recgauge.metrics.examples import judged_example
    >>> RankBiasedPrecision(p=0.5).per_user(judged_example(), 3)
    array([0.625])
    """

    name: ClassVar[str] = "rbp"
    label: ClassVar[str] = "RBP"

    p: float = 0.8
    gain: Literal["binary", "linear"] = "binary"
    normalization: Literal["infinite", "ideal"] = quiet("infinite")

    def __post_init__(self) -> None:
        super().__post_init__()
        if check_real("RankBiasedPrecision: p", self.p, low=0.0, high=1.0, low_open=True) == 1.0:
            check_real("RankBiasedPrecision: p", self.p, low=0.0, high=np.nextafter(1.0, 0.0), low_open=True)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the rank-biased precision of each list, shape (m,)."""
        found = judged.hits.cut(k)
        weights = self.p ** np.arange(judged.items.shape[1] + 1)
        gain = found.gain if self.gain == "linear" else np.ones(len(found.rank))
        return self._normalised(found.total(gain * weights[found.rank - 1]), judged, k, weights)

    def _normalised(
        self, total: DoubleArray, judged: JudgedTopK, k: int | None, weights: DoubleArray
    ) -> DoubleArray:
        if self.normalization == "infinite":
            return (1.0 - self.p) * total
        best = np.minimum(judged.n_relevant, list_length(judged, k).astype(np.int64))
        return divide(total, np.concatenate(([0.0], np.cumsum(weights)))[best], np.nan)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return True

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected rank-biased precision of each list, shape (t,)."""
        weights = self.p ** np.arange(judged.items.shape[1] + 1)
        gains = tied.gain if self.gain == "linear" else np.ones(len(tied.gain))
        total = tied.total(tied.mean_gain(gains) * tied.weight(k, np.concatenate(([0.0], weights))))
        return self._normalised(total, judged, k, weights)
