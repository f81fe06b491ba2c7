"""Top k the slow and obvious way: every score, then a full sort. Shares nothing with the engine."""

import numpy as np


def ordered_dot(left, right):
    """Sum float64 products in the documented order: by index modulo 8, 4 + 4, 2 + 2, 1 + 1, then the rest."""
    products = left.astype(np.float64) * right.astype(np.float64)
    whole = len(products) // 8 * 8
    sums = np.zeros(8)
    for start in range(0, whole, 8):
        sums = sums + products[start : start + 8]
    for half in (4, 2, 1):
        sums = sums[:half] + sums[half:]
    total = sums[0]
    for product in products[whole:]:
        total = total + product
    return total


def factor_scores(user, item):
    """Scores of all pairs, rounded to float32."""
    return np.array([[ordered_dot(u, v) for v in item] for u in user], np.float64).astype(np.float32)


def full_sort(scores, users, k, seen=None, allowed=None):
    """Lists from a full matrix of scores; ``seen`` is a sparse matrix of what each user has."""
    n_items = scores.shape[1]
    items = np.full((len(users), k), -1, np.int32)
    best = np.full((len(users), k), -np.inf, np.float32)
    for row, user in enumerate(users):
        barred = (
            set() if seen is None else set(seen.indices[seen.indptr[user] : seen.indptr[user + 1]].tolist())
        )
        codes = [i for i in range(n_items) if i not in barred and (allowed is None or allowed[i])]
        codes.sort(key=lambda i: (-float(scores[user, i]), i))
        codes = codes[:k]
        items[row, : len(codes)] = codes
        best[row, : len(codes)] = scores[user, codes]
    return items, best
