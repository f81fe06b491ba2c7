"""Compiled loops over pairs of items: how often two were taken together; imported when a model is fitted."""

import numpy as np

from recgauge.utils.compiled import F32s, I32s, compiled

TILE = 64


@compiled(nogil=True)
def count_pairs(
    item_starts: I32s, item_users: I32s, user_starts: I32s, user_items: I32s, start: int, stop: int, out: F32s
) -> None:
    """Add to ``out[i, j]``, for i from `start` to `stop` and j <= i, the number of users with both.

    Users of each item come one item after the other, as do the items of each user, ascending.
    """
    for item in range(start, stop):
        for at in range(item_starts[item], item_starts[item + 1]):
            user = item_users[at]
            for place in range(user_starts[user], user_starts[user + 1]):
                other = user_items[place]
                if other > item:
                    break
                out[item, other] += np.float32(1.0)


@compiled(nogil=True)
def mirror(square: F32s, scale: F32s, start: int, stop: int) -> None:
    """Fill both halves of a symmetric square from the lower one, entry (j, i) times ``scale[i]``, in place.

    `start` and `stop` are rows of the lower half, multiples of `TILE` or n; what they mirror is in rows
    before `stop`.
    """
    for top in range(start, stop, TILE):
        bottom = min(top + TILE, stop)
        for left in range(0, bottom, TILE):
            for j in range(top, bottom):
                for i in range(left, min(left + TILE, j + 1)):
                    value = square[j, i]
                    square[i, j] = value * scale[j]
                    square[j, i] = value * scale[i]
