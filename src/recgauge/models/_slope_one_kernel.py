"""The compiled loops of Slope One; imported when a model is fitted."""

import numpy as np

from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled


@compiled(nogil=True)
def mean_deviations(
    user_start: I64s,
    user: I32s,
    item: I32s,
    value: F32s,
    item_start: I64s,
    by_item: I64s,
    first: int,
    last: int,
    deviations: F32s,
) -> None:
    """Write how much better item i is rated than item j by those who rated both, NaN if nobody did.

    Rows are sorted by user, then by item; those of a user begin at `user_start`, those of an item at
    `item_start` of `by_item`, which holds positions. Written are the items i from `first` to `last` with all
    behind them, and their negatives.
    """
    n_items = len(item_start) - 1
    sums, counts = np.empty(n_items), np.empty(n_items, np.int32)
    for i in range(first, last):
        sums[:] = 0.0
        counts[:] = 0
        for row in by_item[item_start[i] : item_start[i + 1]]:
            for other in range(
                row + 1, user_start[user[row] + 1]
            ):  # items behind i; the rest is the negative
                sums[item[other]] += value[row] - value[other]
                counts[item[other]] += 1
        deviations[i, i] = 0.0 if item_start[i + 1] > item_start[i] else np.nan
        for j in range(i + 1, n_items):
            mean = np.float32(sums[j] / counts[j]) if counts[j] else np.float32(np.nan)
            deviations[i, j] = mean
            deviations[j, i] = -mean


@compiled(nogil=True)
def predict_pairs(
    users: I32s,
    items: I32s,
    start: I64s,
    item: I32s,
    user_means: F64s,
    deviations: F32s,
    predicted: F32s,
) -> None:
    """Write the predictions of pairs, shape (n,); `start` and `item` are the users' training rows."""
    for pair in range(len(users)):
        u, i = users[pair], items[pair]
        total, count = 0.0, 0
        for j in item[start[u] : start[u + 1]]:
            deviation = deviations[i, j]
            if not np.isnan(deviation):
                total += deviation
                count += 1
        predicted[pair] = user_means[u] + total / max(count, 1)


@compiled(nogil=True)
def predict_all(
    users: I32s,
    start: I64s,
    item: I32s,
    user_means: F64s,
    deviations: F32s,
    predicted: F32s,
) -> None:
    """Write the predictions of all items, shape (b, n_items)."""
    n_items = len(deviations)
    total, count = np.empty(n_items, np.float32), np.empty(n_items, np.int32)
    for at in range(len(users)):
        u = users[at]
        total[:] = np.float32(0.0)
        count[:] = 0
        for j in item[start[u] : start[u + 1]]:
            behind = deviations[j]  # of j behind every item: the negative of what is added
            for i in range(n_items):
                known = behind[i] == behind[i]
                total[i] -= behind[i] if known else np.float32(0.0)
                count[i] += np.int32(known)
        for i in range(n_items):
            predicted[at, i] = user_means[u] + total[i] / max(count[i], 1)
