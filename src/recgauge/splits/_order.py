"""Orders of each user's rows: by time, or by chance; independent of the order of the table."""

import numpy as np
import numpy.typing as npt

from recgauge._checks import LongArray
from recgauge.errors import SchemaError
from recgauge.interactions import Interactions

Words = npt.NDArray[np.uint64]


def times_of(interactions: Interactions, owner: str) -> LongArray:
    """Return the timestamps, or say what to do without.

    Raises
    ------
    SchemaError
        If the data have none.
    """
    if interactions.timestamp is None:
        raise SchemaError(
            f"{owner}: rows need timestamps, and this data set has none. Name the column with "
            "dataset.time=COLUMN if there is one, or choose a split that needs no time: split=random, "
            "random_per_user, leave_one_out, k_fold, k_fold_users or strong_generalisation."
        )
    return interactions.timestamp


def latest_first(interactions: Interactions, owner: str) -> LongArray:
    """Return each row's place among its user's rows, 0 for the latest, shape (n,).

    Rows of the same second are ordered by a fixed scramble of their pair of codes: neither the order of the
    table, nor that of the ids, nor the seed decides, and no kind of item is favoured.
    """
    times = times_of(interactions, owner)
    order = np.lexsort((scramble(interactions), times, interactions.user))
    return interactions.user_counts()[interactions.user] - 1 - _places(interactions, order)


def shuffled(interactions: Interactions, rng: np.random.Generator) -> LongArray:
    """Return each row's random place among its user's rows, from 0, shape (n,).

    Numbers are drawn in the order of the codes, so that the order of the table does not matter.
    """
    by_code = np.lexsort((interactions.item, interactions.user))
    draws = np.empty(len(interactions))
    draws[by_code] = rng.random(len(interactions))
    return _places(interactions, np.lexsort((draws, interactions.user)))


def scramble(interactions: Interactions) -> Words:
    """Return a fixed, even hash of each row's pair of codes, shape (n,): SplitMix64's finaliser."""
    word = (interactions.user.astype(np.uint64) << np.uint64(32)) | interactions.item.astype(np.uint64)
    word = (word + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    scrambled: Words = word ^ (word >> np.uint64(31))
    return scrambled


def _places(interactions: Interactions, order: LongArray) -> LongArray:
    """Return the place inside the user's rows of each row, given all rows ordered user by user."""
    counts = interactions.user_counts()
    first = np.cumsum(counts) - counts
    places = np.empty(len(interactions), dtype=np.int64)
    places[order] = np.arange(len(interactions)) - first[interactions.user[order]]
    return places
