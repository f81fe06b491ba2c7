"""Random scores: what a list is worth by chance alone."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from recgauge._checks import FloatArray, IntArray
from recgauge.interactions import Interactions
from recgauge.models import Recommender, not_fitted

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(eq=False)
class Random(Recommender):
    """Score every (user, item) pair by a uniform random number in [0, 1).

    The number depends only on the run's seed and the two codes, so neither the order of users nor the size
    of blocks changes a list.

    Notes
    -----
    The pair is hashed with the finaliser of SplitMix64 [1]_; the top 24 bits become the float32.

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "b"], [1, 2])
    >>> model = Random().fit(train, rng=np.random.default_rng(0))
    >>> both = model.score(np.array([0, 1], np.int32))
    >>> bool((model.score(np.array([1], np.int32)) == both[1]).all())
    True
    """

    def __post_init__(self) -> None:
        self._key: np.uint64 | None = None
        self._n_items = 0

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Draw the key of the hash."""
        self._key = rng.integers(2**64, dtype=np.uint64)
        self._n_items = train.n_items
        return self

    def fold_in(self, histories: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: users need no rows."""
        return self

    def score(self, users: IntArray) -> FloatArray:
        """Return uniform numbers, shape (b, n_items) float32."""
        if self._key is None:
            raise not_fitted(self)
        rows = _mix(users.astype(np.uint64) * _GOLDEN + self._key)
        columns = np.arange(1, self._n_items + 1, dtype=np.uint64) * _GOLDEN
        bits = _mix(rows[:, None] + columns)
        return (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def _mix(
    x: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Scramble 64-bit words; every input bit changes every output bit with probability near one half."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
