"""Compiled loop over pairs of user and item: the uniform scores of `Random`; imported when it scores."""

import numpy as np

from recgauge.utils.compiled import F32s, U64s, compiled


@compiled(nogil=True)
def uniform_scores(rows: U64s, columns: U64s, start: int, stop: int, out: F32s) -> None:
    """Write the top 24 bits of ``mix(rows[u] + columns[i])``, in [0, 1), to ``out[u, i]`` for some users.

    The steps are those of `recgauge.utils.randomness.mix`, in whole numbers: every processor gives the same.
    """
    for user in range(start, stop):
        row = rows[user]
        for item in range(len(columns)):
            word = row + columns[item]
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
            out[user, item] = np.float32(np.int64(word >> np.uint64(40))) * np.float32(2.0**-24)
