"""Metrics beyond accuracy: coverage, diversity, novelty, popularity and serendipity of lists."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.catalogue import Catalogue, Similarity
from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.judging.ineligible import repeated_items
from recgauge.metrics.metric import Metric, denominator, divide
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray

T = TypeVar("T")

_ARGUMENT = {
    "train": "the training interactions; pass train=...",
    "features": "item features; pass item_features=...",
    "similarity": "similarities of items, or item features, whose cosine replaces them; pass "
    "item_similarity=... or item_features=..., or choose similarity='cooccurrence'",
    "head": "the items of the short head; pass head=[...]",
    "n_items": "the catalogue's size, which lists do not tell; pass n_items=... or train=...",
}


def catalogue_of(metric: Metric, judged: JudgedTopK) -> Catalogue:
    """Return the catalogue behind the lists, with all that `metric` needs.

    Parameters
    ----------
    metric : Metric
        Its `needs` say what must be there.
    judged : JudgedTopK

    Returns
    -------
    Catalogue

    Raises
    ------
    MetricError
        If something is missing, naming the argument that brings it, or if a list names an item outside
        the catalogue.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> from recgauge.metrics.beyond.catalogue import ItemPopularity
    >>> catalogue_of(ItemPopularity(), beyond_example()).n_items
    5
    """
    catalogue = judged.catalogue
    if catalogue is None:
        raise MetricError(f"{metric.label} needs {_ARGUMENT[min(metric.needs, default='n_items')]}")
    held = {
        "train": catalogue.train_counts,
        "features": catalogue.features,
        "similarity": catalogue.features if catalogue.similarity is None else catalogue.similarity,
        "n_items": catalogue.n_items if catalogue.sized else None,
        "head": catalogue.head,
    }
    for need in sorted(metric.needs):
        if held[need] is None:
            raise MetricError(f"{metric.label} needs {_ARGUMENT[need]}")
    last = int(judged.items.max(initial=-1))
    if last >= catalogue.n_items:
        raise MetricError(
            f"{metric.label}: lists must name items of the catalogue, codes 0..{catalogue.n_items - 1}, "
            f"got {last}; raise n_items or leave that item out."
        )
    return catalogue


def _present(metric: Metric, value: T | None, need: str) -> T:
    if value is None:
        raise MetricError(f"{metric.label} needs {_ARGUMENT[need]}")
    return value


def train_rows(metric: Metric, judged: JudgedTopK) -> LongArray:
    """Return the training rows of each item, shape (n_items,)."""
    return _present(metric, catalogue_of(metric, judged).train_counts, "train")


def train_users(metric: Metric, judged: JudgedTopK) -> LongArray:
    """Return the training users of each item, shape (n_items,)."""
    return _present(metric, catalogue_of(metric, judged).train_users, "train")


def seen_items(metric: Metric, judged: JudgedTopK) -> sparse.csr_array:
    """Return the training items of every user code, shape (n_users, n_items)."""
    return _present(metric, catalogue_of(metric, judged).seen, "train")


def given_head(metric: Metric, judged: JudgedTopK) -> BoolArray:
    """Return which items are in the short head that the user names, shape (n_items,)."""
    return _present(metric, catalogue_of(metric, judged).head, "head")


def features(metric: Metric, judged: JudgedTopK) -> sparse.csr_array:
    """Return the features of each item, shape (n_items, n_features)."""
    return _present(metric, catalogue_of(metric, judged).features, "features")


def similarity(metric: Metric, judged: JudgedTopK) -> "Similarity | None":
    """Return the given similarities of items, shape (n_items, n_items); None if features are used instead."""
    return catalogue_of(metric, judged).similarity


def relevant_items(metric: Metric, judged: JudgedTopK) -> tuple[LongArray, LongArray]:
    """Return the row and the item of every relevant pair, each of shape (r,)."""
    if judged.relevant_items is None:
        raise MetricError(
            f"{metric.label} counts relevant items, and policies with repeats='distinct' make more of "
            "them; choose another policy for this metric."
        )
    return np.repeat(np.arange(judged.n_users), judged.n_relevant), judged.relevant_items.astype(np.int64)


BLOCK_ENTRIES = 1 << 20
"""List entries looked at together: 8 MiB of float64 at a time."""


def row_blocks(n_rows: int, entries_per_row: int) -> Iterator[slice]:
    """Yield slices of rows that hold about `BLOCK_ENTRIES` entries each."""
    step = max(1, BLOCK_ENTRIES // max(1, entries_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def list_blocks(judged: JudgedTopK, k: int | None) -> Iterator[tuple[slice, IntArray]]:
    """Yield blocks of rows with the first `k` items of their lists, (b, k), padded with -1."""
    first = judged.items[:, :k]
    for rows in row_blocks(judged.n_users, first.shape[1]):
        yield rows, first[rows]


def sum_over_list(item_value: npt.NDArray[np.generic], judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Sum a value of items over the first `k` items of each list, shape (m,).

    Parameters
    ----------
    item_value : ndarray, shape (n_items,)
    judged : JudgedTopK
    k : int or None

    Returns
    -------
    ndarray of float64, shape (m,)

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> sum_over_list(np.arange(5) * 10, beyond_example(), k=2)
    array([50., 40.])
    """
    # padding is item -1, which finds the 0 at the end
    padded = np.append(np.asarray(item_value, np.float64), 0.0)
    sums = np.empty(judged.n_users)
    for rows, items in list_blocks(judged, k):
        # rank after rank: what follows the end of a list adds 0 and moves no bit of the sum
        sums[rows] = padded[np.ascontiguousarray(items.T)].sum(axis=0)
    return sums


def mean_over_list(
    item_value: npt.NDArray[np.generic],
    judged: JudgedTopK,
    k: int | None,
    divisor: Literal["k", "list"],
    empty: float = np.nan,
) -> DoubleArray:
    """Average a value of items over each list, shape (m,).

    Parameters
    ----------
    item_value : ndarray, shape (n_items,)
    judged : JudgedTopK
    k : int or None
    divisor : {"k", "list"}
        The cutoff even where the list is shorter, or the items that the list has.
    empty : float, default NaN
        The value of an empty list that is divided by its own length.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    return divide(sum_over_list(item_value, judged, k), denominator(divisor, judged, k), empty)


def distinct_lists(judged: JudgedTopK, k: int | None) -> JudgedTopK:
    """Return the same lists with the places of repeated items empty; as they are where nothing repeats."""
    items = judged.items[:, :k]
    repeated = repeated_items(items, judged.users, judged.catalogue)
    return judged if repeated is None else replace(judged, items=np.where(repeated, -1, items))


def n_known(judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Return how many of the first `k` places of each list hold an item of the catalogue, shape (m,)."""
    return np.asarray(np.count_nonzero(judged.items[:, :k] >= 0, axis=1), np.float64)


def exposure(judged: JudgedTopK, k: int | None, n_items: int) -> DoubleArray:
    """Count the lists' first `k` ranks that each item holds.

    Parameters
    ----------
    judged : JudgedTopK
    k : int or None
    n_items : int

    Returns
    -------
    ndarray of float64, shape (n_items,)

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> exposure(beyond_example(), 2, 5)
    array([0., 1., 1., 2., 0.])
    """
    total = np.zeros(n_items + 1)
    for _, items in list_blocks(judged, k):
        # padding is item -1 and goes to the entry in front
        total += np.bincount(items.ravel() + 1, minlength=n_items + 1)
    return total[1:]


def weighted_exposure(judged: JudgedTopK, k: int | None, n_items: int, weight: DoubleArray) -> DoubleArray:
    """Sum weights of users, 0 to 1, over the lists' first `k` ranks that each item holds; exact sums.

    Parameters
    ----------
    judged : JudgedTopK
    k : int or None
    n_items : int
    weight : ndarray of float64, shape (m,)
        The weight of a rank in each user's list.

    Returns
    -------
    ndarray of float64, shape (3, n_items)
        Sums of the weights' multiples of 2**-22, 2**-44 and 2**-66, which billions of lists leave exact.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> weighted_exposure(beyond_example(), 2, 5, np.array([0.5, 1.0])).sum(axis=0)
    array([0. , 1. , 0.5, 1.5, 0. ])
    """
    slices, rest = np.empty((3, len(weight))), weight
    for place, bits in enumerate((22, 44, 66)):
        slices[place] = np.floor(rest * 2.0**bits) * 2.0**-bits
        rest = rest - slices[place]
    alike = len(weight) > 0 and bool((weight == weight[0]).all())
    if alike:
        return slices[:, :1] * exposure(judged, k, n_items)
    total = np.zeros((len(slices), n_items + 1))
    for rows, items in list_blocks(judged, k):
        for sums, part in zip(total, slices, strict=True):
            weights = np.repeat(part[rows], items.shape[1])
            sums += np.bincount(items.ravel() + 1, weights, minlength=n_items + 1)
    return total[:, 1:]
