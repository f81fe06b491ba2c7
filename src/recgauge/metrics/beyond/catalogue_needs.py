"""What metrics take from the catalogue, and one clear error where it is missing."""

from typing import TypeVar

from scipy import sparse

from recgauge.data.catalogue import Catalogue, Similarity
from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.metric import Metric
from recgauge.utils.checks import LongArray

T = TypeVar("T")

_ARGUMENT = {
    "train": "the training interactions; pass train=...",
    "features": "item features; pass item_features=...",
    "similarity": "similarities of items, or item features, whose cosine replaces them; pass "
    "item_similarity=... or item_features=..., or choose similarity='cooccurrence'",
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
    >>> from recgauge.metrics.beyond.popularity import Popularity
    >>> catalogue_of(Popularity(), beyond_example()).n_items
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


def features(metric: Metric, judged: JudgedTopK) -> sparse.csr_array:
    """Return the features of each item, shape (n_items, n_features)."""
    return _present(metric, catalogue_of(metric, judged).features, "features")


def similarity(metric: Metric, judged: JudgedTopK) -> Similarity | None:
    """Return the given similarities of items, shape (n_items, n_items); None if features are used instead."""
    return catalogue_of(metric, judged).similarity
