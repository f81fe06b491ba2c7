"""Held-out users: which of their rows models are given, and which are tested."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError
from recgauge.splits import Assignment
from recgauge.splits._order import TieRule, latest_first, shuffled
from recgauge.utils.checks import BoolArray, LongArray, check_choice, check_real

Pick = Literal["random", "last"]


@dataclass(frozen=True)
class HeldOutUsers:
    """Divides the rows of held-out users into those that models are given and those that are tested.

    Parameters
    ----------
    interactions : Interactions
        All rows.
    hidden, pick, ties
        See `StrongGeneralisation`.
    drop_cold_items : bool
        Whether held-out users' rows with items that no training user has are dropped first.
    """

    interactions: Interactions
    hidden: float
    pick: Pick
    ties: TieRule
    drop_cold_items: bool

    def assign(self, tested: BoolArray, validated: BoolArray | None, rng: np.random.Generator) -> Assignment:
        """Return the parts of all rows, given masks of test and validation users, each shape (n_users,)."""
        rows = self.interactions
        users = tested if validated is None else tested | validated
        held_out = users[rows.user]
        # One draw for every row, whoever is held out: a user's hidden rows are the same in every fold.
        if self.pick == "random":
            rank = shuffled(rows, rng)
        else:
            rank = latest_first(rows, "pick=last", self.ties, rng)
        unused: tuple[tuple[str, BoolArray], ...] = ()
        if self.drop_cold_items:
            trained = np.bincount(rows.item[~held_out], minlength=rows.n_items) > 0
            cold = held_out & ~trained[rows.item]
            unused = (("rows of held-out users with items that no training user has", cold),)
            held_out &= ~cold
            rank = _ranks(rows, rank, held_out)
        n_rows = np.bincount(rows.user[held_out], minlength=rows.n_users)
        n_hidden = np.minimum(np.maximum(np.rint(n_rows * self.hidden), 1), n_rows - 1)
        hidden = held_out & (rank < n_hidden[rows.user])
        in_validation = None if validated is None else hidden & validated[rows.user]
        return Assignment(hidden & tested[rows.user], in_validation, held_out & ~hidden, unused)


def _ranks(rows: Interactions, rank: LongArray, kept: BoolArray) -> LongArray:
    """Return the ranks among the kept rows of each user."""
    order = np.flatnonzero(kept)[np.lexsort((rank[kept], rows.user[kept]))]
    counts = np.bincount(rows.user[kept], minlength=rows.n_users)
    ranks = np.zeros(len(rows), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - (np.cumsum(counts) - counts)[rows.user[order]]
    return ranks


def check_hiding(owner: str, hidden: object, pick: object) -> None:
    """Refuse a share of hidden rows outside (0, 1), or an unknown way to pick them."""
    if check_real(f"{owner}: hidden", hidden, low=0.0, high=1.0, low_open=True) == 1.0:
        raise ConfigError(
            f"{owner}: hidden must be below 1 so that users have rows to go by, got {hidden!r}."
        )
    check_choice(f"{owner}: pick", pick, get_args(Pick))
