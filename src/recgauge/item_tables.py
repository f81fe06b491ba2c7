"""What users tell about items (training rows, features, how many there are) made a catalogue."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from recgauge._checks import IntArray, check_int, shown
from recgauge.catalogue import Catalogue
from recgauge.errors import SchemaError
from recgauge.ids import IdArray
from recgauge.tables import Ragged


def catalogue_size(n_seen: int, n_items: int | None) -> int:
    """Return the number of items: as told, else those that appear in any table."""
    return n_seen if n_items is None else check_int("n_items", n_items, minimum=n_seen)


def make_catalogue(
    size: int,
    seen: sparse.csr_array | None,
    features: sparse.csr_array | None,
    *,
    n_train_users: int | None,
    sized: bool,
) -> Catalogue:
    """Return the catalogue with the counts that the training matrix shows.

    Parameters
    ----------
    size : int
    seen : scipy.sparse.csr_array or None
        Who had what in training.
    features : scipy.sparse.csr_array or None
    n_train_users : int or None
        Users that training names; None: those with items.
    sized : bool
        Whether the size was told; training data and features tell it too.
    """
    if seen is None:
        return Catalogue(size, features=features, sized=sized or features is not None)
    counts = np.bincount(seen.indices, minlength=size)
    if n_train_users is None:
        n_train_users = int((np.diff(seen.indptr) > 0).sum())
    return Catalogue(size, counts, n_train_users, seen, features)


def seen_matrix(history: Ragged, rows: IntArray, codes: IntArray, shape: tuple[int, int]) -> sparse.csr_array:
    """Return who had what in training, ones of shape (n_users, n_items)."""
    owner = np.repeat(rows, history.lengths)
    matrix = sparse.coo_array((np.ones(len(codes), np.float32), (owner, codes)), shape=shape).tocsr()
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def feature_matrix(features: Any, item_ids: IdArray, size: int, listed: IntArray) -> sparse.csr_array:
    """Return features by item code, shape (n_items, n_features).

    Parameters
    ----------
    features : mapping of item id to vector, or matrix whose row number is the item id
    item_ids : ndarray
        Id of every code.
    size : int
        Items of the catalogue.
    listed : ndarray of int32
        Codes of all recommended items, each of which needs features.
    """
    code_of = {item: code for code, item in enumerate(item_ids.tolist())}
    if isinstance(features, Mapping):
        codes = np.array([code_of[item] for item in features], np.int64)
        try:
            rows = sparse.csr_array(np.array([np.asarray(row, np.float64) for row in features.values()]))
        except ValueError as error:
            raise SchemaError(f"item_features: every item needs a vector of one length: {error}.") from error
    else:
        rows = sparse.csr_array(features)
        codes = np.array([code_of[item] for item in range(rows.shape[0])], np.int64)
    known = np.zeros(size, bool)
    known[codes] = True
    if not known[listed].all():
        item = item_ids[listed[~known[listed]][0]]
        raise SchemaError(f"item_features: item {shown(item)} is recommended but has no features.")
    place = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(size, len(codes)))
    return sparse.csr_array(place @ rows)
