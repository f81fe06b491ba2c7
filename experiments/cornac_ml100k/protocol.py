"""Cornac's split by ratio, row for row, and whom it ranks."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from recgauge.candidates import CandidateItems, TrainItems, seen_rows
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.splits import Assignment
from recgauge.splits.shares import RandomRows


@dataclass(frozen=True)
class RatioSplit(RandomRows):
    """Hold out the share of all rows that Cornac's ``RatioSplit`` does.

    Parameters
    ----------
    test_size : float
        Share of test rows; their number is rounded up.
    random_state : int
        Cornac's ``seed``; that of the run does not matter.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> held_out = RatioSplit(test_size=0.3).assign(ratings, rng=np.random.default_rng(0)).test
    >>> np.flatnonzero(held_out).tolist()
    [2, 5]
    """

    random_state: int = 123

    name: ClassVar[str] = "cornac_ratio"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; `rng` is not used."""
        n_test = int(np.ceil(self.test_size * len(interactions)))
        test = np.zeros(len(interactions), np.bool_)
        # The legacy generator of numpy, whose stream is frozen: Cornac draws with it.
        test[np.random.RandomState(self.random_state).permutation(len(interactions))[-n_test:]] = True
        return Assignment(test=test)


@dataclass(frozen=True)
class AllButLiked(TrainItems):
    """Every item with a training row, but for those that the user rated high there.

    Cornac leaves what a user rated below the threshold in training among the candidates, where it can only
    be a miss.

    Parameters
    ----------
    seen : {"both", "train", "validation", "none"}
        As in `recgauge.candidates.TrainItems`.
    liked_from : float
        Lowest rating of a seen row that takes its item out.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = AllButLiked().choose(split, rng=stream(0, "candidates"))
    >>> chosen.excluded.nnz == int((split.train.value >= 4).sum())
    True
    """

    liked_from: float = 4.0

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:
        """Return the items that occur in train, and what users liked there as excluded."""
        liked = split.train.take(split.train.value >= self.liked_from)
        excluded = seen_rows(replace(split, train=liked), self.seen)
        return replace(super().choose(split, rng=rng), excluded=excluded)
