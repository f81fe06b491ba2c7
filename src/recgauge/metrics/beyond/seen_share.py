"""Share of the list that the user already knows from training."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.catalogue_needs import seen_items
from recgauge.metrics.beyond.lists import row_blocks
from recgauge.metrics.denominators import divide, list_length
from recgauge.metrics.metric import UserMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class SeenShare(UserMetric):
    r"""Share of the recommended items that are among the user's training items.

    .. math:: \frac{|L_k \cap S_u|}{|L_k|}

    Parameters
    ----------
    empty : {"nan", "unseen"}, default "nan"
        Whether a user without a list has no value, or nothing seen.

    Raises
    ------
    ConfigError
        If `empty` is unknown.

    In plain Python
    ---------------
    >>> def seen_share(items, k, train, user):
    ...     known = [item in train[user] for item in items[:k]]
    ...     return sum(known) / len(known) if known else math.nan

    Notes
    -----
    Range [0, 1]. 0 wherever seen items are barred from lists; lower is better where people want something
    new, but not where they return to the same items.

    RePlay 0.22.0 reports the complement: `UnseenShare`.

    References
    ----------
    .. [1] P. Castells, N. Hurley, S. Vargas, "Novelty and diversity in recommender systems", Recommender
       Systems Handbook, 2015.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> SeenShare().per_user(beyond_example(), 2)
    array([0., 0.])
    """

    name: ClassVar[str] = "seen_share"
    label: ClassVar[str] = "SeenShare"
    higher_is_better: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    empty: Literal["nan", "unseen"] = "nan"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the share of seen items in each list, shape (m,)."""
        empty = np.nan if self.empty == "nan" else 0.0
        return divide(self._seen(judged, k), list_length(judged, k), empty)

    def _seen(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        seen = seen_items(self, judged)
        known = np.empty(judged.n_users)
        for rows in row_blocks(judged.n_users, seen.shape[1] + 1):
            history = seen[judged.users[rows]]
            # one column more than items: padding is item -1, never seen
            mark = np.zeros((history.shape[0], history.shape[1] + 1), np.bool_)
            mark[np.repeat(np.arange(len(mark)), np.diff(history.indptr)), history.indices] = True
            known[rows] = np.take_along_axis(mark, judged.items[rows, :k] % mark.shape[1], axis=1).sum(axis=1)
        return known


@dataclass(frozen=True)
class UnseenShare(SeenShare):
    r"""Share of the recommended items that are not among the user's training items.

    .. math:: 1 - \frac{|L_k \cap S_u|}{|L_k|}

    Parameters
    ----------
    empty : {"nan", "unseen"}, default "nan"
        Whether a user without a list has no value, or 1.

    Raises
    ------
    ConfigError
        If `empty` is unknown.

    In plain Python
    ---------------
    >>> def unseen_share(items, k, train, user):
    ...     new = [item not in train[user] for item in items[:k]]
    ...     return sum(new) / len(new) if new else math.nan

    Notes
    -----
    Range [0, 1], higher is better: more new items; 1 wherever seen items are barred from lists. RePlay
    0.22.0 calls this Novelty, with ``empty="unseen"``.

    References
    ----------
    .. [1] P. Castells, N. Hurley, S. Vargas, "Novelty and diversity in recommender systems", Recommender
       Systems Handbook, 2015.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> UnseenShare().per_user(beyond_example(), 2)
    array([1., 1.])
    """

    name: ClassVar[str] = "unseen_share"
    label: ClassVar[str] = "UnseenShare"
    higher_is_better: ClassVar[bool] = True

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the share of unseen items in each list, shape (m,)."""
        return 1.0 - super().per_user(judged, k)
