"""Histories whose newest rows count most, for models that sum the weights of a user's items."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from recgauge.data.histories import newer_rows, newest_of_pairs
from recgauge.data.interactions import Interactions
from recgauge.models import ItemWeightModel
from recgauge.utils.checks import Count, FloatArray, LongArray, PositiveShare


@dataclass(eq=False)
class RecentHistory(ItemWeightModel):
    r"""Settings of item weight models whose users' newest rows can count more than older ones.

    Weights are learned from all training rows. When lists are made, a row before j newer ones of its user
    counts :math:`d^j`, or nothing where j is `last_n` or more; of several rows of an item, the newest one
    says so.

    Parameters
    ----------
    last_n : int, optional
        How many of a user's rows count, >= 1, the newest; None: all.
    decay : float
        What a row counts against the next newer one, above 0 and at most 1.

    Notes
    -----
    With the defaults all rows count alike, and their order changes nothing. For the next item the newest rows
    say most: on MovieLens 1M, last item held out, ``last_n=10`` and ``decay=0.8`` raise the hit rate at 10 of
    ``ItemKNN(k=10_000)`` from .070 to .167, and ``last_n=20`` and ``decay=0.9`` that of ``EASE(300)`` from
    .109 to .219.

    Rows are ordered by time, those of one time as the table has them.
    """

    last_n: Count | None = field(default=None, kw_only=True)
    decay: PositiveShare = field(default=1.0, kw_only=True)

    @property
    def uses_order(self) -> bool:
        """Whether not all rows count alike."""
        return self.last_n is not None or self.decay < 1.0

    def weighted(self, rows: Interactions, matrix: sparse.csr_array) -> sparse.csr_array:
        """Return what `user_rows` makes of rows times their weights."""
        return matrix.multiply(self.recency(rows)).tocsr() if self.uses_order else matrix

    def recency(self, rows: Interactions) -> sparse.csr_array:
        """Return what a user's newest row of each item counts, shape (n_users, n_items) float32."""
        newer = newer_rows(rows)
        newest = newest_of_pairs(rows, newer)
        weights = recency_weights(newer[newest], self.last_n, self.decay)
        shape = (rows.n_users, rows.n_items)
        return sparse.coo_array((weights, (rows.user[newest], rows.item[newest])), shape=shape).tocsr()


def recency_weights(newer: LongArray, last_n: int | None, decay: float) -> FloatArray:
    """Return what rows count by the number of newer ones: 0 from `last_n` on.

    Processors differ in the last bits of a power; rounded to float32 they agree.
    """
    weights = np.power(decay, newer).astype(np.float32)
    if last_n is not None:
        weights[newer >= last_n] = 0.0
    return weights
