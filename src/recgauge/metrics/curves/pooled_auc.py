"""Area under the ROC curve of all users' candidates taken as one pool."""

import numpy as np

from recgauge.errors import MetricError
from recgauge.utils.checks import DoubleArray, FloatArray, check_choice

TIES = (0.5, 0)


class PooledAUC:
    """Compare every relevant candidate of any user with every other candidate of any user.

    Needs the scores to mean the same for all users. The relevant scores come first, then all others block
    by block, so memory is bounded by the relevant items and a block; blocks may come in any order.

    Parameters
    ----------
    positives : ndarray of float, shape (r,)
        Scores of all users' relevant candidates.

    Raises
    ------
    MetricError
        If there is none.

    Notes
    -----
    Range [0, 1], higher is better; .5 for chance. This is RecBole's AUC. A model that gives active users
    higher scores gains here without ranking anybody's items better.

    Examples
    --------
    >>> pool = PooledAUC(np.array([0.9, 0.7]))
    >>> pool.add(np.array([0.7]))
    >>> pool.add(np.array([0.1]))
    >>> pool.value()
    0.875
    """

    def __init__(self, positives: FloatArray | DoubleArray) -> None:
        if len(positives) == 0:
            raise MetricError("PooledAUC: needs at least one relevant candidate, got none.")
        self._positives = np.sort(positives)
        self._n_negative = 0
        self._won = 0
        self._tied = 0

    def add(self, negatives: FloatArray | DoubleArray) -> None:
        """Compare with the scores of other candidates, any shape, all users alike."""
        scores = np.sort(negatives, axis=None)  # neighbours search the same stretch: less memory traffic
        first = np.searchsorted(self._positives, scores, side="left")
        behind = np.searchsorted(self._positives, scores, side="right")
        self._n_negative += len(scores)
        self._won += int((len(self._positives) - behind).sum())
        self._tied += int((behind - first).sum())

    def value(self, ties: float = 0.5) -> float:
        """Return the area.

        Parameters
        ----------
        ties : {0.5, 0}
            What a tie counts.

        Raises
        ------
        ConfigError
            If `ties` is neither.
        MetricError
            Before a candidate that is not relevant has been added.
        """
        check_choice("PooledAUC: ties", ties, TIES)
        if self._n_negative == 0:
            raise MetricError("PooledAUC: undefined without a candidate that is not relevant.")
        return (self._won + ties * self._tied) / (len(self._positives) * self._n_negative)
