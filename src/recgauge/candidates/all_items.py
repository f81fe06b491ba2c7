"""The whole catalogue: what numbers are compared by."""

from dataclasses import dataclass

import numpy as np

from recgauge.candidates import CandidateItems, Candidates, Seen, check_seen, seen_rows
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
