"""The user's own test items, as some articles rank."""

from dataclasses import dataclass

import numpy as np

from recgauge.candidates import CandidateItems, Candidates
from recgauge.data.pairs import pairs_matrix
from recgauge.data.split import Split


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
