"""Lists of factor models: items prepared for the search, once for each model, then the scan.

The preparation is plain numpy: a change of basis that tightens the bounds, order by norm, rounding, tiles.
"""

import threading
from functools import cache, lru_cache

import numpy as np
from threadpoolctl import ThreadpoolController

from recgauge.engine._candidates import capacity_of, sort_key, write_list
from recgauge.engine._scan import PANEL_TILES, Panels, Space, round_items, top_factors
from recgauge.engine._vectors import ITEMS, entry, exact_dots, has_byte_dot
from recgauge.engine.sources import (
    Allowed,
    FactorSource,
    SeenRows,
    allowed_items,
    as_float32,
    candidate_rows,
    check_sums,
    seen_rows,
)
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray
from recgauge.utils.compiled import F32s, F64s, I32s, I64s

_SAMPLE = 1_024
_PART = 2 * PANEL_TILES * ITEMS


def _moment(factors: F32s) -> F64s:
    """Mean outer product of the rows (of a sample), scaled to mean 1 and kept away from singular.

    In float32, since any moments make a valid basis: exact ones make it only a little better.
    """
    sample = factors[:: max(1, len(factors) // _SAMPLE)]
    largest = np.abs(sample).max(initial=0.0)
    width = factors.shape[1]
    if largest == 0.0:
        return np.eye(width)
    sample = sample / largest
    moment = (sample.T @ sample).astype(np.float64)
    scaled: F64s = moment * (width / np.trace(moment)) + 1e-6 * np.eye(width)
    return scaled


@lru_cache(maxsize=8)
def _rotation(width: int) -> F64s:
    rotation: F64s = np.linalg.qr(np.random.default_rng(0).standard_normal((width, width)))[0]
    rotation.flags.writeable = False
    return rotation


def _powers(symmetric: F64s, *exponents: float) -> list[F64s]:
    values, vectors = np.linalg.eigh(symmetric)
    values = np.maximum(values, values[-1] * 1e-12)
    return [(vectors * values**exponent) @ vectors.T for exponent in exponents]


def balance(user: F32s, item: F32s) -> tuple[F64s, F64s]:
    """Bases A, B with A B^T = I, so that (u A) . (v B) = u . v, in which norms say most about products.

    The mean of ``|u A|^2 |v B|^2`` is least where users and items have the same second moments; for a
    truncated SVD that puts the root of the singular values on both sides. A is the geometric mean of the two
    moments' inverses and a random rotation, which spreads every vector evenly over its numbers, so that
    rounding to bytes takes least.
    """
    root, inverse_root = _powers(_moment(user), 0.5, -0.5)
    stretch, shrink = _powers(root @ _moment(item) @ root, 0.25, -0.25)
    rotation = _rotation(len(root))
    return inverse_root @ stretch @ rotation, root @ shrink @ rotation


def _falling_norms(item: F32s, right: F64s, codes: I32s) -> I32s:
    """Item codes by falling norm in the new basis: roughly, in float32, since `prepare` makes bounds safe."""
    narrow, squares = right.astype(np.float32), np.empty(len(codes), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # where squares overflow, bounds are only less tight
        for start in range(0, len(codes), _PART):
            part = item[codes[start : start + _PART]] @ narrow
            np.einsum("ij,ij->i", part, part, out=squares[start : start + _PART])
    order: I32s = codes[np.argsort(-squares, kind="stable")]
    return order


def _slack(left: F64s, right: F64s) -> float:
    """Bound on what the change of basis and its rounding do to a product, relative to the norms after it."""
    width = len(left)
    spread = float(np.linalg.norm(left) * np.linalg.norm(right))  # Frobenius: at least the largest stretch
    inexact = float(np.linalg.norm(left @ right.T - np.eye(width)))
    return 4.0 * spread * (inexact + width * 2.3e-16 * spread)


def prepare(user: F32s, item: F32s, allowed: I32s, use_bytes: bool | None = None) -> Panels:
    """Panels of the items whose codes are in ``allowed``."""
    is_byte = has_byte_dot() if use_bytes is None else use_bytes
    left, right = balance(user, item[allowed] if len(allowed) < len(item) else item)
    width = len(left)
    padded = -(-width // 4) * 4
    order = _falling_norms(item, right, allowed)
    n_tiles = -(-len(order) // ITEMS)
    n_panels = -(-n_tiles // PANEL_TILES)
    code = np.full(n_tiles * ITEMS, -1, np.int32)
    code[: len(order)] = order
    position = np.full(len(item), -1, np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    basis = np.zeros((width, padded))
    basis[:, :width] = left
    panels = Panels(
        tiles=np.zeros((n_tiles, padded * ITEMS), np.uint8 if is_byte else np.float32),
        norm=np.zeros(n_panels),
        residual=np.zeros(n_panels),
        scale=np.ones(n_panels),
        code=code,
        position=position,
        blocked=np.packbits(code < 0, bitorder="little").view(np.uint64),
        basis=basis,
        limit=127.0 if is_byte else 1.0,
        bias=128.0 if is_byte else 0.0,
        grain=1.0 if is_byte else 1e-37,
        rounding=0.0 if is_byte else padded * 2.4e-7,
        slack=_slack(left, right),
    )
    wide = np.empty((_PART, width))  # a part at a time in the same memory, since new memory costs more
    for start in range(0, len(order), _PART):
        part = item[order[start : start + _PART]].astype(np.float64)
        moved = np.matmul(part, right, out=wide[: len(part)])
        round_items(moved, start // (PANEL_TILES * ITEMS), panels)
    # the search ends by bisection, so a panel's bound is that of all that follow
    panels.norm[:] = np.maximum.accumulate(panels.norm[::-1])[::-1]
    return panels


@entry
def gather_factors(
    user: F32s, item: F32s, codes: I32s, indptr: I64s, indices: I32s, out_items: I32s, out_scores: F32s
) -> None:
    """Fill lists of users' own candidates; scores are summed as `top_factors` sums them."""
    for row in range(len(codes)):
        who = np.int64(codes[row])
        start, stop = indptr[who], indptr[who + 1]
        keys = np.empty(stop - start, np.uint64)
        for p in range(start, stop, 4):
            last = stop - 1
            b, c, d = min(p + 1, last), min(p + 2, last), min(p + 3, last)
            dots = exact_dots(user, who, item, indices[p], indices[b], indices[c], indices[d])
            for offset in range(min(4, stop - p)):
                keys[p - start + offset] = sort_key(np.float32(dots[offset]), indices[p + offset])
        write_list(np.sort(keys)[::-1], len(keys), out_items, out_scores, row)


@cache
def _blas() -> ThreadpoolController:
    """Find the loaded BLAS libraries, once: that takes a millisecond."""
    return ThreadpoolController()


class FactorLists:
    """Lists of a factor model, of all items or of users' own candidates, which cost a product each.

    `use_bytes`: round to bytes or to float32, by default as is best here.
    """

    most_users = 512
    n_users: int | None

    def __init__(
        self,
        source: FactorSource,
        seen: SeenRows | None,
        items: Allowed | None,
        candidates: SeenRows | None,
        name: str,
        use_bytes: bool | None = None,
    ) -> None:
        self._user, self._item = (
            as_float32(f"{name}: user factors", source.user),
            as_float32(f"{name}: item factors", source.item),
        )
        if (
            self._user.ndim != 2
            or self._item.ndim != 2
            or self._user.shape[1:] != self._item.shape[1:]
            or not self._user.shape[1]
        ):
            raise ScoreError(
                f"{name}: factors must be matrices with the same number of columns, at least 1, "
                f"got {self._user.shape} and {self._item.shape}."
            )
        self.n_users, width = self._user.shape
        factors = (f"{name}: user factors", self._user), (f"{name}: item factors", self._item)
        check_sums(name, *factors, width)
        n_items = len(self._item)
        self._threads = threading.local()
        self._panels: Panels | None = None
        if candidates is not None:
            self._rows = candidate_rows(candidates, self.n_users, n_items)
            self.n_candidates = int(np.diff(self._rows[0]).max(initial=0))
            return
        self._rows = seen_rows(seen, self.n_users, n_items)
        allowed = allowed_items(items, n_items)
        self.n_candidates = len(allowed)
        if len(allowed):
            # small products: BLAS threads that wait for one another cost more than they bring
            with _blas().limit(limits=1, user_api="blas"):
                self._panels = prepare(self._user, self._item, allowed, use_bytes)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes; keys of candidates are one user's at a time."""
        if self._panels is None:
            return 8 * k + 16
        n_tiles = self.n_candidates // 64 + 1
        return 12 * capacity_of(k) + 8 * n_tiles + 4 * int(self._user.shape[1]) + 128

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        panels = self._panels
        if panels is None:
            gather_factors(self._user, self._item, users, *self._rows, items, scores)
            return
        space = self._space(len(users), capacity_of(items.shape[1]), panels)
        scratch = np.empty((5, 64), np.int32 if panels.bias > 0.0 else np.float32)
        top_factors(self._user, self._item, users, *self._rows, panels, space, scratch, items, scores)

    def _space(self, n_users: int, capacity: int, panels: Panels) -> Space:
        """Memory of the calling thread, allocated again only where it does not fit."""
        space: Space | None = getattr(self._threads, "space", None)
        if space is None or len(space.rows) < n_users or space.low.shape[1] != capacity:
            space = self._threads.space = Space(
                np.empty((n_users, panels.basis.shape[1]), np.int8 if panels.bias > 0.0 else np.float32),
                np.empty((n_users, capacity), np.float32),
                np.empty((n_users, capacity), np.float32),
                np.empty((n_users, capacity), np.int32),
                np.empty((n_users, len(panels.blocked)), np.uint64),
            )
        return space
