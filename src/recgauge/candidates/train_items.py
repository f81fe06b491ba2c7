"""Items that a model can know."""

from dataclasses import dataclass

import numpy as np

from recgauge.candidates import CandidateItems, Candidates, Seen, check_seen, seen_rows
from recgauge.data.split import Split


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
