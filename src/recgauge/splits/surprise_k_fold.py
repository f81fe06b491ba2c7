"""The folds of the Surprise library, whose published figures were measured on them."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.splits import Assignment, ColdRows
from recgauge.splits.k_fold import Folds
from recgauge.utils.checks import check_int


@dataclass(frozen=True)
class SurpriseKFold(Folds):
    """Hold out one of the folds of Surprise's ``KFold(n_splits, random_state)``, row for row.

    Parameters
    ----------
    n_splits : int
        Number of folds, >= 2, or >= 3 with a validation part.
    fold : int
        The fold that is tested, from 0, in the order in which Surprise yields them.
    validation : bool
        Whether the next fold (after the last, the first) is the validation part; Surprise has none.
    random_state : int
        Surprise's ``random_state``, >= 0; the run's seed does not matter.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`; both "keep", as in Surprise, which predicts every row.

    Raises
    ------
    ConfigError
        If there is no such fold.
    EmptySplitError
        If there are fewer rows than folds.

    Notes
    -----
    Depends on the order of the rows: the folds are Surprise's if the rows are in the order of the publisher's
    file, as recgauge's data sets have them, and no filter drops any. The benchmark table in Surprise's README
    has five folds and ``random_state=0``.

    References
    ----------
    .. [1] N. Hug, "Surprise: A Python library for recommender systems", Journal of Open Source Software
       5(52), 2020.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> held_out = SurpriseKFold(n_splits=3).assign(ratings, rng=np.random.default_rng(0)).test
    >>> np.flatnonzero(held_out).tolist()
    [2, 5]
    """

    random_state: int = 0
    cold_users: ColdRows = field(default="keep", kw_only=True)

    name: ClassVar[str] = "surprise_k_fold"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("SurpriseKFold: random_state", self.random_state, minimum=0)

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; `rng` is not used."""
        order = np.arange(len(interactions))
        # The legacy generator of numpy, whose stream is frozen: that is what Surprise shuffles with.
        np.random.RandomState(self.random_state).shuffle(order)
        return Assignment(*self._parts(self._chunks(order.astype(np.int32), "rows")))
