"""The most popular items are dropped, so that the long tail decides."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.filters import RowFilter
from recgauge.filters._values import amount_text, check_amount, count_of
from recgauge.utils.checks import BoolArray


@dataclass(frozen=True)
class PopularItems(RowFilter):
    """Drop the items with the most rows.

    Parameters
    ----------
    top : int or float
        How many: a count (``100``), or a share of the items (``0.01``), rounded down.

    Raises
    ------
    ConfigError
        If `top` is neither a count nor a share.

    Notes
    -----
    Among items with equal counts the one whose id sorts first goes first, whatever the order of rows. A list
    of blockbusters is easy to get right and of little use; without them a model must know more.

    References
    ----------
    .. [1] P. Cremonesi, Y. Koren, R. Turrin, "Performance of recommender algorithms on top-N recommendation
       tasks", RecSys 2010 (without the short head, models change places).

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "a", "c"], [1, 1, 2, 3])
    >>> PopularItems(1).keep(ratings).tolist()
    [False, False, True, True]
    """

    top: int | float

    def __post_init__(self) -> None:
        check_amount("PopularItems: top", self.top)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        counts = interactions.item_counts()
        n_dropped = count_of(self.top, int(np.count_nonzero(counts)))
        inside = np.ones(interactions.n_items, dtype=bool)
        inside[np.argsort(-counts, kind="stable")[:n_dropped]] = False
        return inside[interactions.item]

    def __str__(self) -> str:
        return f"the most popular {amount_text(self.top, 'items')}"
