"""The record of one step that dropped rows or changed values."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions


@dataclass(frozen=True, slots=True)
class Step:
    """How many rows, users and items there were before and after a step.

    Parameters
    ----------
    name : str
        What the step drops, in words.
    rows, users, items : tuple of int
        Counts before and after; users and items count those with at least one row.
    note : str
        What became of the values of rows that stay, in words; empty if they stayed as they were.
    stage : {"filters", "split"}
        Whose step it is.
    """

    name: str
    rows: tuple[int, int]
    users: tuple[int, int]
    items: tuple[int, int]
    note: str = ""
    stage: str = "split"

    @classmethod
    def between(cls, name: str, before: Interactions, after: Interactions) -> "Step":
        """Return the step that led from `before` to `after`."""
        return cls(
            name,
            (len(before), len(after)),
            (_n_distinct(before.user), _n_distinct(after.user)),
            (_n_distinct(before.item), _n_distinct(after.item)),
        )

    @property
    def dropped_rows(self) -> int:
        """Rows that the step dropped."""
        return self.rows[0] - self.rows[1]

    def __str__(self) -> str:
        users, items = self.users[0] - self.users[1], self.items[0] - self.items[1]
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: {self.dropped_rows} rows, {users} users, {items} items dropped{note}"


def _n_distinct(codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> int:
    return int(np.count_nonzero(np.bincount(codes))) if len(codes) else 0
