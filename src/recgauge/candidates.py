"""Which items may enter a user's list."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from scipy import sparse

from recgauge._checks import check_choice
from recgauge.splits import Split


class Candidates(ABC):
    """A rule for the items that a model must choose from."""

    @abstractmethod
    def excluded(self, split: Split) -> sparse.csr_array | None:
        """Return the items barred for each user as non-zeros of an (n_users, n_items) matrix, or None."""


@dataclass(frozen=True)
class AllItems(Candidates):
    """Every item of the data set, but for those the user has already seen.

    Parameters
    ----------
    seen : {"train", "none"}
        Whose rows count as seen: the user's training rows (fold-in rows of a held-out user), or none
        (everything is a candidate).

    Raises
    ------
    ConfigError
        If `seen` is unknown.
    """

    seen: str = "train"

    def __post_init__(self) -> None:
        check_choice("AllItems: seen", self.seen, ("train", "none"))

    def excluded(self, split: Split) -> sparse.csr_array | None:
        """Return the users' training and fold-in rows, or None."""
        return split.history.to_csr() if self.seen == "train" else None
