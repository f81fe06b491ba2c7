"""Personalization: how different the lists of different users are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.catalogue_needs import catalogue_of
from recgauge.metrics.beyond.lists import exposure
from recgauge.metrics.denominators import divide, list_length
from recgauge.metrics.metric import RunMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class Personalization(RunMetric):
    r"""One minus the mean cosine similarity of two users' lists.

    .. math:: 1 - \frac{1}{\binom{m}{2}} \sum_{u < v} \frac{|L_u \cap L_v|}{\sqrt{|L_u| |L_v|}}

    Notes
    -----
    Range [0, 1], 0 if everybody gets the same list; higher is better: lists differ more, which says
    nothing about how good each is. Pairs are never built: with each user's list as a vector of length 1, the
    similarities of all pairs add up to half of the squared length of the vectors' sum, less the m ones of
    every list with itself.

    Lists may differ in length; users without a list are left out. One list alone makes no pair: NaN. The
    items of a list must be distinct.

    recmetrics 0.1.5 and CAPRI compute this for lists of one length and fail on others.

    References
    ----------
    .. [1] T. Zhou et al., "Solving the apparent diversity-accuracy dilemma of recommender systems",
       PNAS 107(10), 2010 (with the overlap at k, equal to this for lists of k items).

    Examples
    --------
    The two lists share one of two items:

    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = Personalization()
    >>> round(metric.value(metric.sums(beyond_example(), 2)), 4)
    0.5
    """

    name: ClassVar[str] = "personalization"
    label: ClassVar[str] = "Personalization"
    needs_relevant: ClassVar[bool] = False

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the sum of the lists' unit vectors and the number of lists, shape (n_items + 1,)."""
        n_items = catalogue_of(self, judged).n_items
        lengths = list_length(judged, k)
        weight = divide(np.ones(judged.n_users), np.sqrt(lengths))
        return np.append(exposure(judged, k, n_items, weight), np.count_nonzero(lengths))

    def value(self, sums: DoubleArray) -> float:
        """Return the personalization; NaN for fewer than two lists."""
        n_lists = float(sums[-1])
        if n_lists < 2:
            return float("nan")
        similar = (float(sums[:-1] @ sums[:-1]) - n_lists) / (n_lists * (n_lists - 1))
        return 1.0 - similar
