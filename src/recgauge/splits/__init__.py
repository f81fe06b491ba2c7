"""What a split is, and the contract of a strategy that makes one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge._checks import BoolArray, IntArray
from recgauge.errors import EmptySplitError, SchemaError
from recgauge.interactions import Interactions
from recgauge.splits.steps import Step


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

    Raises
    ------
    SchemaError
        If the parts do not share ids, or a held-out part repeats a pair or shares one with train.
    EmptySplitError
        If train or test have no rows.
    """

    name: str
    train: Interactions
    validation: Interactions | None
    test: Interactions
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        for part_name, part in (("train", self.train), ("test", self.test)):
            if len(part) == 0:
                raise EmptySplitError(
                    f"Split {self.name}: {part_name} has no rows{self._history()}. "
                    "Use more data, weaker filters or other fractions."
                )
        seen = _pair_codes(self.train)
        for part_name, held_out in (("validation", self.validation), ("test", self.test)):
            if held_out is None:
                continue
            if not (
                np.array_equal(held_out.user_ids, self.train.user_ids)
                and np.array_equal(held_out.item_ids, self.train.item_ids)
            ):
                raise SchemaError(f"Split {self.name}: {part_name} and train must share their id arrays.")
            pairs = _pair_codes(held_out)
            n_repeated = len(pairs) - len(np.unique(pairs))
            if n_repeated:
                raise SchemaError(
                    f"Split {self.name}: {part_name} repeats {n_repeated} (user, item) pairs. "
                    "Remove them from the data before splitting."
                )
            n_shared = int(np.isin(pairs, seen).sum())
            if n_shared:
                raise SchemaError(
                    f"Split {self.name}: {n_shared} (user, item) pairs of {part_name} are in train too. "
                    "Remove repeated pairs from the data before splitting."
                )

    def _history(self) -> str:
        return "".join(f"; {step}" for step in self.steps if step.dropped_rows)

    @property
    def test_users(self) -> IntArray:
        """Users with test rows, ascending codes, shape (m,)."""
        return np.unique(self.test.user)


class Splitter(ABC):
    """A strategy that assigns rows to train, validation and test."""

    name: str
    temporal: ClassVar[bool] = False
    """Whether no user's training rows come after the user's test rows; a guard holds the strategy to it."""

    @abstractmethod
    def assign(
        self, interactions: Interactions, *, rng: np.random.Generator
    ) -> tuple[BoolArray, BoolArray | None]:
        """Return the mask of test rows and that of validation rows (or None), each shape (n,)."""

    def split(
        self, interactions: Interactions, *, rng: np.random.Generator, steps: tuple[Step, ...] = ()
    ) -> Split:
        """Split `interactions`; held-out rows of users without a training row are dropped and counted.

        Parameters
        ----------
        interactions : Interactions
            Rows in the publisher's order.
        rng : numpy.random.Generator
            The stream of the split stage.
        steps : tuple of Step
            What filters dropped before.

        Returns
        -------
        Split

        Raises
        ------
        EmptySplitError
            If train or test come out empty.
        """
        in_test, in_validation = self.assign(interactions, rng=rng)
        in_train = ~in_test if in_validation is None else ~(in_test | in_validation)
        train = interactions.take(in_train)
        known = train.user_counts() > 0
        test, step = _keep_known(interactions.take(in_test), known, "test")
        steps = (*steps, step)
        validation = None
        if in_validation is not None:
            validation, step = _keep_known(interactions.take(in_validation), known, "validation")
            steps = (*steps, step)
        return Split(self.name, train, validation, test, steps)


def _pair_codes(part: Interactions) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return part.user.astype(np.int64) * part.n_items + part.item


def _keep_known(part: Interactions, known: BoolArray, part_name: str) -> tuple[Interactions, Step]:
    kept = part.take(known[part.user])
    return kept, Step.between(f"{part_name} rows of users without training rows", part, kept)
