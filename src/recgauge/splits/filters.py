"""Filters that run before a split, in the order in which they are configured."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from recgauge._checks import BoolArray, check_int, check_real
from recgauge.datasets import Dataset
from recgauge.errors import EmptySplitError
from recgauge.interactions import Interactions
from recgauge.splits.steps import Step


class Filter(ABC):
    """Chooses the rows that stay."""

    @abstractmethod
    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""


@dataclass(frozen=True)
class MinRating(Filter):
    """Keep rows with a value of at least `rating`.

    Parameters
    ----------
    rating : float
        Lowest rating that stays, in the data set's scale.

    Raises
    ------
    ConfigError
        If `rating` is not a finite number.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a", "b"], [1, 2, 1], [3.0, 4.0, 5.0])
    >>> MinRating(4).keep(ratings).tolist()
    [False, True, True]
    """

    rating: float

    def __post_init__(self) -> None:
        check_real("MinRating: rating", self.rating, low=-np.inf, high=np.inf)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return interactions.value >= self.rating

    def __str__(self) -> str:
        return f"ratings below {self.rating:g}"


@dataclass(frozen=True)
class NCore(Filter):
    """Keep users and items with at least `n` rows each, repeated until nothing changes.

    Parameters
    ----------
    n : int
        Fewest rows of a user and of an item, >= 1.

    Raises
    ------
    ConfigError
        If `n` is not a whole number of at least 1.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a", "b", "b", "c"], [1, 2, 1, 2, 2])
    >>> NCore(2).keep(ratings).tolist()
    [True, True, True, True, False]
    """

    n: int

    def __post_init__(self) -> None:
        check_int("NCore: n", self.n, minimum=1)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        kept = np.ones(len(interactions), dtype=bool)
        while True:
            users = np.bincount(interactions.user[kept], minlength=interactions.n_users)
            items = np.bincount(interactions.item[kept], minlength=interactions.n_items)
            enough = (users[interactions.user] >= self.n) & (items[interactions.item] >= self.n)
            if not (kept & ~enough).any():
                return kept
            kept &= enough

    def __str__(self) -> str:
        return f"users and items outside the {self.n}-core"


def apply_filters(dataset: Dataset, filters: tuple[Filter, ...]) -> tuple[Dataset, tuple[Step, ...]]:
    """Run `filters` in their order; users and items without rows leave the data set.

    Parameters
    ----------
    dataset : Dataset
    filters : tuple of Filter

    Returns
    -------
    Dataset
        What is left, with codes anew.
    tuple of Step
        Counts before and after each filter.

    Raises
    ------
    EmptySplitError
        If a filter leaves no rows.
    """
    steps = []
    for rule in filters:
        kept = dataset.interactions.take(rule.keep(dataset.interactions))
        steps.append(Step.between(str(rule), dataset.interactions, kept))
        if len(kept) == 0:
            raise EmptySplitError(
                f"Filters: dropping {rule} leaves no row of the {len(dataset.interactions)} in "
                f"{dataset.name}. Use a weaker filter."
            )
        dataset = dataset.with_interactions(kept)
    return dataset, tuple(steps)
