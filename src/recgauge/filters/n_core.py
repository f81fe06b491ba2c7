"""Users and items with few rows are dropped together, once or until nothing changes."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.filters import RowFilter
from recgauge.utils.checks import BoolArray, check_bool, check_int


@dataclass(frozen=True)
class NCore(RowFilter):
    """Keep users and items with at least so many rows each.

    Parameters
    ----------
    n : int
        Fewest rows of a user, >= 1.
    item_n : int or None
        Fewest rows of an item, >= 1; None: as `n`.
    repeat : bool
        Whether to count again on what is left until nothing changes. False: users and items are counted
        once, both before any row is dropped, so some may end below the limit.

    Raises
    ------
    ConfigError
        If a number is not a whole number of at least 1.

    Notes
    -----
    The repeated form is the largest part in which everybody has enough rows; order of rows and of counting
    do not matter, and running it again changes nothing.

    References
    ----------
    .. [1] S. B. Seidman, "Network structure and minimum degree", Social Networks 5(3), 1983.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a", "b", "b", "c", "c"], [1, 2, 1, 2, 2, 3])
    >>> NCore(2).keep(ratings).tolist()
    [True, True, True, True, False, False]
    >>> NCore(2, repeat=False).keep(ratings).tolist()
    [True, True, True, True, True, False]
    """

    n: int
    item_n: int | None = None
    repeat: bool = True

    def __post_init__(self) -> None:
        check_int("NCore: n", self.n, minimum=1)
        if self.item_n is not None:
            check_int("NCore: item_n", self.item_n, minimum=1)
        check_bool("NCore: repeat", self.repeat)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        kept = np.ones(len(interactions), dtype=bool)
        item_n = self.n if self.item_n is None else self.item_n
        while True:
            users = np.bincount(interactions.user[kept], minlength=interactions.n_users) >= self.n
            items = np.bincount(interactions.item[kept], minlength=interactions.n_items) >= item_n
            enough = users[interactions.user] & items[interactions.item]
            unchanged = not (kept & ~enough).any()
            kept &= enough
            if unchanged or not self.repeat:
                return kept

    def __str__(self) -> str:
        items = "" if self.item_n in (None, self.n) else f"-{self.item_n}"
        if self.repeat:
            return f"users and items outside the {self.n}{items}-core"
        least = f"{self.n} rows" if not items else f"{self.n} (users) or {self.item_n} (items) rows"
        return f"users and items with fewer than {least}, counted once"
