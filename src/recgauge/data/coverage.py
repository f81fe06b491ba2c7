"""How much of what a split held out the numbers of a run are of."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from recgauge.errors import quantity

Reason = Literal["unknown_users", "unknown_items", "nothing_relevant", "no_list"]
"""Why held-out rows say nothing about a model."""

REASONS: Mapping[Reason, str] = {
    "unknown_users": "of users without training rows",
    "unknown_items": "of items without training rows",
    "nothing_relevant": "of users without a relevant row",
    "no_list": "of users without a list",
}
"""Dropped rows in words."""

FEW_USERS = 20
"""Below so many, intervals over users are too narrow."""
FEW_EVALUATED = 0.5
"""Share of users below which a reader is warned that the numbers are of few of them."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Users and rows that were held out, and what is left of them for the numbers.

    Parameters
    ----------
    users : int
        With rows that the split assigned to the part that is evaluated, before any was dropped.
    rows : int
        These rows.
    users_evaluated : int
        Whose values make the means, or whose ratings are predicted.
    dropped : dict of str to int
        The rows of all others, and rows that the split dropped, by reason; see `REASONS`.

    Examples
    --------
    >>> coverage = Coverage(users=10, rows=50, users_evaluated=10).without("unknown_users", users=7, rows=30)
    >>> coverage.users_evaluated, coverage.rows_dropped, str(coverage)
    (3, 30, '3 of 10')
    """

    users: int
    rows: int
    users_evaluated: int
    dropped: dict[Reason, int] = field(default_factory=dict)

    @property
    def rows_dropped(self) -> int:
        """Held-out rows that no number is of."""
        return sum(self.dropped.values())

    def without(self, reason: Reason, *, users: int, rows: int) -> Self:
        """Return the coverage after so many users and rows were dropped; the same if there are none."""
        if not users and not rows:
            return self
        dropped = self.dropped | {reason: self.dropped.get(reason, 0) + rows}
        return replace(self, users_evaluated=self.users_evaluated - users, dropped=dropped)

    def reasons(self) -> str:
        """Return how many rows were dropped and why, in words; empty if none was."""
        return ", ".join(f"{rows:,} {REASONS.get(reason, reason)}" for reason, rows in self.dropped.items())

    def __str__(self) -> str:
        """Return the users that numbers are of: of how many, if not of all."""
        evaluated = f"{self.users_evaluated:,}"
        return evaluated if self.users_evaluated == self.users else f"{evaluated} of {self.users:,}"


def of_few(n_users: int) -> str:
    """Return of how many users an interval is, where they are few; else an empty text.

    Examples
    --------
    >>> of_few(7), of_few(20)
    (' of 7 users', '')
    """
    return f" of {quantity(n_users, 'user')}" if 0 < n_users < FEW_USERS else ""
