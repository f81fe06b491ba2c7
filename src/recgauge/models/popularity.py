"""Most popular items first, by how often or how well they are rated."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import FactorModel, Factors
from recgauge.utils.checks import DoubleArray, NotNegative, Positive

_DAY = 24 * 60 * 60  # seconds
Measure = Literal["count", "sum", "mean_rating"]


@dataclass(eq=False)
class Popularity(FactorModel):
    r"""Score an item by its training rows, the same for every user.

    The baseline that every other model must beat.

    Parameters
    ----------
    by : {"count", "sum", "mean_rating"}
        ``count``: number of rows; ``sum``: sum of their ratings; ``mean_rating``: their mean.
    damping : float
        For ``mean_rating``, >= 0: as if each item had so many more rows with the mean of all ratings, so
        that one rating of 5 is no proof. With 0, items without rows are last.
    last_days : float, optional
        Only rows of the last so many days of the training part count, > 0; all if not given. What is popular
        now is a stronger baseline where tastes or catalogues change. Needs timestamps.

    Notes
    -----
    The damped mean of item i with :math:`n_i` rows, where :math:`\mu` is the mean of all training ratings
    (those of the last days, if so set; the newest training row is the end of the last day):

    .. math:: \frac{\sum_u r_{ui} + d \mu}{n_i + d}

    Counts are exact in float32 up to 16,777,216 rows. `damping` acts on ``mean_rating`` only. Counts over
    held-out rows, as in an article, are those of ``fit_on=all``, which marks the run.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "b", "b"], [1, 1, 2], [3.0, 4.0, 5.0])
    >>> def scores(model):
    ...     return model.fit(train, rng=np.random.default_rng(0)).score(np.array([0], np.int32)).tolist()
    >>> scores(Popularity()), scores(Popularity("mean_rating")), scores(Popularity("mean_rating", damping=1))
    ([[2.0, 1.0]], [[3.5, 5.0]], [[3.6666667461395264, 4.5]])
    """

    by: Measure = "count"
    damping: NotNegative = 0.0
    last_days: Positive | None = None

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:  # noqa: ARG002 - contract
        """Count or add up the training rows of each item.

        Raises
        ------
        FitError
            If `last_days` is given and the rows have no timestamps.
        """
        train = self._window(train)
        ones = np.ones((train.n_users, 1), dtype=np.float32)
        self._factors = Factors(ones, self._popularity(train).astype(np.float32)[:, None])
        return self

    def _window(self, train: Interactions) -> Interactions:
        if self.last_days is None or len(train) == 0:
            return train
        if train.timestamp is None:
            raise FitError(
                f"Popularity: last_days={self.last_days:g} needs the time of every training row, but rows "
                "have no timestamps. Leave last_days out, or choose a data set with timestamps."
            )
        return train.take(train.timestamp > train.timestamp.max() - self.last_days * _DAY)

    def _popularity(self, train: Interactions) -> DoubleArray:
        counts: DoubleArray = train.item_counts().astype(np.float64)
        if self.by == "count" or len(train) == 0:
            return counts
        sums = np.zeros(train.n_items)
        sums += np.bincount(train.item, train.value, minlength=train.n_items)
        if self.by == "sum":
            return sums
        means = np.full(train.n_items, float(train.value.min()) - 1.0)
        damped = sums + self.damping * train.value.mean(dtype=np.float64)
        np.divide(damped, counts + self.damping, out=means, where=counts + self.damping > 0)
        return means

    def fold_in(self, histories: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: all users are served alike, and counts stay those of the training rows."""
        return self
