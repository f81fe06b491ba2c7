"""What was relevant to whom, as codes; from held-out interactions or from a user's own tables."""

from dataclasses import dataclass, field, replace

import numpy as np

from recgauge.data.interactions import Interactions, sorted_pairs
from recgauge.errors import EmptySplitError, SchemaError
from recgauge.utils.checks import DoubleArray, IntArray, LongArray
from recgauge.utils.notebook import html_table


@dataclass(frozen=True, slots=True, eq=False)
class Relevant:
    """The relevant items of users and their gains, users back to back (CSR without a matrix).

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        Distinct user codes.
    start : ndarray of int64, shape (m + 1,)
        User j's items are at ``start[j]:start[j + 1]``; a user may have none.
    items : ndarray of int32, shape (r,)
        Item codes, distinct inside a user.
    gains : ndarray of float64, shape (r,)
        Positive grades, aligned with `items`.
    n_without : int
        Users with held-out rows but no relevant item, where they are not among `users`.
    none_relevant : ndarray of int32, shape (p,), optional
        Codes of all users with judged rows none of which is relevant, whether or not among `users`.
    """

    users: IntArray
    start: LongArray
    items: IntArray
    gains: DoubleArray
    n_without: int
    none_relevant: IntArray = field(default_factory=lambda: np.empty(0, np.int32))

    def __repr__(self) -> str:
        """Return the counts, in one line."""
        return f"Relevant({len(self.users):,} users, {len(self.items):,} relevant items)"

    def _repr_html_(self) -> str:
        """Return the counts."""
        counts = {"users": len(self.users), "relevant items": len(self.items)}
        counts["further users without one"] = self.n_without
        return html_table([[f"{count:,}" for count in counts.values()]], list(counts))

    @classmethod
    def from_interactions(cls, held_out: Interactions, relevant_from: float | None) -> "Relevant":
        """Find the relevant rows of a held-out part.

        Parameters
        ----------
        held_out : Interactions
            Test or validation rows.
        relevant_from : float or None
            Lowest value that is relevant; its gain is the value itself. None: every row, with gain 1. An item
            that a user has in several relevant rows is relevant once, with the highest of their gains.

        Returns
        -------
        Relevant

        Raises
        ------
        EmptySplitError
            If no row is relevant.
        SchemaError
            If a relevant row has a value of 0 or less, which cannot be a gain.
        """
        rows = held_out if relevant_from is None else held_out.take(held_out.value >= relevant_from)
        if len(rows) == 0:
            raise EmptySplitError(
                f"Nobody can be evaluated: none of the {len(held_out)} held-out rows is relevant "
                f"(value >= {relevant_from}). Lower dataset.relevant_from or hold out more."
            )
        gains = np.ones(len(rows)) if relevant_from is None else rows.value.astype(np.float64)
        if gains.min() <= 0:
            raise SchemaError(
                f"Relevant rows need values above 0 as gains, got {gains.min():g}; "
                "raise dataset.relevant_from above 0."
            )
        user, items = rows.user, rows.item
        if not rows.pairs_rise():
            order, user, items = sorted_pairs(user, items)
            gains = gains[order]
            begins = np.ones(len(order), dtype=bool)
            begins[1:] = (user[1:] != user[:-1]) | (items[1:] != items[:-1])
            if not begins.all():
                gains = np.maximum.reduceat(gains, np.flatnonzero(begins))
                user, items = user[begins], items[begins]
        counts = np.bincount(user, minlength=held_out.n_users)
        users = np.flatnonzero(counts).astype(np.int32)
        start = np.concatenate(([0], np.cumsum(counts[users])))
        none_relevant = np.flatnonzero((held_out.user_counts() > 0) & (counts == 0)).astype(np.int32)
        return cls(users, start, items, gains, len(none_relevant), none_relevant)

    def spread(self, rows: LongArray, users: IntArray) -> "Relevant":
        """Return the same relevance over more users: this one's user j moves to row ``rows[j]``."""
        counts = np.zeros(len(users), np.int64)
        counts[rows] = np.diff(self.start)
        start = np.concatenate(([0], np.cumsum(counts)))
        owner = np.repeat(rows, np.diff(self.start))
        order = np.argsort(owner, kind="stable")
        return replace(self, users=users, start=start, items=self.items[order], gains=self.gains[order])

    def of(self, users: IntArray) -> tuple[LongArray, IntArray, DoubleArray]:
        """Return starts (b + 1,), items and gains of some users, back to back; nothing for others."""
        order = np.argsort(self.users, kind="stable")
        row = order[np.minimum(np.searchsorted(self.users, users, sorter=order), len(order) - 1)]
        counts = np.where(self.users[row] == users, np.diff(self.start)[row], 0)
        start = np.concatenate(([0], np.cumsum(counts)))
        chosen = np.arange(start[-1]) + np.repeat(self.start[row] - start[:-1], counts)
        return start, self.items[chosen], self.gains[chosen]
