"""Numbers drawn for (user, item) pairs: they depend on a key and the two codes, on nothing else."""

import numpy as np
import numpy.typing as npt

from recgauge.utils.checks import IntArray

Words = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def pair_bits(key: np.uint64, users: IntArray, items: IntArray) -> Words:
    """Return 64 random bits for each pair; users and items broadcast against one another.

    Notes
    -----
    Each code is hashed with the finaliser of SplitMix64 [1]_, the user's first.

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    Examples
    --------
    >>> key, users, items = np.uint64(7), np.array([3, 4]), np.array([5, 5])
    >>> both = pair_bits(key, users, items)
    >>> bool(both[1] == pair_bits(key, users[1:], items[1:])[0]), bool(both[0] == both[1])
    (True, False)
    """
    rows = _mix(users.astype(np.uint64) * _GOLDEN + key)
    return _mix(rows + (items.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


def _mix(x: Words) -> Words:
    """Scramble 64-bit words; every input bit changes every output bit with probability near one half."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
