"""The compiled inner loops of implicit alternating least squares; imported when a model is fitted."""

from typing import Any

import numpy as np

from recgauge.models._lanes import add_errors, dot
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled


@compiled(nogil=True)
def add_gram(factors: F32s, first: int, stop: int, out: F32s) -> None:
    """Add the products of the rows ``factors[first:stop]`` with themselves to `out`, (d, d), in order."""
    width = factors.shape[1]
    for start in range(first, stop, 4):
        if start + 4 <= stop:
            a, b, c, d = factors[start], factors[start + 1], factors[start + 2], factors[start + 3]
            for f in range(width):
                row, wa, wb, wc, wd = out[f], a[f], b[f], c[f], d[f]
                for g in range(width):
                    row[g] = row[g] + wa * a[g] + wb * b[g] + wc * c[g] + wd * d[g]
        else:
            for last in range(start, stop):
                a = factors[last]
                for f in range(width):
                    row, wa = out[f], a[f]
                    for g in range(width):
                        row[g] += wa * a[g]


@compiled(nogil=True)
def _less_penalty(gram: F32s, pull: Any, x: F32s, out: F32s) -> None:
    """Set `out` to ``-(gram + pull) x``; a row of `gram` is a column, too."""
    width = len(x)
    for g in range(width):
        out[g] = -pull * x[g]
    for f in range(0, width, 4):
        a, b, c, d = gram[f], gram[f + 1], gram[f + 2], gram[f + 3]
        wa, wb, wc, wd = x[f], x[f + 1], x[f + 2], x[f + 3]
        for g in range(width):
            out[g] = out[g] - wa * a[g] - wb * b[g] - wc * c[g] - wd * d[g]


@compiled(nogil=True, error_model="numpy")
def solve(
    indptr: I64s,
    codes: I32s,
    weights: F32s,
    other: F32s,
    gram: F32s,
    pulls: F32s,
    own: F32s,
    first: int,
    stop: int,
    n_steps: int,
    tolerance: Any,
    losses: F64s,
) -> None:
    r"""Improve each row of ``own[first:stop]`` by so many steps of conjugate gradients from where it is.

    Minimises, for row u, :math:`\sum_p c_p (1 - h_p x)^2 + x (G + \lambda_u) x` with the rows h of `other`,
    (m, d), and the entries of a CSR matrix; `gram` is (d, d), `pulls` (n,). A row is done when the square of
    its residual is the part `tolerance` of the first one. `losses`, (n,), is filled with what the rows' sums
    have come to.
    """
    width = own.shape[1]
    residual, step, change = (
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
    )
    zero, one = np.float32(0.0), np.float32(1.0)
    for u in range(first, stop):
        x, pull, begin, end = own[u], pulls[u], indptr[u], indptr[u + 1]
        losses[u] = 0.0
        if begin == end:
            x[:] = zero
            continue
        _less_penalty(gram, pull, x, residual)
        losses[u] = -np.float64(dot(x, residual))
        losses[u] += add_errors(other, codes, weights, begin, end, x, one, residual)
        step[:] = residual
        square = dot(residual, residual)
        enough = tolerance * square
        for _ in range(n_steps):
            if square <= enough or square <= np.float32(1e-30):
                break
            _less_penalty(gram, pull, step, change)
            add_errors(other, codes, weights, begin, end, step, zero, change)
            length = -square / dot(step, change)
            for g in range(width):
                x[g] += length * step[g]
                residual[g] += length * change[g]
            losses[u] -= np.float64(length) * np.float64(square)
            before, square = square, dot(residual, residual)
            turn = square / before
            for g in range(width):
                step[g] = residual[g] + turn * step[g]
