"""Rules that need no list: all items, items with training rows, the user's own test items."""

from dataclasses import dataclass

import numpy as np

from recgauge.candidates import CandidateItems, Candidates, Seen, check_seen, seen_rows
from recgauge.data.pairs import pairs_matrix
from recgauge.data.split import Split


@dataclass(frozen=True)
class AllItems(Candidates):
    """Every item of the data set, but for those the user has already seen.

    Parameters
    ----------
    seen : {"train", "validation", "both", "none"}
        Whose rows count as seen: the user's training rows, validation rows, both (where there is no
        validation part: the training rows), or none (everything is a candidate).

    Raises
    ------
    ConfigError
        If `seen` is unknown.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = AllItems().choose(split, rng=stream(0, "candidates"))
    >>> chosen.excluded.nnz == len(split.train), chosen.incomparable
    (True, '')
    """

    seen: Seen = "train"

    def __post_init__(self) -> None:
        check_seen("AllItems", self.seen)

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return what users have seen as excluded."""
        return CandidateItems(excluded=seen_rows(split, self.seen))


@dataclass(frozen=True)
class TrainItems(Candidates):
    """Only items with a training row, but for those the user has already seen.

    A test item without training rows can then be recommended to nobody; the run counts such rows.

    Parameters
    ----------
    seen : {"train", "validation", "both", "none"}
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

    seen: Seen = "train"

    def __post_init__(self) -> None:
        check_seen("TrainItems", self.seen)

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
