"""A judged list small enough to check by hand, for docstrings and first experiments."""

import numpy as np

from recgauge.data.top_k import TopK
from recgauge.judging.judge import JudgedTopK, Relevant, judge


def judged_example() -> JudgedTopK:
    """Return one user's list of three items, relevant at ranks 1 and 3, out of two relevant items.

    Returns
    -------
    JudgedTopK
        One user; gains are 1.

    Examples
    --------
    >>> judged_example().hits.rank.tolist()
    [1, 3]
    """
    lists = TopK(np.array([0], np.int32), np.array([[7, 2, 5]], np.int32), np.array([[3, 2, 1]], np.float32))
    relevant = Relevant(np.array([0], np.int32), np.array([0, 2]), np.array([5, 7], np.int32), np.ones(2), 0)
    return judge(lists, relevant)
