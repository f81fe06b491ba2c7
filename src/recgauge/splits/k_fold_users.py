"""Cross-validation over users: every user is held out in exactly one fold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.splits import Assignment
from recgauge.splits._hide import HeldOutUsers, Pick, check_hiding
from recgauge.splits._order import ByTime
from recgauge.splits.k_fold import Folds


@dataclass(frozen=True)
class KFoldUsers(ByTime, Folds):
    """Hold out one of `n_splits` random folds of all users; models are given some of their rows.

    Parameters
    ----------
    n_splits : int
        Number of folds, >= 2, or >= 3 with a validation part; sizes differ by at most one user.
    fold : int
        The fold whose users are tested, from 0; the folds are the same whichever is tested.
    validation : bool
        Whether the users of the next fold (after the last, the first) are the validation part.
    hidden, pick, ties
        See `StrongGeneralisation`.
    cold_users, cold_items : {"drop", "keep"}
        See `StrongGeneralisation`.

    Raises
    ------
    ConfigError
        If there is no such fold.
    EmptySplitError
        If there are fewer users than folds.

    Notes
    -----
    The model must be able to fold in users (``fold_in``). Does not depend on the order of the rows if no
    (user, item) pair repeats. Which rows of a user are hidden does not depend on the fold.

    Examples
    --------
    >>> ratings = Interactions.from_ids(np.repeat([1, 2, 3, 4], 5), np.tile([1, 2, 3, 4, 5], 4))
    >>> split = KFoldUsers(n_splits=4, fold=3).split(ratings, rng=np.random.default_rng(0))
    >>> len(split.train), len(split.fold_in), len(split.test)
    (15, 4, 1)
    """

    hidden: float = 0.2
    pick: Pick = "random"

    name: ClassVar[str] = "k_fold_users"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_hiding("KFoldUsers", self.hidden, self.pick)

    @property
    def tie_rule(self) -> str | None:
        """The rule for rows of one user and time, if rows are picked by time."""
        return self.ties if self.pick == "last" else None

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out, and which are given after training."""
        users = rng.permutation(interactions.n_users).astype(np.int32)
        tested, validated = self._parts(self._chunks(users, "users"))
        rows = HeldOutUsers(
            interactions, self.hidden, self.pick, self.ties, drop_cold_items=self.cold_items == "drop"
        )
        return rows.assign(tested, validated, rng)
