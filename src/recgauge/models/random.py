"""Random scores: what a list is worth by chance alone, and the random bits of a user and an item."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models import Recommender, not_fitted
from recgauge.utils.checks import FloatArray, IntArray, LongArray
from recgauge.utils.randomness import GOLDEN, Words, mix
from recgauge.utils.resources import over_blocks

Draw = Literal["uniform", "rows"]
_NEVER = np.float32(100)  # no drawn item waits longer: the longest waiting time below is 36.8
_BLOCK = 512  # users whose scores a thread makes at a time
_NEAR = 1 << 22  # bytes of scores that are used before they leave the cache


@dataclass(eq=False)
class Random(Recommender):
    """Recommend items drawn at random, newly for every user.

    The draw depends only on the run's seed and the codes of user and item, so neither the order of users
    or rows nor the size of blocks changes a list.

    Parameters
    ----------
    draw : {"uniform", "rows"}
        ``uniform``: every item has the same chance. ``rows``: training rows are drawn and their items
        recommended, so an item's chance is in proportion to its rows; an item that is drawn again is passed
        over, and items without rows are last.

    Notes
    -----
    A uniform score is the top 24 bits of the pair's hash, in [0, 1). For ``rows`` an item waits an
    exponential time with its number of rows as rate, and the score is minus that time: who is first,
    second and so on is then distributed as in drawing rows one after the other [1]_.

    The article behind ``rows`` draws from all ratings, those held out included, which ``fit_on=all`` does
    too, and keeps items that are drawn twice, which a list here never holds [2]_.

    References
    ----------
    .. [1] P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir", Information
       Processing Letters 97(5), 2006.
    .. [2] C. Longo, "Evaluation metrics for recommender systems", 2018, and the notebook of its library
       recmetrics.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "b"], [1, 2])
    >>> model = Random().fit(train, rng=np.random.default_rng(0))
    >>> both = model.score(np.array([0, 1], np.int32))
    >>> bool((model.score(np.array([1], np.int32)) == both[1]).all())
    True
    """

    draw: Draw = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._key: np.uint64 | None = None
        self._counts: LongArray = np.zeros(0, np.int64)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Draw the key of the hash and count the items' rows."""
        self._key = rng.integers(2**64, dtype=np.uint64)
        self._counts = train.item_counts()
        return self

    def fold_in(self, histories: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: users need no rows."""
        return self

    @property
    def users_at_once(self) -> int:
        """Users whose scores fit near the processor, for whoever only looks at them once."""
        return max(1, _NEAR // (4 * max(1, len(self._counts))))

    def score(self, users: IntArray) -> FloatArray:
        """Return scores, shape (b, n_items) float32."""
        if self._key is None:
            raise not_fitted(self)
        items = np.arange(len(self._counts), dtype=np.int32)
        if self.draw == "uniform":
            return self._uniform(self._key, users, items)
        bits = pair_bits(self._key, users[:, None], items[None, :])
        uniform = (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
        # the lowest bits make the waiting time as fine as a float32 near 0; 1 - u lies in (0, 1]
        finer = ((bits >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53
        waiting = -np.log(finer) / np.maximum(self._counts, 1)
        score: FloatArray = np.where(self._counts > 0, -waiting, -_NEVER - uniform).astype(np.float32)
        return score

    @staticmethod
    def _uniform(key: np.uint64, users: IntArray, items: IntArray) -> FloatArray:
        """Return what `pair_bits` gives in many passes over memory, in one."""
        from recgauge.models._random_kernel import uniform_scores

        rows, columns = _user_words(key, users), _item_words(items)
        scores = np.empty((len(users), len(items)), np.float32)
        over_blocks(
            lambda start, stop: uniform_scores(rows, columns, start, stop, scores), len(users), _BLOCK
        )
        return scores


def pair_bits(key: np.uint64, users: IntArray, items: IntArray) -> Words:
    """Return 64 random bits for each pair; users and items broadcast against one another.

    Notes
    -----
    Each code is hashed with `mix`, the user's first.

    Examples
    --------
    >>> key, users, items = np.uint64(7), np.array([3, 4]), np.array([5, 5])
    >>> both = pair_bits(key, users, items)
    >>> bool(both[1] == pair_bits(key, users[1:], items[1:])[0]), bool(both[0] == both[1])
    (True, False)
    """
    return mix(_user_words(key, users) + _item_words(items))


def _user_words(key: np.uint64, users: IntArray) -> Words:
    """Return the users' share of `pair_bits`."""
    return mix(users.astype(np.uint64) * GOLDEN + key)


def _item_words(items: IntArray) -> Words:
    """Return the items' share of `pair_bits`."""
    return (items.astype(np.uint64) + np.uint64(1)) * GOLDEN
