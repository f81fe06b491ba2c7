"""The compiled loop of random walks from item to item; imported when a model is fitted."""

import numpy as np

from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled


@compiled(nogil=True)
def largest(weights: F32s, codes: I32s, count: int, k: int) -> int:
    """Move the k largest of the first `count` weights, of equal ones those of low codes, to the front."""
    level = np.partition(weights[:count], count - k)[count - k]
    ties = np.sort(codes[:count][weights[:count] == level])
    kept = 0
    for place in range(count):
        if weights[place] > level:
            weights[kept], codes[kept] = weights[place], codes[place]
            kept += 1
    weights[kept:k], codes[kept:k] = level, ties[: k - kept]
    return k


@compiled(nogil=True)
def keep_largest(starts: I64s, codes: I32s, weights: F32s, k: int) -> None:
    """Set all weights of each list but the k largest to 0; the lists come one after the other."""
    for at in range(len(starts) - 1):
        start, stop = starts[at], starts[at + 1]
        if stop - start > k:
            largest(weights[start:stop], codes[start:stop], stop - start, k)
            weights[start + k : stop] = 0.0


@compiled(nogil=True)
def with_room(codes: I32s, weights: F32s, filled: int, count: int) -> tuple[I32s, F32s]:
    """Return lists that can take `count` more entries after the first `filled`."""
    if filled + count <= len(codes):
        return codes, weights
    room = max(2 * len(codes), filled + count)
    more_codes, more_weights = np.empty(room, np.int32), np.empty(room, np.float32)
    more_codes[:filled], more_weights[:filled] = codes[:filled], weights[:filled]
    return more_codes, more_weights


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
    found, weight = np.empty(n_items, np.int32), np.empty(n_items, np.float32)
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
                found[count] = source
                weight[count] = sums[source] * source_share[source] * target_share[target]
                count += 1
            sums[source] = 0.0
        if count > k:
            count = largest(weight, found, count, k)
        codes, weights = with_room(codes, weights, filled, count)
        codes[filled : filled + count], weights[filled : filled + count] = found[:count], weight[:count]
        counts[target - start] = count
        filled += count
    return counts, codes[:filled].copy(), weights[:filled].copy()
