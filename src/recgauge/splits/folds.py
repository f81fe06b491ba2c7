"""Folds of rows, or users held out as a whole, whom models meet after training by some of their rows."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits import Assignment, ColdRows, Splitter
from recgauge.splits._order import ByTime, latest_first, ranks_by, shuffled
from recgauge.utils.checks import (
    BoolArray,
    IntArray,
    Natural,
    check_int,
    check_real,
)

Pick = Literal["random", "last"]


@dataclass(frozen=True)
class Folds(Splitter):
    """A strategy with `n_splits` folds of which one is tested."""

    n_splits: int = 5
    fold: int = 0
    validation: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        check_int(f"{owner}: n_splits", self.n_splits, minimum=3 if self.validation else 2)
        check_int(f"{owner}: fold", self.fold, minimum=0, maximum=self.n_splits - 1)

    def _parts(self, folds: IntArray) -> tuple[BoolArray, BoolArray | None]:
        """Turn the fold of each row or user into masks of test and validation."""
        in_validation = folds == (self.fold + 1) % self.n_splits if self.validation else None
        return folds == self.fold, in_validation

    def _chunks(self, shuffled: IntArray, noun: str) -> IntArray:
        """Return the fold of each of the shuffled numbers: as even chunks as can be, longer ones first."""
        if self.n_splits > len(shuffled):
            raise EmptySplitError(
                f"{type(self).__name__}: {self.n_splits} folds need at least as many {noun}, there are "
                f"{len(shuffled)}. Lower split.n_splits."
            )
        folds = np.empty(len(shuffled), dtype=np.int32)
        for number, chunk in enumerate(np.array_split(shuffled, self.n_splits)):
            folds[chunk] = number
        return folds


@dataclass(frozen=True)
class KFold(Folds):
    """Hold out one of `n_splits` random folds of all rows.

    Parameters
    ----------
    n_splits : int
        Number of folds, >= 2, or >= 3 with a validation part; sizes differ by at most one row.
    fold : int
        The fold that is tested, from 0; the folds are the same whichever is tested.
    validation : bool
        Whether the next fold (after the last, the first) is the validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.
    whole : str or None
        See `Splitter`.

    Raises
    ------
    EmptySplitError
        If there are fewer rows than folds.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> folds = [KFold(n_splits=3, fold=fold, cold_users="keep") for fold in range(3)]
    >>> [len(one.split(ratings, rng=np.random.default_rng(0)).test) for one in folds]
    [2, 2, 2]
    """

    name: ClassVar[str] = "k_fold"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        order = rng.permutation(len(interactions)).astype(np.int32)
        return Assignment(*self._parts(self._chunks(order, "rows")))


@dataclass(frozen=True)
class SurpriseKFold(Folds):
    """Hold out one of the folds of Surprise's ``KFold(n_splits, random_state)``, row for row.

    Parameters
    ----------
    n_splits : int
        Number of folds, >= 2, or >= 3 with a validation part.
    fold : int
        The fold that is tested, from 0, in the order in which Surprise yields them.
    validation : bool
        Whether the next fold (after the last, the first) is the validation part; Surprise has none.
    random_state : int
        Surprise's ``random_state``, >= 0; the run's seed does not matter.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`; both "keep", as in Surprise, which predicts every row.
    whole : str or None
        See `Splitter`; both "keep", as in Surprise, which predicts every row.

    Raises
    ------
    EmptySplitError
        If there are fewer rows than folds.

    Notes
    -----
    Depends on the order of the rows: the folds are Surprise's if the rows are in the order of the publisher's
    file, as recgauge's data sets have them, and no filter drops any. The benchmark table in Surprise's README
    has five folds and ``random_state=0``.

    References
    ----------
    .. [1] N. Hug, "Surprise: A Python library for recommender systems", Journal of Open Source Software
       5(52), 2020.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> held_out = SurpriseKFold(n_splits=3).assign(ratings, rng=np.random.default_rng(0)).test
    >>> np.flatnonzero(held_out).tolist()
    [2, 5]
    """

    random_state: Natural = 0
    cold_users: ColdRows = field(default="keep", kw_only=True)

    name: ClassVar[str] = "surprise_k_fold"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; `rng` is not used."""
        order = np.arange(len(interactions))
        # The legacy generator of numpy, whose stream is frozen: that is what Surprise shuffles with.
        np.random.RandomState(self.random_state).shuffle(order)
        return Assignment(*self._parts(self._chunks(order.astype(np.int32), "rows")))


@dataclass(frozen=True)
class HeldOutUsers(ByTime):
    """A strategy that divides the rows of held-out users into given ones and tested ones."""

    hidden: float = field(default=0.2, kw_only=True)
    pick: Pick = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        if check_real(f"{owner}: hidden", self.hidden, low=0.0, high=1.0, low_open=True) == 1.0:
            raise ConfigError(
                f"{owner}: hidden must be below 1 so that users have rows to go by, got {self.hidden!r}."
            )
        if self.whole is not None and self.cold_items == "drop":
            raise ConfigError(
                f"{owner}: cold_items=drop would tear sessions apart. Leave out split.whole, or set "
                "split.cold_items=keep."
            )

    @property
    def tie_rule(self) -> str | None:
        """The rule for rows of one user and time, if rows are picked by time."""
        return self.ties if self.pick == "last" else None

    def _hide(
        self, rows: Interactions, tested: BoolArray, validated: BoolArray | None, rng: np.random.Generator
    ) -> Assignment:
        """Return the parts of all rows, given masks of test and validation users, each shape (n_users,)."""
        users = tested if validated is None else tested | validated
        held_out = users[rows.user]
        # One draw for every row, whoever is held out: a user's hidden rows are the same in every fold.
        if self.pick == "random":
            rank = shuffled(rows, rng)
        else:
            rank = latest_first(rows, "pick=last", self.ties, rng)
        unused: tuple[tuple[str, BoolArray], ...] = ()
        if self.cold_items == "drop":
            trained = np.bincount(rows.item[~held_out], minlength=rows.n_items) > 0
            cold = held_out & ~trained[rows.item]
            unused = (("rows of held-out users with items that no training user has", cold),)
            held_out &= ~cold
            rank[held_out] = ranks_by(rows.take(held_out), rank[held_out], rank[held_out])
        n_rows = np.bincount(rows.user[held_out], minlength=rows.n_users)
        n_hidden = np.minimum(np.maximum(np.rint(n_rows * self.hidden), 1), n_rows - 1)
        hidden = held_out & (rank < n_hidden[rows.user])
        in_validation = None if validated is None else hidden & validated[rows.user]
        return Assignment(hidden & tested[rows.user], in_validation, held_out & ~hidden, unused)


@dataclass(frozen=True)
class StrongGeneralisation(HeldOutUsers):
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
    whole : str or None
        See `Splitter`; not with ``cold_items="drop"``, which would tear sessions apart.

    Raises
    ------
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

    name: ClassVar[str] = "strong_generalisation"

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting, value in (("n_test", self.n_test), ("n_validation", self.n_validation)):
            if isinstance(value, float) and value < 1.0:
                least = setting == "n_test"
                check_real(f"StrongGeneralisation: {setting}", value, low=0.0, high=1.0, low_open=least)
            else:
                check_int(f"StrongGeneralisation: {setting}", value, minimum=int(setting == "n_test"))

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out, and which are given after training."""
        n_users = interactions.n_users
        n_test, n_validation = (
            round(share * n_users) if share < 1 else int(share) for share in (self.n_test, self.n_validation)
        )
        if n_test + n_validation >= n_users:
            raise EmptySplitError(
                f"StrongGeneralisation: {n_test} test and {n_validation} validation users leave none of "
                f"{n_users} to train on. Lower split.n_test or split.n_validation."
            )
        rank = np.empty(n_users, dtype=np.int64)
        rank[rng.permutation(n_users)] = np.arange(n_users)
        tested, validated = rank < n_test, (rank >= n_test) & (rank < n_test + n_validation)
        return self._hide(interactions, tested, validated if self.n_validation else None, rng)


@dataclass(frozen=True)
class KFoldUsers(HeldOutUsers, Folds):
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
    whole : str or None
        See `StrongGeneralisation`.

    Raises
    ------
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

    name: ClassVar[str] = "k_fold_users"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out, and which are given after training."""
        users = rng.permutation(interactions.n_users).astype(np.int32)
        tested, validated = self._parts(self._chunks(users, "users"))
        return self._hide(interactions, tested, validated, rng)
