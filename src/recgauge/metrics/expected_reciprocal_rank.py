"""Expected reciprocal rank: where a reader stops who is satisfied by good items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.metric import UserMetric
from recgauge.utils.checks import DoubleArray, check_real


@dataclass(frozen=True)
class ExpectedReciprocalRank(UserMetric):
    r"""Expected 1/rank at which a reader stops, each item satisfying with a probability from its grade.

    .. math::
        \mathrm{ERR@}k(u) = \sum_{r=1}^{k} \frac{s_r}{r} \prod_{q<r} (1 - s_q),
        \qquad s_r = \frac{2^{g_{ur}} - 1}{2^{g_{\max}}}

    Parameters
    ----------
    max_grade : float, default 4.0
        The highest grade of the scale, > 0.

    Raises
    ------
    ConfigError
        If `max_grade` is not above 0.
    MetricError
        If a listed item has a higher grade.

    In plain Python
    ---------------
    >>> def expected_reciprocal_rank(items, grades, k, max_grade=4):
    ...     value, reads_on = 0.0, 1.0
    ...     for rank, item in enumerate(items[:k], 1):
    ...         satisfied = (2 ** grades.get(item, 0) - 1) / 2**max_grade
    ...         value += reads_on * satisfied / rank
    ...         reads_on *= 1 - satisfied
    ...     return value

    Notes
    -----
    Range [0, 1), higher is better; 0 without a hit. An item below a satisfying one adds little, so the
    value says next to nothing about the tail of the list.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected reciprocal rank for graded relevance",
       CIKM 2009.

    Examples
    --------
    Grade 1 of 1 at ranks 1 and 3: 1/2 + 1/2 * 1/2 * 1/3.

    >>> from recgauge.metrics.examples import judged_example
    >>> ExpectedReciprocalRank(max_grade=1).per_user(judged_example(), 3).round(4)
    array([0.5833])
    """

    name: ClassVar[str] = "err"
    label: ClassVar[str] = "ERR"

    max_grade: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("ExpectedReciprocalRank: max_grade", self.max_grade, low=0.0, high=1000.0, low_open=True)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the expected reciprocal rank of each list, shape (m,)."""
        found = judged.hits.cut(k)
        if found.gain.max(initial=0.0) > self.max_grade:
            raise MetricError(
                f"ExpectedReciprocalRank: grades must be at most max_grade={self.max_grade:g}, "
                f"got {found.gain.max():g}; set max_grade to the top of your scale."
            )
        satisfied = (np.exp2(found.gain) - 1.0) / 2.0**self.max_grade
        values, unsatisfied = np.zeros(judged.n_users), np.ones(judged.n_users)
        by_ordinal = np.argsort(found.ordinal, kind="stable")
        edges = np.cumsum(np.bincount(found.ordinal))[:-1]
        # every user's first hit, then every user's second, ...: one hit a user at a time
        for entries in np.split(by_ordinal, edges):
            users = found.owner[entries]
            values[users] += unsatisfied[users] * satisfied[entries] / found.rank[entries]
            unsatisfied[users] *= 1.0 - satisfied[entries]
        return values
