"""The contract of a strategy that makes a split."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from recgauge.data.coverage import Coverage, Reason
from recgauge.data.dataset import Dataset
from recgauge.data.histories import ranks_of
from recgauge.data.interactions import Interactions
from recgauge.data.sequences import Average, Sequences
from recgauge.data.split import Split, Step
from recgauge.errors import SchemaError, listed
from recgauge.utils.checks import BoolArray, Checked, LongArray, shown
from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.splits.by_date import RollingWindow as RollingWindow
    from recgauge.splits.by_date import TemporalDate as TemporalDate
    from recgauge.splits.folds import KFold as KFold
    from recgauge.splits.folds import KFoldUsers as KFoldUsers
    from recgauge.splits.folds import StrongGeneralisation as StrongGeneralisation
    from recgauge.splits.folds import SurpriseKFold as SurpriseKFold
    from recgauge.splits.next_item import NextItem as NextItem
    from recgauge.splits.published import Published as Published
    from recgauge.splits.shares import LeaveLastOut as LeaveLastOut
    from recgauge.splits.shares import LeaveRandomOut as LeaveRandomOut
    from recgauge.splits.shares import RandomPerUser as RandomPerUser
    from recgauge.splits.shares import RandomRows as RandomRows
    from recgauge.splits.shares import TemporalFraction as TemporalFraction
    from recgauge.splits.shares import TemporalPerUser as TemporalPerUser
else:
    __getattr__, __dir__ = lazy_names(__name__)

ColdRows = Literal["drop", "keep"]
"""What happens to held-out rows of users or items without training rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """The part that each row goes to; a row in none of the masks is a training row.

    Parameters
    ----------
    test : ndarray of bool, shape (n,)
    validation : ndarray of bool, shape (n,), or None
        None: there is no validation part.
    fold_in : ndarray of bool, shape (n,), or None
        Rows of held-out users that models are given after training. None: no user is held out.
    unused : tuple of (str, ndarray of bool)
        Rows in no part, with the reason in words.
    rank : ndarray of int64, shape (n,), or None
        Of each row among its user's, 0 for the latest. None: the strategy does not order a user's rows.
    until_cut : ndarray of bool, shape (n,), or None
        Rows up to one cut in time for everybody, see `recgauge.data.sequences.Sequences`.

    Attributes
    ----------
    train : ndarray of bool, shape (n,)
        All other rows.

    Raises
    ------
    SchemaError
        If a row is in several masks.

    Examples
    --------
    >>> halves = Assignment(test=np.array([False, True, False]))
    >>> halves.train.tolist()
    [True, False, True]
    """

    test: BoolArray
    validation: BoolArray | None = None
    fold_in: BoolArray | None = None
    unused: tuple[tuple[str, BoolArray], ...] = ()
    rank: LongArray | None = None
    until_cut: BoolArray | None = None
    train: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        taken = np.zeros(len(self.test), dtype=bool)
        named = (("test", self.test), ("validation", self.validation), ("fold_in", self.fold_in))
        for name, mask in (*named, *self.unused):
            if mask is None:
                continue
            if mask.shape != taken.shape or (taken & mask).any():
                raise SchemaError(
                    f"Assignment: each of the {len(taken)} rows may be in one part only; {name} shares rows "
                    "with another part or has another length. Correct the strategy."
                )
            taken |= mask
        object.__setattr__(self, "train", ~taken)

    def take(self, rows: LongArray) -> "Assignment":
        """Return the assignment of other rows, each as the row at its position here."""
        return Assignment(
            self.test[rows],
            None if self.validation is None else self.validation[rows],
            None if self.fold_in is None else self.fold_in[rows],
            tuple((reason, mask[rows]) for reason, mask in self.unused),
            None if self.rank is None else self.rank[rows],
        )


def session_rows(rows: Interactions, column: str) -> tuple[Interactions, LongArray]:
    """Return the last row of each session, in the order in which sessions begin, and the session of each row.

    Raises
    ------
    SchemaError
        If there is no such column, or a session has rows of several users.

    Examples
    --------
    >>> orders = {"order": ["o1", "o1", "o2"]}
    >>> rows = Interactions.from_ids(["a", "a", "b"], [1, 2, 1], timestamp=[10, 20, 15], attributes=orders)
    >>> sessions, session_of_row = session_rows(rows, "order")
    >>> sessions.timestamp.tolist(), session_of_row.tolist()
    ([20, 15], [0, 0, 1])
    """
    attribute = rows.attribute(column, "split.whole")
    codes, n_rows = attribute.codes, len(rows)
    order = np.arange(n_rows) if rows.timestamp is None else np.argsort(rows.timestamp, kind="stable")
    first, last = np.full(len(attribute.names), n_rows), np.zeros(len(attribute.names), np.int64)
    np.minimum.at(first, codes, np.arange(n_rows))
    last[codes[order]] = order  # of equal codes the latest row is written last
    mixed = np.flatnonzero(rows.user[last[codes]] != rows.user)
    if len(mixed):
        users = rows.user_ids[[rows.user[mixed[0]], rows.user[last[codes[mixed[0]]]]]]
        raise SchemaError(
            f"split.whole: {column} {shown(attribute.names[codes[mixed[0]]])} has rows of several users, "
            f"such as {listed(users.tolist())}. A session belongs to one user; name another column."
        )
    there = np.flatnonzero(first < n_rows)
    there = there[np.argsort(first[there], kind="stable")]
    position = np.zeros(len(attribute.names), np.int64)
    position[there] = np.arange(len(there))
    return rows.take(last[there]), position[codes]


def _ranks_inside(rows: Interactions, rank: LongArray) -> LongArray:
    """Return each row's rank among its user's, 0 for the latest, by the rank of its session, then by time."""
    times = np.zeros(len(rows), np.int64) if rows.timestamp is None else rows.timestamp
    return ranks_of(rows, np.lexsort((-np.arange(len(rows)), -times, rank, rows.user)))


@dataclass(frozen=True)
class Splitter(Checked, ABC):
    """A strategy that assigns rows to train, validation and test; ConfigError if a setting is not valid.

    Parameters
    ----------
    cold_users : {"drop", "keep"}
        Held-out rows of users without a training row (or fold-in row): dropped and counted as a step, or
        kept, so that models must do without. Default "drop".
    cold_items : {"drop", "keep"}
        Held-out rows of items without a training row, which most models cannot recommend: kept and counted,
        or dropped and counted as a step. Default "keep".
    whole : str or None
        A column of the table whose rows stay together, such as ``session_id`` or ``order_id``: what counts as
        a row for the strategy is a session, at the time of its last row. None: rows are split one by one.
    """

    cold_users: ColdRows = field(default="drop", kw_only=True)
    cold_items: ColdRows = field(default="keep", kw_only=True)
    whole: str | None = field(default=None, kw_only=True)

    name: ClassVar[str]
    temporal: ClassVar[bool] = False
    """Whether no user's training rows are later than the user's test rows; a guard checks this."""

    parts_sessions: ClassVar[bool] = False
    """Whether the strategy looks at rows one by one, and at sessions itself."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Further columns of the table that the strategy looks at, by name."""
        return () if self.whole is None else (self.whole,)

    @property
    def grows(self) -> bool:
        """Whether models that take histories are given all rows before a target, not training rows alone."""
        return False

    @property
    def queries(self) -> Average | None:
        """What is averaged if each held-out row is a query of its own; None: a user is asked once."""
        return None

    @property
    def tie_rule(self) -> str | None:
        """How rows of one user and time are ordered; None: the strategy does not order a user's rows."""
        return None

    @abstractmethod
    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; every row is in one part or unused for a reason."""

    def find(self) -> None:
        """Look at the files that the strategy will read, if any, before data are loaded.

        Raises
        ------
        DataError
            If one is absent or cannot be used.
        """

    def for_dataset(self, dataset: Dataset) -> Self:  # noqa: ARG002 - contract
        """Return the strategy with what it must know of `dataset` besides its rows: by default nothing."""
        return self

    def split(
        self,
        interactions: Interactions,
        *,
        rng: np.random.Generator,
        steps: tuple[Step, ...] = (),
        overlap: bool = False,
    ) -> Split:
        """Split `interactions`; what is in no part is counted in the steps.

        Parameters
        ----------
        interactions : Interactions
            Rows in the publisher's order.
        rng : numpy.random.Generator
            The stream of the split stage.
        steps : tuple of Step
            What filters dropped before.
        overlap : bool
            Whether held-out parts may repeat (user, item) pairs, or share them with another part.

        Returns
        -------
        Split

        Raises
        ------
        EmptySplitError
            If train or test is empty.
        SchemaError
            If parts share pairs that they may not share.
        """
        if self.whole is None or self.parts_sessions:
            assigned = self.assign(interactions, rng=rng)
        else:
            sessions, session_of_row = session_rows(interactions, self.whole)
            assigned = self.assign(sessions, rng=rng).take(session_of_row)
            if assigned.rank is not None:
                assigned = replace(assigned, rank=_ranks_inside(interactions, assigned.rank))
        return self._assemble(interactions, assigned, steps, overlap)

    def _assemble(
        self, interactions: Interactions, assigned: Assignment, steps: tuple[Step, ...], overlap: bool
    ) -> Split:
        for reason, mask in assigned.unused:
            steps = (*steps, Step.between(reason, interactions, interactions.take(~mask)))
        train = interactions.take(assigned.train)
        fold_in = None if assigned.fold_in is None else interactions.take(assigned.fold_in)
        trained = {"users": train.user_counts() > 0, "items": train.item_counts() > 0}
        if fold_in is not None:
            trained["users"] |= fold_in.user_counts() > 0
        rules: tuple[tuple[str, Reason, ColdRows], ...] = (
            ("users", "unknown_users", self.cold_users),
            ("items", "unknown_items", self.cold_items),
        )
        held_out, coverage = dict[str, Interactions](), dict[str, Coverage]()
        targets: dict[str, LongArray] = {}
        for name, rows in (("test", assigned.test), ("validation", assigned.validation)):
            if rows is not None:
                part = interactions.take(rows)
                users = int(np.count_nonzero(part.user_counts()))
                coverage[name] = Coverage(users, len(part), users)
                positions = np.flatnonzero(rows)
                for cold, reason, rule in rules:
                    if rule == "keep":
                        continue
                    stays = trained[cold][part.user if cold == "users" else part.item]
                    kept, positions = part.take(stays), positions[stays]
                    step = Step.between(f"{name} rows of {cold} without training rows", part, kept)
                    n_users = step.users[0] - step.users[1]
                    coverage[name] = coverage[name].without(reason, users=n_users, rows=step.dropped_rows)
                    steps, part = (*steps, step), kept
                held_out[name], targets[name] = part, positions
        parts = (train, held_out.get("validation"), held_out["test"])
        sequences = None
        if assigned.rank is not None:
            rank = interactions.user_counts()[interactions.user] - 1 - assigned.rank
            facts = assigned.train, targets, self.grows, assigned.until_cut
            sequences = Sequences(interactions, rank.astype(np.int32), *facts)
        split = Split(self.name, *parts, steps, fold_in, overlap, held_out=coverage, sequences=sequences)
        return split if self.queries is None else split.with_queries(self.queries)
