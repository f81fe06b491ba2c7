"""Lists that the engine makes from a library's model are those of the library itself, on MovieLens 100K."""

from importlib import import_module
from typing import get_args

import numpy as np
import pytest
from scipy import sparse

from differential.libraries import library
from recgauge.datasets.movielens import MovieLens
from recgauge.models.adapters.cornac import Cornac
from recgauge.models.adapters.implicit import Implicit
from recgauge.models.adapters.irspack import Irspack
from recgauge.models.adapters.surprise import Surprise
from recgauge.models.recommend import recommend
from recgauge.splits.shares import RandomRows
from recgauge.utils.randomness import stream

pytestmark = [
    pytest.mark.differential,
    pytest.mark.filterwarnings("ignore"),
]  # of libraries, about themselves
K = 10
EVERY = [
    (kind, algorithm)
    for kind in (Implicit, Irspack, Surprise, Cornac)
    for algorithm in get_args(import_module(kind.__module__).Algorithm)
]
SETTINGS = {"IALS": {"alpha0": 0.1}, "SVDpp": {"n_epochs": 3}, "HPF": {"max_iter": 10}}
"""What makes a model learn something, or learn fast."""


@pytest.fixture(scope="module")
def train(mirror):
    rows = MovieLens("ml_100k", mirror=mirror).load().interactions
    return RandomRows(test_size=0.2).split(rows, rng=stream(0, "split")).train


@pytest.mark.parametrize(("kind", "algorithm"), EVERY, ids=lambda one: getattr(one, "__name__", one))
def test_lists_are_those_of_the_library(kind, algorithm, train, monkeypatch):
    """The library's own scores of our items are its best scores: the lists are equal but for equal scores."""
    library({Surprise: "surprise"}.get(kind, kind.__name__.lower()))
    made, make = [], kind.make
    monkeypatch.setattr(kind, "make", lambda self, *a, **k: made.append(make(self, *a, **k)) or made[-1])
    model = kind(algorithm, SETTINGS.get(algorithm, {})).fit(train, rng=stream(0, "fit"))
    every = 300 if kind is Surprise else 31  # it is asked pair by pair
    users = np.arange(0, 943, every, dtype=np.int32)
    lists = recommend(model, users, K, excluded=train.to_csr())
    scores = np.where(train.to_csr()[users].toarray() != 0, -np.inf, theirs(kind, made[-1], train, users))
    best = -np.sort(-scores, axis=1)[:, :K]
    ours = np.take_along_axis(scores, lists.items, axis=1)
    np.testing.assert_allclose(ours, best, rtol=1e-5, atol=1e-6 * np.abs(best).max())
    untied = (np.diff(-np.sort(-scores, axis=1)[:, : K + 1], axis=1) < -1e-5 * np.abs(best).max()).all(axis=1)
    own = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    assert np.array_equal(lists.items[untied], own[untied])


def theirs(kind, made, train, users):
    """Return the library's own scores of all items, -inf or 0 for those that it would not list."""
    found = np.full((len(users), train.n_items), -np.inf)
    if kind is Implicit:
        rows = sparse.csr_matrix(train.to_csr())
        rows.data[:] = 1.0
        all_items = {"N": train.n_items, "filter_already_liked_items": False}
        items, scores = made.recommend(users, rows[users].astype(np.float64), **all_items)
        for row, listed, own in zip(found, items, scores, strict=True):
            row[listed[listed >= 0]] = own[listed >= 0]
    elif kind is Irspack:
        found[:] = made.get_score(users)
    elif kind is Surprise:
        for row, user in zip(found, users.tolist(), strict=True):
            row[:] = [made.predict(user, item, clip=False).est for item in range(train.n_items)]
    else:
        known, all_users = np.unique(train.item), np.unique(train.user)
        for row, user in zip(found, np.searchsorted(all_users, users), strict=True):
            row[known] = made.score(user)
    return found
