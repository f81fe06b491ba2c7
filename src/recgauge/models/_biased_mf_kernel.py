"""The compiled inner loop of biased matrix factorisation; imported when a model is fitted."""

from typing import Any

import numpy as np

from recgauge.utils.compiled import F32s, I32s, compiled

# Sums may be reordered, so that the products run in vector registers, twice the speed measured; NaN and
# infinity keep their meaning, since divergence is recognised by them.
REORDER = {"reassoc", "contract", "nsz"}


@compiled(fastmath=REORDER, nogil=True)
def descend(
    user: I32s,
    item: I32s,
    deviation: F32s,
    user_bias: F32s,
    item_bias: F32s,
    user_factors: F32s,
    item_factors: F32s,
    learning_rate: Any,
    regularization: Any,
) -> float:
    """Take one step of gradient descent per row, in order; biases and factors change in place.

    `user`, `item` and `deviation`, which is ratings less their mean, have shape (n,), biases one number a
    code, factors d. Returns the sum of squared errors, each before its step.
    """
    n_factors = user_factors.shape[1]
    squares = 0.0
    for row in range(len(user)):
        u, i = user[row], item[row]
        p, q = user_factors[u], item_factors[i]
        product = np.float32(0.0)
        for f in range(n_factors):
            product += p[f] * q[f]
        error = deviation[row] - user_bias[u] - item_bias[i] - product
        squares += float(error) * float(error)
        user_bias[u] += learning_rate * (error - regularization * user_bias[u])
        item_bias[i] += learning_rate * (error - regularization * item_bias[i])
        for f in range(n_factors):
            old_p, old_q = p[f], q[f]
            p[f] = old_p + learning_rate * (error * old_q - regularization * old_p)
            q[f] = old_q + learning_rate * (error * old_p - regularization * old_q)
    return squares
