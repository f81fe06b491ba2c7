"""What a split is, and the contract of a strategy that makes one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from recgauge._checks import BoolArray, IntArray, check_choice
from recgauge.datasets import Dataset
from recgauge.errors import EmptySplitError, SchemaError
from recgauge.interactions import Interactions
from recgauge.splits._pairs import check_pairs
from recgauge.splits.assignment import Assignment
from recgauge.splits.steps import Step

POLICIES = ("drop", "keep")


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Train, validation and test interactions over the same user and item codes.

    Parameters
    ----------
    name : str
        The strategy, for people.
    train : Interactions
        What models may learn from.
    validation : Interactions or None
        What selecting a model or a setting may look at.
    test : Interactions
        What only the final evaluation looks at.
    steps : tuple of Step
        What was dropped on the way, in order.
    fold_in : Interactions or None
        Rows of held-out users, who have none in train: models are given them after training and before
        they recommend. None: no user is held out.
    overlap : bool
        Whether held-out parts may repeat (user, item) pairs, or share them with another part, which the guard
        `overlap` then tells.

    Raises
    ------
    SchemaError
        If the parts do not share ids, if a held-out part repeats a pair or shares one with another part and
        `overlap` is not set, or if a user with fold-in rows has training rows.
    EmptySplitError
        If train or test have no rows.
    """

    name: str
    train: Interactions
    validation: Interactions | None
    test: Interactions
    steps: tuple[Step, ...] = ()
    fold_in: Interactions | None = None
    overlap: bool = False

    def __post_init__(self) -> None:
        for part_name, part in (("train", self.train), ("test", self.test)):
            if len(part) == 0:
                raise EmptySplitError(
                    f"Split {self.name}: {part_name} has no rows{self._history()}. "
                    "Use more data, weaker filters or other fractions."
                )
        self._check_parts()
        if not self.overlap:
            held_out = {"test": self.test}
            if self.validation is not None:
                held_out["validation"] = self.validation
            known = [self.train, *([] if self.fold_in is None else [self.fold_in])]
            check_pairs(self.name, known, held_out)

    def _check_parts(self) -> None:
        """Refuse parts over other ids, and held-out users who are trained on."""
        parts = {"validation": self.validation, "test": self.test, "fold_in": self.fold_in}
        for part_name, held in parts.items():
            if held is not None and not _same_ids(held, self.train):
                raise SchemaError(f"Split {self.name}: {part_name} and train must share their id arrays.")
        if self.fold_in is not None:
            n_both = int(((self.fold_in.user_counts() > 0) & (self.train.user_counts() > 0)).sum())
            if n_both:
                raise SchemaError(
                    f"Split {self.name}: {n_both} users have training rows and fold-in rows; held-out users "
                    "must not be trained on. Put their rows into one of the two parts."
                )

    def _history(self) -> str:
        return "".join(f"; {step}" for step in self.steps if step.dropped_rows)

    @property
    def test_users(self) -> IntArray:
        """Users with test rows, ascending codes, shape (m,)."""
        return np.flatnonzero(self.test.user_counts()).astype(np.int32)

    @property
    def history(self) -> Interactions:
        """What is known of every user when lists are made: the training rows, then the fold-in rows."""
        return self.train if self.fold_in is None else self.train.followed_by(self.fold_in)

    def cold_counts(self) -> dict[str, int]:
        """Return how many test rows, users and items lack what models learn from.

        A user is cold without a row in train or fold-in, an item without a row in train.
        """
        users = (self.test.user_counts() > 0) & (self.history.user_counts() == 0)
        items = (self.test.item_counts() > 0) & (self.train.item_counts() == 0)
        return {
            "test_cold_users": int(users.sum()),
            "test_cold_user_rows": int(users[self.test.user].sum()),
            "test_cold_items": int(items.sum()),
            "test_cold_item_rows": int(items[self.test.item].sum()),
        }


@dataclass(frozen=True)
class Splitter(ABC):
    """A strategy that assigns rows to train, validation and test.

    Parameters
    ----------
    cold_users : {"drop", "keep"}
        Held-out rows of users without a training row (or fold-in row): dropped and counted as a step, or
        kept, so that models must do without. Default "drop".
    cold_items : {"drop", "keep"}
        Held-out rows of items without a training row, which most models cannot recommend: kept and counted,
        or dropped and counted as a step. Default "keep".

    Raises
    ------
    ConfigError
        If a setting cannot be meant.
    """

    cold_users: str = field(default="drop", kw_only=True)
    cold_items: str = field(default="keep", kw_only=True)

    name: ClassVar[str]
    temporal: ClassVar[bool] = False
    """Whether no user's training rows come after the user's test rows; a guard holds the strategy to it."""

    def __post_init__(self) -> None:
        for setting in ("cold_users", "cold_items"):
            check_choice(f"{type(self).__name__}: {setting}", getattr(self, setting), POLICIES)

    @property
    def tie_rule(self) -> str | None:
        """How rows of one user and time are ordered; None: the strategy does not order a user's rows."""
        return None

    @abstractmethod
    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; every row is in one part or unused for a reason."""

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
            If train or test come out empty.
        SchemaError
            If parts share pairs that they may not share.
        """
        return self._assemble(interactions, self.assign(interactions, rng=rng), steps, overlap)

    def _assemble(
        self, interactions: Interactions, assigned: Assignment, steps: tuple[Step, ...], overlap: bool
    ) -> Split:
        for reason, mask in assigned.unused:
            steps = (*steps, Step.between(reason, interactions, interactions.take(~mask)))
        train = interactions.take(assigned.train)
        fold_in = None if assigned.fold_in is None else interactions.take(assigned.fold_in)
        known_users = train.user_counts() > 0
        if fold_in is not None:
            known_users |= fold_in.user_counts() > 0
        held_out: dict[str, Interactions] = {}
        for name, rows in (("test", assigned.test), ("validation", assigned.validation)):
            if rows is not None:
                held_out[name], dropped = self._keep_known(
                    interactions.take(rows), known_users, train.item_counts() > 0, name
                )
                steps = (*steps, *dropped)
        return Split(self.name, train, held_out.get("validation"), held_out["test"], steps, fold_in, overlap)

    def _keep_known(
        self, part: Interactions, users: BoolArray, items: BoolArray, name: str
    ) -> tuple[Interactions, tuple[Step, ...]]:
        steps = []
        if self.cold_users == "drop":
            kept = part.take(users[part.user])
            steps.append(Step.between(f"{name} rows of users without training rows", part, kept))
            part = kept
        if self.cold_items == "drop":
            kept = part.take(items[part.item])
            steps.append(Step.between(f"{name} rows of items without training rows", part, kept))
            part = kept
        return part, tuple(steps)


def _same_ids(part: Interactions, train: Interactions) -> bool:
    return all(
        ours is theirs or np.array_equal(ours, theirs)
        for ours, theirs in ((part.user_ids, train.user_ids), (part.item_ids, train.item_ids))
    )
