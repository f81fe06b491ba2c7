"""The exact rank of one relevant item of each user, from which sampled ranks can be drawn."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.curves.full_ranking import FullRankingMetric, FullRankings
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class RankOfOne(FullRankingMetric):
    """The rank, from 1, of one relevant candidate of each user among the candidates that are not relevant.

    Parameters
    ----------
    aggregate : {"user", "weighted"}, default "user"
        Mean over users, or weighted by their relevant candidates.
    seed : int
        Of the draw of the item: the same for all models.

    Notes
    -----
    Of equal scores the lower item code comes first, as in lists.

    Examples
    --------
    >>> from recgauge.metrics.curves.full_ranking import rank_one
    >>> RankOfOne().value(rank_one([0, 1, 0, 0], [0.9, 0.7, 0.8, 0.1]))
    3.0
    """

    name: ClassVar[str] = "rank_of_one"
    label: ClassVar[str] = "RankOfOne"
    higher_is_better: ClassVar[bool] = False

    seed: int = 0

    def per_user(self, rankings: FullRankings) -> DoubleArray:
        """Return the rank of each user's item, shape (m,)."""
        drawn = np.random.default_rng(self.seed).random(len(rankings.n_positive))
        first = np.cumsum(rankings.n_positive) - rankings.n_positive
        chosen = first + (drawn * rankings.n_positive).astype(np.int64)
        ranks: DoubleArray = 1.0 + (rankings.above + rankings.tied_before)[chosen]
        return ranks


@dataclass(frozen=True)
class OthersOfOne(FullRankingMetric):
    """How many candidates of each user are not relevant.

    Parameters
    ----------
    aggregate : {"user", "weighted"}, default "user"
        Mean over users, or weighted by their relevant candidates.

    Examples
    --------
    >>> from recgauge.metrics.curves.full_ranking import rank_one
    >>> OthersOfOne().value(rank_one([0, 1, 0, 0], [0.9, 0.7, 0.8, 0.1]))
    3.0
    """

    name: ClassVar[str] = "others_of_one"
    label: ClassVar[str] = "OthersOfOne"

    def per_user(self, rankings: FullRankings) -> DoubleArray:
        """Return the number of each user, shape (m,)."""
        return rankings.n_negative.astype(np.float64)
