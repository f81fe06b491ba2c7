"""P3alpha: random walks user, item, user, item over who took what."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import check_memory
from recgauge.models.recent import RecentHistory
from recgauge.models.weight_lists import cut_columns, joined_lists, largest, with_room
from recgauge.utils.checks import Count, DoubleArray, IntArray, NotNegative
from recgauge.utils.compiled import F32s, F64s, I32s, compiled
from recgauge.utils.progress import Progress
from recgauge.utils.resources import over_blocks

FirstCut = Literal["none", "plain", "normalized"]
_BLOCK = 256  # items that a thread takes at a time
_BYTES = 24  # of a weight: in the blocks, by target and by source


class WalkModel(RecentHistory):
    """A model whose item weights are chances of walks; subclasses are dataclasses of its parameters."""

    alpha: float
    top_k: int | None
    first_cut: FirstCut

    @abstractmethod
    def _popularity_power(self) -> float:
        """Return the power of an item's number of users that its sum is divided by."""

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Add up the chances of all walks."""
        rows = self.user_rows(train)
        weights = self._largest_walks(rows, progress)
        if self.first_cut == "none":
            weights = weights.T.tocsr()
        else:
            if self.first_cut == "normalized":
                sums = np.maximum(weights.sum(axis=1, dtype=np.float64), np.finfo(np.float32).tiny)
                weights.data = (weights.data / np.repeat(sums, np.diff(weights.indptr))).astype(np.float32)
            if self.top_k is not None:
                weights = cut_columns(weights.tocsc(), self.top_k).tocsr()
        self._item_weights = ItemWeights(self.weighted(train, rows), weights)
        return self

    def _largest_walks(self, rows: sparse.csr_array, progress: Progress | None) -> sparse.csr_array:
        """Return the largest `top_k` weights of the walks to each item; with a first cut, of those from it.

        The result has a row for each such item, float32, and nothing on the diagonal.
        """
        n_items = rows.shape[1]
        by_item = rows.tocsc()
        of_user, of_item = np.diff(rows.indptr), np.diff(by_item.indptr)
        k = self.top_k or n_items
        most = min(int((of_user.astype(np.float64) ** 2).sum()), n_items * min(n_items, k))
        name = type(self).__name__
        check_memory(name, f"weights of {n_items:,} items", _BYTES * most, "Keep fewer: model.top_k.")
        lists = (by_item.indptr, by_item.indices, rows.indptr, rows.indices)
        first, last = _power(of_item, self.alpha), _power(of_item, self._popularity_power())
        shares = (first, last) if self.first_cut == "none" else (last, first)
        of_users = _power(of_user, self.alpha)
        with (progress or Progress()).step("walk", n_items, "items") as advance:
            parts = over_blocks(
                lambda a, b: walk_back(*lists, of_users, *shares, k, a, b), n_items, _BLOCK, advance=advance
            )
        return joined_lists(parts, n_items)


def _power(counts: IntArray, power: float) -> DoubleArray:
    """Return ``counts ** -power``, 1 where there is nothing.

    Processors differ in the last bits of a power; rounded to float32 they agree.
    """
    shares: DoubleArray = (np.maximum(counts, 1).astype(np.float64) ** -power).astype(np.float32)
    return shares.astype(np.float64)


@dataclass(eq=False)
class P3alpha(WalkModel):
    r"""Score an item by the walks of three steps that lead from a user to it.

    .. math::
        \hat r_{uj} = \sum_i x_{ui} W_{ij}, \qquad
        W_{ij} = \sum_v \left( \frac{x_{vi}}{d_i} \cdot \frac{x_{vj}}{d_v} \right)^\alpha

    where x is 1 for every training row, :math:`d_v` counts a user's items and :math:`d_i` an item's users:
    from an item to one of its users, and from the user to one of his or her items, each with equal chance.

    Parameters
    ----------
    alpha : float
        Power of the chance of each step, >= 0; 1: plain random walks, with which the paper begins. On small
        data they follow few users far; the default does better there, and as well elsewhere.
    top_k : int, optional
        Most items i that are kept for an item j, those of the largest weights; None: all.
    first_cut : {"none", "plain", "normalized"}
        Whether, before that, each item i keeps the `top_k` largest of its own weights :math:`W_{ij}`, as they
        are (``plain``) or divided by their sum (``normalized``). The code of [2]_ and of later studies does;
        lists differ much.
    last_n : int, optional
        How many of a user's rows count when lists are made, >= 1, the newest; None: all. Weights are learned
        from all rows.
    decay : float
        What a row counts then against the next newer one, above 0 and at most 1; of several rows of an item
        the newest one says so.

    Notes
    -----
    The first step, from the user to an item, has the same chance for all items of the user, and is left out:
    it changes no list. A walk back to its item does not count. Of equal weights those of lower codes are
    kept.

    Time: one addition for each pair of items of each user. Memory: 24 bytes for each weight kept. Sums are
    made in float64 in the order of users, the same on every machine and any number of threads.

    Users can be folded in.

    References
    ----------
    .. [1] C. Cooper, S. H. Lee, T. Radzik, Y. Siantos, "Random walks in recommender systems: exact
       computation and simulations", WWW 2014 companion.
    .. [2] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of
       reproducibility and progress in recommender systems research", ACM TOIS 39(2), 2021:
       as item weights, with `top_k`.

    Examples
    --------
    >>> import numpy as np
    >>> from recgauge.data.interactions import Interactions
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], ["x", "y", "x", "y", "x"])
    >>> model = P3alpha(alpha=1.0).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).astype(float).round(3).tolist()
    [[0.0, 0.333]]

    Two of the three users of x also took y, among two items each.
    """

    alpha: NotNegative = 0.7
    top_k: Count | None = 100
    first_cut: FirstCut = "none"

    def _popularity_power(self) -> float:
        return 0.0


@compiled(nogil=True)
def reach(
    users: I32s, user_starts: I32s, user_items: I32s, user_share: F64s, sums: F64s, reached: I32s
) -> int:
    """Add the users' shares to the sums of their items; list and count the items whose sums were 0."""
    n_reached = 0
    for user in users:
        share = user_share[user]
        for place in range(user_starts[user], user_starts[user + 1]):
            item = user_items[place]
            if sums[item] == 0.0:
                reached[n_reached] = item
                n_reached += 1
            sums[item] += share
    return n_reached


@compiled(nogil=True)
def walk_back(
    item_starts: I32s,
    item_users: I32s,
    user_starts: I32s,
    user_items: I32s,
    user_share: F64s,
    source_share: F64s,
    target_share: F64s,
    k: int,
    start: int,
    stop: int,
) -> tuple[I32s, I32s, F32s]:
    """Return, for each item from `start` to `stop`, the items whose walks over a user end there most.

    A walk has three factors, all above 0: of the item that it begins with, of the step from a user to an
    item, and of the item that it ends at. Returns how many are kept for each item, at most `k`; the items
    kept, one list after the other; and their weights, the sums over walks of the products of the factors.
    """
    n_items = len(source_share)
    sums, reached = np.zeros(n_items), np.empty(n_items, np.int32)
    sources, weight = np.empty(n_items, np.int32), np.empty(n_items, np.float32)
    counts, codes, weights, filled = (
        np.empty(stop - start, np.int32),
        np.empty(1024, np.int32),
        np.empty(1024, np.float32),
        0,
    )
    for target in range(start, stop):
        users = item_users[item_starts[target] : item_starts[target + 1]]
        count = 0
        for source in reached[: reach(users, user_starts, user_items, user_share, sums, reached)]:
            if source != target:
                sources[count] = source
                weight[count] = sums[source] * source_share[source] * target_share[target]
                count += 1
            sums[source] = 0.0
        if count > k:
            count = largest(weight, sources, count, k)
        codes, weights = with_room(codes, weights, filled, count)
        codes[filled : filled + count], weights[filled : filled + count] = sources[:count], weight[:count]
        counts[target - start] = count
        filled += count
    return counts, codes[:filled].copy(), weights[:filled].copy()
