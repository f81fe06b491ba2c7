"""SLIM: sparse item weights, an elastic net of each item on all others."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import ItemWeightModel, check_memory
from recgauge.models.ease import lower_gram, mirrored
from recgauge.models.weight_lists import cut_columns, joined_lists, with_room
from recgauge.utils.checks import Count, FloatArray, IntArray, LongArray, NotNegative, Positive, Within
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.progress import Progress
from recgauge.utils.resources import over_blocks

_BLOCK = 64  # items that a thread takes at a time
_SMALL = 4_096  # items up to which a Gram matrix with a place for every pair costs little
_AT_A_TIME = 1 << 20  # counts that are narrowed
_REMEDY = "Drop rare items (filters=[item_rows])."


@dataclass(eq=False)
class SLIM(ItemWeightModel):
    r"""Predict each item of a user from a few others, by weights that are learned with most of them 0.

    .. math:: \hat x_{uj} = \sum_i x_{ui} w_{ij}

    where X has 1 for every training row, and the weights of each item j minimise

    .. math::
        \tfrac{1}{2} \lVert x_j - X w_j \rVert^2 + \tfrac{\lambda_2}{2} \lVert w_j \rVert^2
        + \lambda_1 \lVert w_j \rVert_1, \qquad w_{jj} = 0

    Parameters
    ----------
    l1 : float
        The penalty :math:`\lambda_1`, >= 0: an item is used only if more than so many users have both, and
        the others used do not explain them.
    l2 : float
        The penalty :math:`\lambda_2`, > 0; the more users, the larger.
    non_negative : bool
        Only weights >= 0, as in the paper.
    tol : float
        The descent of an item ends when no weight would move by more than this, > 0.
    top_k : int, optional
        Most items i that are kept for an item j, those of the largest weights; None: all.
    drop_smallest : bool
        Whether each item j loses its smallest weight, also where it has fewer than `top_k`. Only to repeat
        numbers of the code of [3]_, which keeps ``min(top_k, n - 1)`` of an item's n weights.

    Notes
    -----
    The objective is that of the paper, and these of other libraries with U users: ``ElasticNet`` of
    scikit-learn with ``alpha = (l1 + l2) / U`` and ``l1_ratio = l1 / (l1 + l2)``, and so SLIM in irspack.

    Solved by coordinate descent over the Gram matrix in working sets: the items whose first step is the
    largest enter, at most as many as are in already; among them a small matrix is enough; then all are
    looked at again. Every item has one solution; the order of users and threads does not change it, and no
    processor's vectors change a bit.

    Memory: the Gram matrix, 4 bytes for each pair of items, or 8 for each pair that shares a user where those
    are few; and for each thread the square of its working set. Weights take 8 bytes each. With ``l1=0`` and
    negative weights, none would be 0: that is EASE, which is faster.

    Users can be folded in.

    References
    ----------
    .. [1] X. Ning, G. Karypis, "SLIM: sparse linear methods for top-N recommender systems", ICDM 2011.
    .. [2] J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via
       coordinate descent", Journal of Statistical Software 33(1), 2010: covariance updates.
    .. [3] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of reproducibility
       and progress in recommender systems research", ACM TOIS 39(2), 2021:
       MaurizioFD/RecSys2019_DeepLearning_Evaluation, ``SLIM_ElasticNet``.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], ["x", "y", "x", "y", "x"])
    >>> model = SLIM(l1=0.5, l2=0.5).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).astype(float).round(3).tolist()  # (2 - l1) / (3 + l2)
    [[0.0, 0.429]]
    """

    l1: NotNegative = 1.0
    l2: Positive = 100.0
    non_negative: bool = True
    tol: Annotated[float, Within(0.0, 1.0, low_open=True)] = 1e-5
    top_k: Count | None = None
    drop_smallest: bool = False

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Regress every item on the others."""
        progress = progress or Progress()
        rows = self.user_rows(train)
        n_items = rows.shape[1]
        gram = _gram(rows, progress)
        curvature = rows.sum(axis=0, dtype=np.float64) + self.l2
        net = _Net(*gram, curvature, self.l1, self.l2, self.non_negative, self.tol)

        def block(start: int, stop: int) -> tuple[IntArray, IntArray, FloatArray, int]:
            return regress(net, start, stop)

        with progress.step("regress", n_items, "items") as advance:
            parts = over_blocks(block, n_items, _BLOCK, advance=advance)
        if unfinished := sum(part[3] for part in parts):
            progress.note(
                f"SLIM: weights of {unfinished:,} of {n_items:,} items still moved by more than "
                f"tol={self.tol:g} after {SWEEPS:,} rounds; raise l2 or tol"
            )
        by_target = joined_lists([part[:3] for part in parts], n_items).T
        if self.top_k is not None or self.drop_smallest:
            n_weights = np.diff(by_target.indptr)
            most = np.minimum(n_weights - self.drop_smallest, self.top_k or n_items)
            by_target = cut_columns(by_target, most)
        self._item_weights = ItemWeights(rows, by_target.tocsr())
        return self


def _gram(
    rows: sparse.csr_array, progress: Progress
) -> tuple[LongArray, IntArray, FloatArray | npt.NDArray[np.uint16]]:
    """Return the rows of the Gram matrix: where each begins, codes (none if all have a place), values."""
    n_items = rows.shape[1]
    n_pairs = int((np.diff(rows.indptr).astype(np.float64) ** 2).sum())
    if n_items <= _SMALL or n_pairs > n_items**2 / 4:
        check_memory("SLIM", f"pairs of {n_items:,} items", 4 * n_items**2, _REMEDY)
        square = mirrored(lower_gram(rows, progress), np.ones(n_items, np.float32))
        starts, codes = n_items * np.arange(n_items + 1, dtype=np.int64), np.zeros(0, np.int32)
        return starts, codes, _narrowed(square) if rows.shape[0] < 1 << 16 else square.ravel()
    check_memory("SLIM", f"pairs of {n_items:,} items", 16 * n_pairs, _REMEDY)
    few = (rows.T @ rows).tocsr()
    return few.indptr.astype(np.int64), few.indices.astype(np.int32), few.data


def _narrowed(square: FloatArray) -> npt.NDArray[np.uint16]:
    """Return counts below 2**16, in half of their own memory: to read them is what takes the time."""
    wide = square.reshape(-1)
    narrow = wide.view(np.uint16)[: len(wide)]
    for first in range(0, len(wide), _AT_A_TIME):  # writes stay behind what is still to be read
        narrow[first : first + _AT_A_TIME] = wide[first : first + _AT_A_TIME]
    return narrow


# The Gram matrix is given by rows: where each begins, its item codes and its values. Without codes the rows
# hold all items. No sum depends on the width of vectors: whatever runs in vectors changes numbers one by one.

Counts = F32s | npt.NDArray[np.uint16]
FIRST = 16  # items that enter the first working set; later ones at most double it
SWEEPS = 1000  # of one working set


class _Net(NamedTuple):
    """Rows of the Gram matrix, its diagonal plus `l2`, the penalties, the largest step that may be left."""

    starts: I64s
    codes: I32s
    values: Counts
    curvature: F64s
    l1: float
    l2: float
    positive: bool
    tol: float


@compiled(nogil=True)
def subtract_rows(net: _Net, items: I32s, factors: F64s, out: F64s) -> None:
    """Subtract rows of the Gram matrix times factors, in order."""
    starts, codes, values = net.starts, net.codes, net.values
    together = 0 if len(codes) else len(items) // 4 * 4
    for at in range(0, together, 4):  # each number as row by row; memory is waited for a quarter as often
        a, b, c, d = items[at], items[at + 1], items[at + 2], items[at + 3]
        row_a, row_b = values[starts[a] : starts[a + 1]], values[starts[b] : starts[b + 1]]
        row_c, row_d = values[starts[c] : starts[c + 1]], values[starts[d] : starts[d + 1]]
        by_a, by_b, by_c, by_d = factors[at], factors[at + 1], factors[at + 2], factors[at + 3]
        for other in range(len(out)):
            rest = (out[other] - by_a * row_a[other]) - by_b * row_b[other]
            out[other] = (rest - by_c * row_c[other]) - by_d * row_d[other]
    for at in range(together, len(items)):
        row = values[starts[items[at]] : starts[items[at] + 1]]
        if len(codes) == 0:
            for other in range(len(row)):
                out[other] -= factors[at] * row[other]
        else:
            for place, other in enumerate(codes[starts[items[at]] : starts[items[at] + 1]]):
                out[other] -= factors[at] * row[place]


@compiled(nogil=True)
def could_enter(rest: F64s, target: int, threshold: float, out: I32s) -> I32s:
    """Return the items whose first step is not 0; all others stay at 0 where `threshold` is a bound."""
    count = 0
    for item in range(len(rest)):
        if item != target and rest[item] > threshold:
            out[count] = item
            count += 1
    return out[:count]


@compiled(nogil=True)
def entering(net: _Net, rest: F64s, position: I32s, items: I32s, step: F64s) -> tuple[float, int]:
    """Return the largest step of an item at 0, and how many there are; all steps are written."""
    l1, positive, curvature, most, count = net.l1, net.positive, net.curvature, 0.0, 0
    for place, item in enumerate(items):
        size = rest[item] if positive else abs(rest[item])
        step[place] = (size - l1) / curvature[item] if size > l1 and position[item] < 0 else 0.0
        most = max(most, step[place])
        count += step[place] > 0.0
    return most, count


@compiled(nogil=True)
def admit(net: _Net, new: I32s, members: I32s, size: int, position: I32s, small: F32s) -> F32s:
    """Append items to the working set; return the part of the Gram matrix between its members."""
    starts, codes, values = net.starts, net.codes, net.values
    grown = size + len(new)
    if grown > len(small):
        wider = np.empty((2 * grown, 2 * grown), np.float32)
        wider[:size, :size] = small[:size, :size]
        small = wider
    for at in range(size, grown):
        item = new[at - size]
        members[at], position[item] = item, at
        row = values[starts[item] : starts[item + 1]]
        if len(codes) == 0:
            for before in range(at + 1):
                small[at, before] = row[members[before]]
        else:
            small[at, : at + 1] = 0.0
            for place, other in enumerate(codes[starts[item] : starts[item + 1]]):
                if position[other] >= 0:
                    small[at, position[other]] = row[place]
        small[:at, at] = small[at, :at]
    return small


@compiled(nogil=True)
def descend(net: _Net, rest: F64s, weights: F64s, small: F32s, curvature: F64s) -> bool:
    """Step from member to member until no weight of the working set moves by more than `tol`."""
    size, l1, l2, positive = len(rest), net.l1, net.l2, net.positive
    for _ in range(SWEEPS):
        most = 0.0
        for at in range(size):
            old = weights[at]
            pull = rest[at] + (curvature[at] - l2) * old
            new = max(pull - l1, 0.0) / curvature[at]
            if pull < 0.0:
                new = 0.0 if positive else min(pull + l1, 0.0) / curvature[at]
            move = new - old
            if move != 0.0:
                weights[at] = new
                row = small[at]
                for other in range(size):
                    rest[other] -= move * row[other]
                most = max(most, abs(move))
        if most <= net.tol:
            return True
    return False


@compiled(nogil=True)
def solve(net: _Net, target: int, rest: F64s, members: I32s, small: F32s) -> tuple[F64s, F32s, bool]:
    """Return one item's weights, of the first of `members`, the room that they needed, and whether they rest.

    `rest` and `members` have a place for every item.
    """
    step, position = np.empty(len(rest)), np.full(len(rest), -1, np.int32)
    rest[:] = 0.0
    subtract_rows(net, np.array([target], np.int32), np.array([-1.0]), rest)
    items = could_enter(rest, target, net.l1 if net.positive else -np.inf, np.empty(len(rest), np.int32))
    weights, rests = np.zeros(0), True
    while True:
        most, n_entering = entering(net, rest, position, items, step)
        if most <= net.tol or not rests:
            return weights, small, rests
        size, level = len(weights), net.tol
        room = max(FIRST, size)
        if n_entering > room:
            level = max(net.tol, np.partition(step[: len(items)], len(items) - room)[len(items) - room])
        new = items[step[: len(items)] >= level]
        small = admit(net, new, members, size, position, small)
        before = np.concatenate((weights, np.zeros(len(new))))
        weights = before.copy()
        inside = members[: len(weights)]
        rests = descend(net, rest[inside], weights, small, net.curvature[inside])
        moves = weights - before
        moved = moves != 0.0
        subtract_rows(net, inside[moved], moves[moved], rest)


@compiled(nogil=True)
def regress(net: _Net, start: int, stop: int) -> tuple[I32s, I32s, F32s, int]:
    """Return the weights that predict each item from `start` to `stop` by the others.

    Returns how many weights of each item are not 0; the items that they are of, one list after the other; the
    weights; and how many descents were ended before their steps were small.
    """
    n_items, filled, unfinished = len(net.curvature), 0, 0
    rest, members = np.empty(n_items), np.empty(n_items, np.int32)
    small, counts = np.empty((64, 64), np.float32), np.empty(stop - start, np.int32)
    out_codes, out_weights = np.empty(1024, np.int32), np.empty(1024, np.float32)
    for target in range(start, stop):
        weights, small, rests = solve(net, target, rest, members, small)
        chosen = weights != 0.0
        count = int(chosen.sum())
        out_codes, out_weights = with_room(out_codes, out_weights, filled, count)
        out_codes[filled : filled + count] = members[: len(weights)][chosen]
        out_weights[filled : filled + count] = weights[chosen]
        counts[target - start] = count
        filled += count
        unfinished += not rests
    return counts, out_codes[:filled].copy(), out_weights[:filled].copy(), unfinished
