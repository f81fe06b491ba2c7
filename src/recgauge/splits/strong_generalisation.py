"""Users are held out as a whole: models meet them after training, by some of their rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import EmptySplitError
from recgauge.splits import Assignment
from recgauge.splits._hide import HeldOutUsers, Pick, check_hiding
from recgauge.splits._order import ByTime
from recgauge.utils.checks import check_int, check_real


@dataclass(frozen=True)
class StrongGeneralisation(ByTime):
    """Hold out random users; models are given some of their rows after training, the others are tested.

    Parameters
    ----------
    n_test : float or int
        Test users: a share of all in (0, 1), or a number from 1.
    n_validation : float or int
        Validation users, likewise; 0 makes no validation part.
    hidden : float
        Share of a held-out user's rows that is tested, in (0, 1), rounded to the nearest whole number, half
        to even, but at least one row and not all; a user with a single row is not tested.
    pick : {"random", "last"}
        Which rows are hidden: random ones, or the last by time.
    ties : str
        With ``pick="last"``: which of a user's rows of one time counts as the latest, see `ByTime`; default
        ``fixed_random``.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`. With ``cold_items="drop"`` held-out users' rows with items that no training user has
        are dropped before rows are hidden.

    Raises
    ------
    ConfigError
        If a setting is not valid.
    EmptySplitError
        If no user is left to train on.
    SchemaError
        If the last rows are requested and the data have no timestamps.

    Notes
    -----
    The model must be able to fold in users (``fold_in``): others are refused by name. Does not depend on the
    order of the rows if no (user, item) pair repeats.

    References
    ----------
    .. [1] B. Marlin, "Collaborative filtering: a machine learning perspective", MSc thesis, University of
       Toronto, 2004, section 3.3.
    .. [2] D. Liang, R. G. Krishnan, M. D. Hoffman, T. Jebara, "Variational autoencoders for collaborative
       filtering", WWW 2018, section 4.1.

    Examples
    --------
    >>> ratings = Interactions.from_ids(np.repeat([1, 2, 3, 4], 5), np.tile([1, 2, 3, 4, 5], 4))
    >>> split = StrongGeneralisation(n_test=1).split(ratings, rng=np.random.default_rng(0))
    >>> len(split.train), len(split.fold_in), len(split.test)
    (15, 4, 1)
    """

    n_test: float = 0.1
    n_validation: float = 0.0
    hidden: float = 0.2
    pick: Pick = "random"

    name: ClassVar[str] = "strong_generalisation"

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting, value in (("n_test", self.n_test), ("n_validation", self.n_validation)):
            if isinstance(value, float) and value < 1.0:
                least = setting == "n_test"
                check_real(f"StrongGeneralisation: {setting}", value, low=0.0, high=1.0, low_open=least)
            else:
                check_int(f"StrongGeneralisation: {setting}", value, minimum=int(setting == "n_test"))
        check_hiding("StrongGeneralisation", self.hidden, self.pick)

    @property
    def tie_rule(self) -> str | None:
        """The rule for rows of one user and time, if rows are picked by time."""
        return self.ties if self.pick == "last" else None

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out, and which are given after training."""
        n_users = interactions.n_users
        n_test, n_validation = (_count(share, n_users) for share in (self.n_test, self.n_validation))
        if n_test + n_validation >= n_users:
            raise EmptySplitError(
                f"StrongGeneralisation: {n_test} test and {n_validation} validation users leave none of "
                f"{n_users} to train on. Lower split.n_test or split.n_validation."
            )
        rank = np.empty(n_users, dtype=np.int64)
        rank[rng.permutation(n_users)] = np.arange(n_users)
        tested, validated = rank < n_test, (rank >= n_test) & (rank < n_test + n_validation)
        rows = HeldOutUsers(
            interactions, self.hidden, self.pick, self.ties, drop_cold_items=self.cold_items == "drop"
        )
        return rows.assign(tested, validated if self.n_validation else None, rng)


def _count(share: float, n_users: int) -> int:
    return round(share * n_users) if share < 1 else int(share)
