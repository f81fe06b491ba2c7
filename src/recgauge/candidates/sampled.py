"""Sampled negatives, as many articles rank."""

from dataclasses import dataclass

import numpy as np

from recgauge.candidates import CandidateItems, Candidates
from recgauge.candidates._negatives import draw_negatives
from recgauge.data.pairs import pairs_matrix
from recgauge.data.split import Split
from recgauge.utils.checks import check_choice, check_int


@dataclass(frozen=True)
class SampledNegatives(Candidates):
    """Rank each user's test items among items drawn at random.

    All test items of the user are candidates, relevant or not; the negatives are items that the user has in
    no part of the split. They depend on the seed and the split alone, so every model gets the same. Sampled
    numbers can order models otherwise than the whole catalogue does [1]_, and mark the run.

    Parameters
    ----------
    n : int
        Negatives of each user; a user with fewer items left gets all of them, and the run says so.
    by : {"uniform", "popularity"}
        Every item alike, or in proportion to its training rows (an item without any is never drawn);
        without repetition either way.

    Raises
    ------
    ConfigError
        If `n` or `by` cannot be used.

    References
    ----------
    .. [1] W. Krichene, S. Rendle, "On sampled metrics for item recommendation", KDD 2020.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = SampledNegatives(n=50).choose(split, rng=stream(0, "candidates"))
    >>> chosen.per_user.nnz == len(split.test) + 50 * len(split.test_users)
    True
    """

    n: int = 100
    by: str = "uniform"

    def __post_init__(self) -> None:
        check_int("SampledNegatives: n", self.n, minimum=1)
        check_choice("SampledNegatives: by", self.by, ("uniform", "popularity"))

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:
        """Return each user's test items and negatives."""
        test, shape = split.test, (split.test.n_users, split.test.n_items)
        parts = [part for part in (split.history, split.validation, test) if part is not None]
        known = pairs_matrix(
            np.concatenate([part.user for part in parts]),
            np.concatenate([part.item for part in parts]),
            shape,
        )
        popularity = self.by == "popularity"
        weight = split.train.item_counts().astype(np.float64) if popularity else np.ones(shape[1])
        user, item = draw_negatives(split.test_users, self.n, known, weight, rng)
        n_short = int((np.bincount(user, minlength=shape[0])[split.test_users] < self.n).sum())
        notes = (
            (f"{n_short:,} users had fewer than {self.n} items left to draw and got all of them",)
            if n_short
            else ()
        )
        how = "in proportion to popularity" if popularity else "uniformly"
        return CandidateItems(
            per_user=pairs_matrix(
                np.concatenate((test.user, user)), np.concatenate((test.item, item)), shape
            ),
            incomparable=f"each user's test items were ranked among {self.n} negatives drawn {how}, "
            "not in the catalogue",
            notes=notes,
        )
