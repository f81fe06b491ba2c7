"""Sequential rules: what follows what, counted over a few steps; Markov chains and association rules, too."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy import sparse

from recgauge.data.histories import newer_rows, oldest_first
from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import ItemWeightModel, check_memory
from recgauge.models.recent import recency_weights
from recgauge.models.weight_lists import cut_columns, joined_lists, with_room
from recgauge.utils.checks import (
    Count,
    DoubleArray,
    FloatArray,
    IntArray,
    LongArray,
    NotNegative,
    PositiveShare,
)
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.progress import Progress
from recgauge.utils.resources import over_blocks

StepWeight = Literal["same", "div", "linear", "log", "quadratic"]
Direction = Literal["forward", "both"]
Normalization = Literal["none", "rows", "cosine"]
_BLOCK = 256  # items that a thread takes at a time
_BYTES = 16  # of a weight: in the blocks and in the matrix


def step_weights(weighting: StepWeight, steps: LongArray) -> DoubleArray:
    """Return what rows so many steps away count, shape (n,)."""
    gap = steps.astype(np.float64)
    match weighting:
        case "same":
            return np.ones(len(gap))
        case "div":
            return 1.0 / gap
        case "linear":
            return np.maximum(0.0, 1.0 - 0.1 * gap)
        case "log":
            return 1.0 / np.log10(gap + 1.7)
        case "quadratic":
            return 1.0 / (gap * gap)


@dataclass(eq=False)
class SequentialRules(ItemWeightModel):
    r"""Score an item by how often it has followed the newest items of the user.

    .. math:: \hat x_{ui} = \sum_{j=0}^{n-1} d^j R_{h_j i}, \qquad
        R_{ai} = \frac{1}{z_{ai}} \sum_{g=1}^{s} w(g)\, n_g(a \to i)

    where :math:`h_0` is the item of the user's newest row, :math:`h_1` that of the one before, and
    :math:`n_g(a \to i)` counts the training rows of i that come g rows after one of a, of the same user.

    Parameters
    ----------
    steps : int, optional
        The largest gap s, >= 1; None: any.
    weighting : {"same", "div", "linear", "log", "quadratic"}
        w(g): 1, :math:`1/g`, :math:`\max(0, 1 - g/10)`, :math:`1/\log_{10}(g + 1.7)` or :math:`1/g^2`.
    direction : {"forward", "both"}
        Whether i must come after a (``forward``), or a may come after i, too (``both``).
    normalize : {"none", "rows", "cosine"}
        What z is: 1, the sum of the row of a, so that all items of the user have one vote, or the root of the
        numbers of training rows of a and i.
    top_k : int, optional
        Most items i that are kept for an item a, those of the largest weights, equal ones by rising code;
        None: all.
    last_n : int, optional
        How many of a user's rows count, the newest n, >= 1; None: all.
    decay : float
        What a row counts against the next newer one, d, above 0 and at most 1.
    popularity : float
        Added to each score: so much for the item with most training rows, in proportion for others, >= 0. A
        small number orders equal scores, items that no rule names, and lists of users without rows.

    Notes
    -----
    A Markov chain of first order is ``steps=1, last_n=1, normalize="none"``; `popularity` then orders equal
    counts alone if it is below 1, and does so exactly from .001 on.

    The rules of [1]_ are, by the names of the code of [2]_ (``weighting`` and ``steps`` are the same there,
    ``pruning`` is `top_k`), whose scores are divided by the user's largest:

    - ``SequentialRules()``: ``weighting="div", normalize="none", top_k=20, last_n=1``
    - ``AssociationRules()``: ``steps=None, weighting="same", direction="both", normalize="none", top_k=20,
      last_n=1``

    There ``linear`` is negative from gap 11 on, and of equal weights those of the first pairs are kept.

    Rows are ordered by time, those of one time as the table has them. An item that follows itself is counted
    as any other. A user's item that occurs twice has two votes.

    The defaults were chosen on validation rows. With the last item held out, unseen items ranked, and the
    validation row in the history, their hit rates at 10 are .269 on MovieLens 1M, .203 on 100K and .131 on
    latest-small; those of the Markov chain are .214, .144 and .087.

    Time: one addition for each row and step. Memory: 16 bytes for each weight kept. Sums are made in float64
    in the order of users, the same on every machine and any number of threads. Users can be folded in.

    References
    ----------
    .. [1] I. Kamehkhosh, D. Jannach, M. Ludewig, "A comparison of frequent pattern techniques and a deep
       learning method for session-based recommendation", RecTemp at RecSys 2017.
    .. [2] M. Ludewig, D. Jannach, "Evaluation of session-based recommendation algorithms", UMUAI 28, 2018:
       rn5l/session-rec.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 0, 1, 1], ["x", "y", "z", "x", "z"])
    >>> model = SequentialRules(normalize="none", last_n=1, popularity=0.0)
    >>> model = model.fit(train, rng=np.random.default_rng(0))
    >>> new = Interactions.from_ids([0], ["x"])  # z follows x at once, and after two steps
    >>> rows = Interactions(new.user, new.item, new.value, None, new.user_ids, train.item_ids)
    >>> model.with_histories(rows).score(np.array([0], np.int32)).tolist()
    [[0.0, 1.0, 1.5]]
    """

    steps: Count | None = 10
    weighting: StepWeight = "div"
    direction: Direction = "forward"
    normalize: Normalization = "rows"
    top_k: Count | None = None
    last_n: Count | None = 10
    decay: PositiveShare = 0.8
    popularity: NotNegative = 1e-6

    @property
    def uses_order(self) -> bool:
        """Whether the order of rows can change a score: always."""
        return True

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Count what follows what."""
        weights = self._rules(train, progress or Progress())
        if self.popularity:
            counts = train.item_counts()
            share = (self.popularity * counts / max(1, counts.max(initial=0))).astype(np.float32)
            weights = sparse.vstack([weights, sparse.csr_array(share[None, :])]).tocsr()
        self._item_weights = ItemWeights(self.user_rows(train), weights)
        return self

    def _rules(self, train: Interactions, progress: Progress) -> sparse.csr_array:
        """Return what each item says about every item, shape (n_items, n_items) float32."""
        order, n_items, counts = oldest_first(train), train.n_items, train.item_counts()
        user_counts = train.user_counts()
        longest = max(0, int(user_counts.max(initial=0)) - 1)
        gaps = np.arange(1, 1 + min(longest, self.steps or longest))
        by_gap = step_weights(self.weighting, gaps)
        by_gap = by_gap[by_gap > 0.0]
        pairs = 2 * int((user_counts * np.minimum(user_counts, len(by_gap))).sum())
        most = min(pairs, n_items * min(n_items, self.top_k or n_items))
        check_memory("SequentialRules", f"rules of {n_items:,} items", _BYTES * most, "Set model.top_k.")
        item = train.item[order]
        rows = item, np.repeat(np.cumsum(user_counts), user_counts), np.argsort(item, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)])
        both, of_rows = self.direction == "both", self.normalize == "rows"
        scale = 1.0 / np.sqrt(np.maximum(1, counts)) if self.normalize == "cosine" else np.ones(n_items)

        def block(start: int, stop: int) -> tuple[IntArray, IntArray, FloatArray]:
            lengths, codes, weights = follow(*rows, starts, by_gap, both, of_rows, scale, start, stop)
            if self.top_k is None:
                return lengths, codes, weights
            ends = np.concatenate([[0], np.cumsum(lengths)])
            kept = sparse.csc_array((weights, codes, ends), shape=(n_items, stop - start))
            kept = cut_columns(kept, self.top_k)
            return np.diff(kept.indptr), kept.indices, kept.data

        with progress.step("count", n_items, "items") as advance:
            parts = over_blocks(block, n_items, _BLOCK, advance=advance)
        rules = joined_lists(parts, n_items)
        rules.sort_indices()
        return rules

    def user_rows(self, rows: Interactions) -> sparse.csr_array:
        """Return what each user's items count, shape (n_users, n_items) float32; 1 more for `popularity`."""
        weights = recency_weights(newer_rows(rows), self.last_n, self.decay)
        kept = weights > 0.0
        shape = (rows.n_users, rows.n_items)
        matrix = sparse.coo_array((weights[kept], (rows.user[kept], rows.item[kept])), shape=shape).tocsr()
        if self.popularity:
            ones = sparse.csr_array(np.ones((rows.n_users, 1), np.float32))
            matrix = sparse.hstack([matrix, ones]).tocsr()
        return matrix


@compiled(nogil=True)
def add_followers(
    items: I32s, ends: I64s, positions: I64s, by_gap: F64s, both: bool, sums: F64s, reached: I32s
) -> int:
    """Add weights of gaps to the sums of what follows an item; list and count the items whose sums were 0."""
    steps, count = len(by_gap), 0
    for position in positions:
        first = position
        while both and first > 0 and position - first < steps and ends[first - 1] == ends[position]:
            first -= 1
        for other in range(first, min(ends[position], position + 1 + steps)):
            if other != position:
                item = items[other]
                if sums[item] == 0.0:
                    reached[count] = item
                    count += 1
                sums[item] += by_gap[abs(other - position) - 1]
    return count


@compiled(nogil=True)
def follow(
    items: I32s,
    ends: I64s,
    positions: I64s,
    starts: I64s,
    by_gap: F64s,
    both: bool,
    of_rows: bool,
    scale: F64s,
    start: int,
    stop: int,
) -> tuple[I32s, I32s, F32s]:
    """Return, for each item from `start` to `stop`, the items that follow it, with their weights.

    `items` are those of all rows, users one after the other, oldest first, `ends` where the user of each row
    ends. `positions` are the rows of each item, `starts` where an item's begin there. `by_gap` holds weights
    above 0 of gaps from 1 on. Sums are divided by those of their row, or multiplied by both items' `scale`.
    Returns how many follow each item; their codes, one list after the other; and their weights.
    """
    n_items = len(scale)
    sums, reached = np.zeros(n_items), np.empty(n_items, np.int32)
    weight, counts, filled = np.empty(n_items, np.float32), np.empty(stop - start, np.int32), 0
    codes, weights = np.empty(1024, np.int32), np.empty(1024, np.float32)
    for source in range(start, stop):
        own = positions[starts[source] : starts[source + 1]]
        count = add_followers(items, ends, own, by_gap, both, sums, reached)
        factor = scale[source]
        if of_rows and count:
            factor = 1.0 / sums[reached[:count]].sum()
        for at, item in enumerate(reached[:count]):
            weight[at] = sums[item] * factor * scale[item]
            sums[item] = 0.0
        codes, weights = with_room(codes, weights, filled, count)
        codes[filled : filled + count], weights[filled : filled + count] = reached[:count], weight[:count]
        counts[source - start] = count
        filled += count
    return counts, codes[:filled].copy(), weights[:filled].copy()
