"""Which items may enter a user's list: the contract of a rule, and the rules that need no list."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from recgauge.data.interactions import pairs_matrix, stored
from recgauge.data.lists import Relevant
from recgauge.data.split import Split
from recgauge.errors import ConfigError
from recgauge.utils.checks import BoolArray, Checked, IntArray, LongArray, read_only
from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.candidates.named import AllowList as AllowList
    from recgauge.candidates.named import NegativesFile as NegativesFile
    from recgauge.candidates.sampled import SampledNegatives as SampledNegatives
else:
    __getattr__, __dir__ = lazy_names(__name__)

Seen = Literal["both", "train", "none"]
"""Whose rows count as seen; those of `both` are all that are not judged."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateItems:
    """The items that may enter each user's list.

    Parameters
    ----------
    excluded : scipy.sparse.csr_array, shape (n_users, n_items), or None
        Stored entries are left out, such as the training rows.
    items : ndarray of int32, shape (c,), or None
        Rising codes of the only items that may be recommended; None: all.
    per_user : scipy.sparse.csr_array, shape (n_users, n_items), or None
        Stored entries are the only items that may be recommended to the user; excludes the other two.
    incomparable : str
        Why numbers cannot be compared with those of the whole catalogue, for people; empty if they can.
    notes : tuple of str
        What else a reader of the numbers should know, one sentence each.

    Raises
    ------
    ConfigError
        If `per_user` is set with one of the others, or no item is a candidate of anybody.
    """

    excluded: sparse.csr_array | None = None
    items: IntArray | None = None
    per_user: sparse.csr_array | None = None
    incomparable: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.per_user is not None and not (self.excluded is None and self.items is None):
            raise ConfigError("CandidateItems: per_user cannot be combined with excluded or items.")
        nothing = self.items is not None and len(self.items) == 0
        if nothing or (self.per_user is not None and self.per_user.nnz == 0):
            raise ConfigError("CandidateItems: no user has a candidate; choose another candidate rule.")
        if self.items is not None:
            object.__setattr__(self, "items", read_only(self.items))

    @property
    def limited(self) -> bool:
        """Whether the rule names the candidates, instead of only leaving out what users have seen."""
        return self.items is not None or self.per_user is not None

    def sha256(self) -> str:
        """Return the digest of the candidates that the rule names; empty where it names none."""
        if not self.limited:
            return ""
        matrix = self.per_user
        arrays = (
            [self.items]
            if matrix is None
            else [part.astype(np.int64) for part in (matrix.indptr, matrix.indices)]
        )
        digest = sha256()
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def holds(self, user: IntArray, item: IntArray) -> BoolArray:
        """Return whether each (user, item) pair is a candidate, shape (n,)."""
        if self.per_user is not None:
            return stored(self.per_user, user, item)
        held = np.ones(len(user), np.bool_)
        if self.items is not None:
            held = np.isin(item, self.items)
        if self.excluded is not None:
            held &= ~stored(self.excluded, user, item)
        return held

    def counts(self, n_users: int, n_items: int) -> LongArray:
        """Return the number of candidates of each user code, shape (n_users,)."""
        if self.per_user is not None:
            return np.diff(self.per_user.indptr).astype(np.int64)
        open_to_all = np.ones(n_items, np.bool_)
        if self.items is not None:
            open_to_all[:] = False
            open_to_all[self.items] = True
        total = np.full(n_users, np.count_nonzero(open_to_all))
        if self.excluded is not None and self.items is None:
            total -= np.diff(self.excluded.indptr)
        elif self.excluded is not None:
            owner = np.repeat(np.arange(n_users), np.diff(self.excluded.indptr))
            total -= np.bincount(owner[open_to_all[self.excluded.indices]], minlength=n_users)
        return total

    def irrelevant(self, relevant: Relevant, n_users: int, n_items: int) -> LongArray | None:
        """Return the candidates of each user code that are not relevant, None where nothing is limited."""
        if not self.limited:
            return None
        owner = np.repeat(relevant.users, np.diff(relevant.start)).astype(np.int32)
        held = owner[self.holds(owner, relevant.items)]
        return self.counts(n_users, n_items) - np.bincount(held, minlength=n_users)


class Candidates(Checked, ABC):
    """A rule for the items that a model must choose from."""

    @abstractmethod
    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:
        """Return the candidates of every user with test rows.

        Parameters
        ----------
        split : Split
        rng : numpy.random.Generator
            The stream of the candidates' stage; the model never draws from it, so all models get the same.

        Returns
        -------
        CandidateItems

        Raises
        ------
        RecgaugeError
            If the rule cannot be applied to this split.
        """


def seen_rows(split: Split, seen: Seen) -> sparse.csr_array | None:
    """Return the rows that users have seen as non-zeros of an (n_users, n_items) matrix, None for none."""
    if seen == "none":
        return None
    if seen == "both" and split.has_cut:
        return split.past
    if seen == "train" or split.validation is None:
        return split.seen
    parts = split.history, split.validation
    return pairs_matrix(
        np.concatenate([part.user for part in parts]),
        np.concatenate([part.item for part in parts]),
        (split.train.n_users, split.train.n_items),
    )


@dataclass(frozen=True)
class AllItems(Candidates):
    """Every item of the data set, but for those the user has already seen.

    Parameters
    ----------
    seen : {"both", "train", "none"}
        Whose rows count as seen: the user's training and validation rows, which are all that are not judged
        (training rows alone where the validation rows are judged), with ``split=next_item`` all rows before
        the target; the training rows, with which a user's validation rows may be recommended and count as
        misses; or none (everything is a candidate). Fold-in rows count as training rows.

    Raises
    ------
    ConfigError
        If `seen` is unknown.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows(validation_size=0.1).split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = AllItems().choose(split, rng=stream(0, "candidates"))
    >>> chosen.excluded.nnz == len(split.train) + len(split.validation), chosen.incomparable
    (True, '')
    """

    seen: Seen = "both"

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return what users have seen as excluded."""
        return CandidateItems(excluded=seen_rows(split, self.seen))


@dataclass(frozen=True)
class TrainItems(Candidates):
    """Only items with a training row, but for those the user has already seen.

    A test item without training rows can then be recommended to nobody; the run counts such rows.

    Parameters
    ----------
    seen : {"both", "train", "none"}
        As in `recgauge.candidates.AllItems`.

    Raises
    ------
    ConfigError
        If `seen` is unknown.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = TrainItems().choose(split, rng=stream(0, "candidates"))
    >>> len(chosen.items) == len(set(split.train.item.tolist()))
    True
    """

    seen: Seen = "both"

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return the items that occur in train, and what users have seen as excluded."""
        items = np.flatnonzero(split.train.item_counts()).astype(np.int32)
        return CandidateItems(excluded=seen_rows(split, self.seen), items=items)


@dataclass(frozen=True)
class OwnTestItems(Candidates):
    """Rank only the items that the user rated in the test part.

    Says whether a model puts the liked before the disliked among items that the user chose; says nothing
    about finding them. Such numbers are far higher than those of the whole catalogue, and mark the run.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = OwnTestItems().choose(split, rng=stream(0, "candidates"))
    >>> chosen.per_user.nnz == len(split.test)
    True
    """

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return each user's test items."""
        test = split.test
        return CandidateItems(
            per_user=pairs_matrix(test.user, test.item, (test.n_users, test.n_items)),
            incomparable="only each user's own test items were ranked, not the catalogue",
        )
