"""The compiled inner loop of SVD++; imported when a model is fitted."""

from typing import Any

import numpy as np

from recgauge.utils.compiled import F32s, I32s, I64s, compiled


@compiled(nogil=True)
def _implicit_sum(items: I32s, implicit_factors: F32s, total: F32s) -> None:
    total[:] = np.float32(0.0)
    for item in items:
        y = implicit_factors[item]
        for f in range(len(total)):
            total[f] += y[f]
    total /= np.float32(np.sqrt(float(max(len(items), 1))))


@compiled(nogil=True)
def implicit_sums(
    start: I64s,
    item: I32s,
    implicit_factors: F32s,
    sums: F32s,
) -> None:
    """Write each user's sum of implicit factors over the root of their number into `sums`, (n_users, d)."""
    for u in range(len(start) - 1):
        _implicit_sum(item[start[u] : start[u + 1]], implicit_factors, sums[u])


@compiled(nogil=True)
def descend(
    visited: I32s,
    start: I64s,
    item: I32s,
    deviation: F32s,
    user_bias: F32s,
    item_bias: F32s,
    user_factors: F32s,
    item_factors: F32s,
    implicit_factors: F32s,
    learning_rate: Any,
    regularization: Any,
) -> float:
    """Take one step of gradient descent per row, user after user; all parameters change in place.

    A step moves the implicit factors of all the user's items in the same way: shrunk, then shifted. So the
    steps of one user are composed, their sum is moved along, and the items are moved once, at the end.

    Users take their steps in the order `visited`; the rows of one, items and ratings less their mean, begin
    at `start`. Returns the sum of squared errors, each before its step.
    """
    n_factors = user_factors.shape[1]
    total, shift = np.empty(n_factors, np.float32), np.empty(n_factors, np.float32)
    kept = np.float32(1.0) - learning_rate * regularization
    squares = 0.0
    for u in visited:
        n_rows = start[u + 1] - start[u]
        if n_rows == 0:
            continue
        root = np.float32(np.sqrt(float(n_rows)))
        p = user_factors[u]
        _implicit_sum(item[start[u] : start[u + 1]], implicit_factors, total)
        shrink = np.float32(1.0)
        shift[:] = np.float32(0.0)
        for row in range(start[u], start[u + 1]):
            i = item[row]
            q = item_factors[i]
            product = np.float32(0.0)
            for f in range(n_factors):
                product += q[f] * (p[f] + total[f])
            error = deviation[row] - user_bias[u] - item_bias[i] - product
            squares += float(error) * float(error)
            user_bias[u] += learning_rate * (error - regularization * user_bias[u])
            item_bias[i] += learning_rate * (error - regularization * item_bias[i])
            shrink *= kept
            for f in range(n_factors):
                old_p, old_q = p[f], q[f]
                moved = learning_rate * error * old_q
                p[f] = old_p * kept + moved
                q[f] = old_q * kept + learning_rate * error * (old_p + total[f])
                shift[f] = shift[f] * kept + moved / root
                total[f] = total[f] * kept + moved
        for row in range(start[u], start[u + 1]):
            y = implicit_factors[item[row]]
            for f in range(n_factors):
                y[f] = y[f] * shrink + shift[f]
    return squares
