"""The counts that metrics divide by; a name means the same count in every metric."""

from typing import Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.utils.checks import DoubleArray

Denominator = Literal["k", "list", "relevant", "min_relevant_k", "min_relevant_list", "hits"]


def list_length(judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return the number of items among the first `k` of each list, shape (m,)."""
    lengths = judged.list_length.astype(np.float64)
    return lengths if k is None else np.minimum(lengths, k)


def hits(judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return the number of relevant items among the first `k` of each list, shape (m,)."""
    return judged.hits.cut(k).counts()


def denominator(name: Denominator, judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return the count called `name` for each user, shape (m,).

    Parameters
    ----------
    name : {"k", "list", "relevant", "min_relevant_k", "min_relevant_list", "hits"}
        ``k``: the cutoff, or the list's length without one; ``list``: items among the first k of the
        list; ``relevant``: the user's relevant items; ``hits``: relevant items among the first k.
    judged : JudgedTopK
    k : int or None

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    relevant = judged.n_relevant.astype(np.float64)
    match name:
        case "k":
            return list_length(judged, None) if k is None else np.full(judged.n_users, float(k))
        case "list":
            return list_length(judged, k)
        case "relevant":
            return relevant
        case "min_relevant_k":
            return relevant if k is None else np.minimum(relevant, k)
        case "min_relevant_list":
            return np.minimum(relevant, list_length(judged, k))
        case "hits":
            return hits(judged, k)


def divide(numerator: DoubleArray, count: DoubleArray, empty: float = 0.0) -> DoubleArray:
    """Return ``numerator / count``, and `empty` where the count is 0; shape (m,)."""
    quotient = np.full(len(count), empty)
    np.divide(numerator, count, out=quotient, where=count != 0)
    return quotient
