"""Users and items with too few or too many rows are dropped."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError
from recgauge.filters import RowFilter
from recgauge.utils.checks import BoolArray, LongArray, check_bool, check_int


@dataclass(frozen=True)
class _RowCounts(RowFilter):
    at_least: int | None = None
    more_than: int | None = None
    at_most: int | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for name, minimum in (("at_least", 1), ("more_than", 0), ("at_most", 1)):
            if getattr(self, name) is not None:
                check_int(f"{owner}: {name}", getattr(self, name), minimum=minimum)
        if self.at_least is None and self.more_than is None and self.at_most is None:
            raise ConfigError(f"{owner}: no limit is set; set at_least, more_than or at_most.")
        if self.at_most is not None and self.at_most < self._fewest:
            raise ConfigError(
                f"{owner}: at_most must not be below the fewest rows required, got at_most={self.at_most} "
                f"and at least {self._fewest}; no one can meet both."
            )

    @property
    def _fewest(self) -> int:
        return max(self.at_least or 1, 1 if self.more_than is None else self.more_than + 1)

    def _inside(self, counts: LongArray) -> BoolArray:
        inside: BoolArray = counts >= self._fewest
        return inside if self.at_most is None else inside & (counts <= self.at_most)

    def _outside(self, things: str) -> str:
        if self.at_most is None:
            return f"{things} with fewer than {self._fewest} rows"
        if self._fewest == 1:
            return f"{things} with more than {self.at_most} rows"
        return f"{things} with fewer than {self._fewest} or more than {self.at_most} rows"


@dataclass(frozen=True)
class UserRows(_RowCounts):
    """Keep users with enough, and not too many, rows.

    Parameters
    ----------
    at_least : int or None
        Fewest rows that a user may have, >= 1.
    more_than : int or None
        Users must have more rows than this, >= 0; with `at_least`, both hold.
    at_most : int or None
        Most rows that a user may have.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "b", "c", "c", "c"], [1, 1, 2, 1, 2, 3])
    >>> UserRows(more_than=1, at_most=2).keep(ratings).tolist()
    [False, True, True, False, False, False]
    """

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return self._inside(interactions.user_counts())[interactions.user]

    def __str__(self) -> str:
        return self._outside("users")


@dataclass(frozen=True)
class ItemRows(_RowCounts):
    """Keep items with enough, and not too many, rows.

    Parameters
    ----------
    at_least : int or None
        Fewest rows that an item may have, >= 1.
    more_than : int or None
        Items must have more rows than this, >= 0; with `at_least`, both hold.
    at_most : int or None
        Most rows that an item may have.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "b"], [1, 1, 2])
    >>> ItemRows(at_least=2).keep(ratings).tolist()
    [True, True, False]
    """

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return self._inside(interactions.item_counts())[interactions.item]

    def __str__(self) -> str:
        return self._outside("items")


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
