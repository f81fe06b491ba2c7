"""Ranked lists, and what is relevant to whom: what judging joins, as codes."""

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions, is_relevant, sorted_pairs
from recgauge.errors import EmptySplitError, SchemaError, ScoreError
from recgauge.utils.checks import DoubleArray, FloatArray, IntArray, LongArray, read_only, shown


@dataclass(frozen=True, slots=True)
class GradeCounts:
    """How many rows of a truth with grades are relevant.

    Parameters
    ----------
    threshold : float
        Lowest grade that is relevant.
    is_chosen : bool
        Whether the user has chosen the threshold; else it is the convention's.
    n_rows, n_relevant : int
        All rows, and the relevant ones.
    n_below : int
        Rows with a grade above 0 and below the threshold.
    n_graded : int
        Relevant rows with another grade than 1.

    Examples
    --------
    >>> counts = GradeCounts.of(np.array([0.2, 0.9, 3.0, 0.0]), 1.0, is_chosen=False)
    >>> counts.n_relevant, counts.n_below
    (1, 2)
    """

    threshold: float
    is_chosen: bool
    n_rows: int
    n_relevant: int
    n_below: int
    n_graded: int

    @classmethod
    def of(cls, grades: DoubleArray, threshold: float, *, is_chosen: bool) -> Self:
        """Count grades (n,)."""
        positive = grades > 0
        relevant = is_relevant(grades, threshold)
        counts = (relevant, positive & ~relevant, relevant & (grades != 1))
        return cls(threshold, is_chosen, len(grades), *(int(np.count_nonzero(mask)) for mask in counts))

    def __add__(self, other: Self) -> Self:
        """Return the counts of both, of one threshold."""
        names = ("n_rows", "n_relevant", "n_below", "n_graded")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def sentence(self) -> str:
        """Which rows are relevant, in words."""
        if self.is_chosen or self.n_relevant < self.n_rows:
            bound = "a grade above 0" if self.threshold == 0 else f"a grade of at least {self.threshold:g}"
            return f"{self.n_relevant:,} of {self.n_rows:,} rows of the truth, those with {bound}"
        if not self.n_graded:
            return "every row of the truth"
        return "every row of the truth, with its grade as gain; --relevant-from GRADE leaves lower ones out"

    @property
    def warning(self) -> str:
        """That grades count for nothing though nobody has chosen a threshold; empty if none do."""
        if self.is_chosen or not self.n_below:
            return ""
        return (
            f"{self.n_below:,} of {self.n_rows:,} rows of the truth have a grade above 0 and below "
            f"{self.threshold:g}, and count as not relevant. If they are relevant, say from which grade: "
            "--relevant-from GRADE (in Python relevant_from=GRADE)"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """What scores as the last item of a full list and is not in the list.

    Parameters
    ----------
    size : ndarray of int64, shape (m,)
        How many candidates of each user; 0: the list does not end inside a group of equal scores.
    start : ndarray of int64, shape (m + 1,)
        User j's part of `gains` is ``start[j]:start[j + 1]``.
    gains : ndarray of float64, shape (g,)
        Grades of the relevant ones among them.
    drawn : ndarray of int32, shape (n_draws, t, k)
        For the t users with a `size` above 0: the first items of random orders of the whole group.
    """

    size: LongArray
    start: LongArray
    gains: DoubleArray
    drawn: IntArray

    def spread(self, rows: LongArray, n_users: int) -> "Beyond":
        """Return the same over more users: this one's user j moves to row ``rows[j]``."""
        size, counts = np.zeros(n_users, np.int64), np.zeros(n_users, np.int64)
        size[rows], counts[rows] = self.size, np.diff(self.start)
        by_row = np.argsort(np.repeat(rows, np.diff(self.start)), kind="stable")
        drawn = self.drawn[:, np.argsort(rows[self.size > 0])]
        return Beyond(size, np.concatenate(([0], np.cumsum(counts))), self.gains[by_row], drawn)

    def take(self, rows: LongArray) -> "Beyond":
        """Return the same of some users, given by rising rows."""
        counts = np.diff(self.start)
        kept = np.zeros(len(self.size), np.bool_)
        kept[rows] = True
        drawn = self.drawn[:, kept[self.size > 0]]
        start = np.concatenate(([0], np.cumsum(counts[rows])))
        return Beyond(self.size[rows], start, self.gains[np.repeat(kept, counts)], drawn)


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """Ranked lists, best item first.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes, distinct.
    items : ndarray of int32, shape (m, k)
        Item codes, distinct in a row; -1 pads lists that are shorter than k.
    scores : ndarray of float32, shape (m, k)
        Falling in a row, equal scores by rising item code unless ties are shuffled; -inf where padded.
    beyond : Beyond or None
        What ties with the last items of the lists; None: not known.
    distinct : bool
        Whether the lists are known to be as described here and no item stands twice in one, as those of
        `recommend`, so that nothing is looked at again.

    Raises
    ------
    ScoreError
        If shapes or types differ from these, or scores rise or are missing.
    SchemaError
        If a user stands twice or has a negative code.
    """

    users: IntArray
    items: IntArray
    scores: FloatArray
    beyond: Beyond | None = None
    distinct: bool = False

    def __post_init__(self) -> None:
        if not self.distinct:
            for name, kinds in (("users", "iu"), ("items", "iu"), ("scores", "fiu")):
                object.__setattr__(self, name, _array(f"TopK: {name}", getattr(self, name), kinds))
        if (
            self.items.shape != self.scores.shape
            or self.items.ndim != 2
            or len(self.items) != len(self.users)
        ):
            raise ScoreError(
                "TopK: items and scores must have shape (n_users, k), got "
                f"{self.items.shape} and {self.scores.shape} for {len(self.users)} users."
            )
        for name in ("users", "items", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        if not self.distinct:
            self._check()

    def _check(self) -> None:
        """Refuse users twice, codes that are none, and scores that contradict the order."""
        _check_users("TopK", self.users)
        if self.items.min(initial=0) < -1:
            raise ScoreError(f"TopK: items must be codes from 0, or -1 at the end; got {self.items.min()}.")
        gaps = self.items < 0
        rows = slice(None) if self.scores.strides[0] or gaps.any() else slice(1)  # one row for all users
        scores, gaps = self.scores[rows], gaps[rows]
        problems = {
            "an item after -1, which fills lists up at their end": gaps[:, :-1] & ~gaps[:, 1:],
            "a score that is missing (NaN)": np.isnan(scores),
            "scores that rise; lists must be best first": (scores[:, 1:] > scores[:, :-1]) & ~gaps[:, 1:],
        }
        for problem, mask in problems.items():
            if mask.any():
                user = self.users[int(np.flatnonzero(mask.any(axis=1))[0])]
                raise ScoreError(f"TopK: the list of user code {user} has {problem}.")

    def __repr__(self) -> str:
        """Return how many lists there are and how long they are, in one line."""
        return f"TopK({len(self.users):,} users, k={self.items.shape[1]})"

    @property
    def lengths(self) -> IntArray:
        """Number of items in each list, shape (m,), none of which follows an empty place."""
        # nearly all lists are full: only the others are counted, which saves a pass over everything
        lengths = np.full(len(self.items), self.items.shape[1], np.int32)
        short = np.flatnonzero(self.items[:, -1:].ravel() < 0)
        lengths[short] = (self.items[short] >= 0).sum(axis=1)
        return lengths

    def by_ids(self, user_ids: npt.ArrayLike, item_ids: npt.ArrayLike) -> dict[Any, dict[Any, float]]:
        """Return the lists by the ids of users and items, as `recgauge.evaluate` takes them.

        Parameters
        ----------
        user_ids, item_ids : array-like
            The ids of all codes, such as those of `Interactions`.

        Returns
        -------
        dict
            ``{user: {item: score}}``, best item first.

        Examples
        --------
        >>> lists = TopK(np.array([1]), np.array([[2, 0]]), np.array([[0.5, 0.25]]))
        >>> lists.by_ids(["ann", "bob"], ["x", "y", "z"])
        {'bob': {'z': 0.5, 'x': 0.25}}
        """
        users, items = np.asarray(user_ids)[self.users].tolist(), np.asarray(item_ids)[self.items].tolist()
        return {
            user: dict(list(zip(row, scores.tolist(), strict=True))[:length])
            for user, row, scores, length in zip(users, items, self.scores, self.lengths, strict=True)
        }

    def of(self, users: IntArray) -> "TopK":
        """Return the lists of some of the users; both are rising codes."""
        if len(users) == len(self.users):
            return self
        rows = np.searchsorted(self.users, users)
        beyond = None if self.beyond is None else self.beyond.take(rows)
        return TopK(users, self.items[rows], self.scores[rows], beyond, self.distinct)


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
        Grades, aligned with `items`; metrics that take them as gains refuse one below 0.
    n_without : int
        Users with held-out rows but no relevant item, where they are not among `users`.
    none_relevant : ndarray of int32, shape (p,), optional
        Codes of all users with judged rows none of which is relevant, whether or not among `users`.
    user_ids, item_ids : ndarray, optional
        The ids of all codes, by which an evaluation names users; without them, codes are the ids.

    Raises
    ------
    SchemaError
        If users stand twice, or starts, items and gains do not fit each other.
    """

    users: IntArray
    start: LongArray
    items: IntArray
    gains: DoubleArray
    n_without: int
    none_relevant: IntArray = field(default_factory=lambda: np.empty(0, np.int32))
    user_ids: IdArray | None = None
    item_ids: IdArray | None = None

    def __post_init__(self) -> None:
        start, n_items = np.asarray(self.start), len(self.items)
        if start.shape != (len(self.users) + 1,) or start[0] != 0 or start[-1] != n_items:
            raise SchemaError(
                f"Relevant: start must have {len(self.users) + 1} entries, from 0 to the {n_items} "
                f"items; got shape {start.shape}."
            )
        if (np.diff(start) < 0).any():
            raise SchemaError("Relevant: start must not fall.")
        if len(self.gains) != n_items or not np.isfinite(self.gains).all():
            raise SchemaError(f"Relevant: gains must be {n_items} finite numbers, one for each item.")
        for name in ("users", "items"):
            codes, ids = np.asarray(getattr(self, name)), getattr(self, f"{name[:-1]}_ids")
            if codes.dtype.kind not in "iu" and len(codes):
                raise SchemaError(
                    f"Relevant: {name} must be codes, which are whole numbers; got {codes.dtype}."
                )
            last = np.inf if ids is None else len(ids) - 1
            if len(codes) and (codes.min() < 0 or codes.max() > last):
                raise SchemaError(
                    f"Relevant: {name} must be codes from 0{'' if ids is None else f' to {last}'}, got "
                    f"{codes.min()}..{codes.max()}."
                )
        _check_users("Relevant", self.users)

    def __repr__(self) -> str:
        """Return the counts, in one line."""
        return f"Relevant({len(self.users):,} users, {len(self.items):,} relevant items)"

    def sha256(self) -> str:
        """Return the digest of relevant items and gains by ids, in whatever order they and the codes are.

        Examples
        --------
        >>> ids = np.array(["a", "b"])
        >>> one = Relevant(np.array([0]), np.array([0, 2]), np.array([0, 1]), np.ones(2), 0, item_ids=ids)
        >>> same = replace(one, items=np.array([1, 0]))
        >>> one.sha256() == same.sha256(), one.sha256() == replace(one, gains=np.array([1, 2])).sha256()
        (True, False)
        """
        user, user_texts = _in_order_of_text(np.repeat(self.users, np.diff(self.start)), self.user_ids)
        item, item_texts = _in_order_of_text(self.items, self.item_ids)
        order, digest = np.lexsort((item, user)), sha256()
        for column in (user, item, np.asarray(self.gains, np.float64)):
            digest.update(column[order].tobytes())
        for texts in (user_texts, item_texts):
            digest.update("\n".join(texts).encode())
        return digest.hexdigest()

    @classmethod
    def from_interactions(cls, held_out: Interactions, relevant_from: float | None) -> "Relevant":
        """Find the relevant rows of a held-out part.

        Parameters
        ----------
        held_out : Interactions
            Test or validation rows.
        relevant_from : float or None
            Lowest value that is relevant; its gain is the value itself. 0: every value above 0. None: every
            row, with gain 1. An item that a user has in several relevant rows is relevant once, with the
            highest of their gains.

        Returns
        -------
        Relevant

        Raises
        ------
        EmptySplitError
            If no row is relevant.
        """
        rows = held_out
        if relevant_from is not None:
            rows = held_out.take(is_relevant(held_out.value, relevant_from))
        if len(rows) == 0:
            values = held_out.value
            span = f"; they have {values.min():g} to {values.max():g}" if len(values) else ""
            raise EmptySplitError(
                f"Nobody can be evaluated: none of the {len(held_out)} held-out rows is relevant "
                f"(value >= {relevant_from}{span}). Lower dataset.relevant_from or hold out more."
            )
        gains = np.ones(len(rows)) if relevant_from is None else rows.value.astype(np.float64)
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
        ids = held_out.user_ids, held_out.item_ids
        return cls(users, start, items, gains, len(none_relevant), none_relevant, *ids)

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


def _in_order_of_text(codes: IntArray, ids: IdArray | None) -> tuple[LongArray, list[str]]:
    """Return the rank of each code's id among the texts of all of them, and these in order."""
    used, text = np.unique(codes, return_inverse=True)
    texts = list(map(str, (used if ids is None else ids[used]).tolist()))
    order, ranks = sorted(range(len(texts)), key=texts.__getitem__), np.empty(len(texts), np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks[text], [texts[at] for at in order]


def _array(subject: str, values: Any, kinds: str) -> npt.NDArray[Any]:
    """Return an array of numbers of a kind; ids and tables belong elsewhere."""
    array = np.asarray(values) if isinstance(values, (list, tuple)) else values
    if not isinstance(array, np.ndarray) or (array.dtype.kind not in kinds and array.size):
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        numbers = "whole numbers (codes)" if "f" not in kinds else "numbers"
        raise ScoreError(
            f"{subject} must be an array of {numbers}, got {kind}. Lists of ids are {{user: [items]}}."
        )
    return array


def _check_users(subject: str, users: IntArray) -> None:
    """Refuse codes of users that are negative or stand twice."""
    if len(users) > 1 and not (np.diff(users) > 0).all():
        ordered = np.sort(users)
        if (twice := ordered[1:][ordered[1:] == ordered[:-1]]).size:
            raise SchemaError(
                f"{subject}: user code {shown(twice[0])} stands twice. Give each user one list."
            )
    if len(users) and users.min() < 0:
        raise SchemaError(f"{subject}: users must be codes from 0, got {users.min()}.")
