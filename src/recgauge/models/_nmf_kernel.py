"""The compiled loop of non-negative matrix factorisation; imported when a model is fitted."""

import numpy as np

from recgauge.utils.compiled import F64s, I32s, I64s, compiled


@compiled(nogil=True)
def update(
    start: I64s,
    others: I32s,
    value: F64s,
    own: F64s,
    other_factors: F64s,
    pull: float,
    first: int,
    last: int,
    updated: F64s,
) -> float:
    """Write the factors of users `first` to `last` after one multiplicative update; items likewise.

    The rows of a user, items `others` and ratings `value`, begin at ``start[user]``; `own`, `updated`,
    (n_users, d), and `other_factors`, (n_items, d), are before and after the update, `pull` is the
    regularization. Returns the sum of the squared errors of their rows before it.
    """
    n_factors = own.shape[1]
    above, below = np.empty(n_factors), np.empty(n_factors)
    squares = 0.0
    for u in range(first, last):
        p = own[u]
        above[:] = 0.0
        for f in range(n_factors):
            below[f] = (start[u + 1] - start[u]) * pull * p[f]
        for row in range(start[u], start[u + 1]):
            q = other_factors[others[row]]
            predicted = 0.0
            for f in range(n_factors):
                predicted += p[f] * q[f]
            squares += (value[row] - predicted) ** 2
            for f in range(n_factors):
                above[f] += q[f] * value[row]
                below[f] += q[f] * predicted
        for f in range(n_factors):
            updated[u, f] = p[f] * above[f] / below[f] if below[f] > 0.0 else p[f]
    return squares
