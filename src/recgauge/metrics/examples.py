"""Judged lists small enough to check by hand, for docstrings and first experiments."""

import numpy as np
from scipy import sparse

from recgauge.data.catalogue import Catalogue
from recgauge.data.interactions import Interactions
from recgauge.data.lists import Relevant, TopK
from recgauge.judging import JudgedTopK, judge


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


def beyond_example() -> JudgedTopK:
    """Return two users' lists over five items.

    In training, items 0 to 4 have 3, 2, 1, 0 and 0 of three users. User 0 saw 0 and 1, gets 2, 3 and
    finds 2 relevant; user 1 saw 0, gets 1, 3 and finds 1 relevant. Items 0, 1, 2 share a feature, item 3
    has another, item 4 has none.

    Returns
    -------
    JudgedTopK

    Examples
    --------
    >>> beyond_example().items.tolist()
    [[2, 3], [1, 3]]
    """
    ids = np.arange(5)
    user, item = np.array([0, 0, 1, 2, 2, 2]), np.array([0, 1, 0, 0, 1, 2])
    train = Interactions(user, item, np.ones(6, np.float32), None, ids[:3], ids)
    features = sparse.csr_array(np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 0]]))
    users = np.array([0, 1], np.int32)
    lists = TopK(users, np.array([[2, 3], [1, 3]], np.int32), np.array([[2, 1], [2, 1]], np.float32))
    relevant = Relevant(users, np.array([0, 1, 2]), np.array([2, 1], np.int32), np.ones(2, np.float32), 0)
    return judge(lists, relevant, Catalogue.from_train(train, features))
