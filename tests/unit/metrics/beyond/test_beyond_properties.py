"""Metrics of a whole run: the sums of blocks of users, in any order, add up to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beyond_lists import catalogue_of_train, judged_lists
from recgauge.judging import JudgedTopK
from recgauge.metrics import RunMetric
from recgauge.metrics.beyond.catalogue import (
    CatalogCoverage,
    Entropy,
    Gini,
    GiniComplement,
    Herfindahl,
    Personalization,
    PredictionCoverage,
)
from recgauge.metrics.beyond.diversity import PooledDiversity
from recgauge.metrics.beyond.novelty import PooledNovelty

RUN_METRICS: list[RunMetric] = [
    *(CatalogCoverage(catalog=catalog) for catalog in ("all", "train")),
    PredictionCoverage(),
    Gini(),
    Gini("n_minus_1"),
    GiniComplement("n_minus_1"),
    GiniComplement("n_plus_1"),
    Herfindahl(),
    Personalization(),
    PooledDiversity(),
    PooledDiversity("cooccurrence", "drop"),
    PooledNovelty(),
    PooledNovelty(unseen="drop"),
    Entropy(base="e", divisor="recommended"),
    Entropy(weight="users"),
]
Users = list[tuple[list[int], list[int], list[int]]]


@st.composite
def worlds(draw: Callable[..., Any]) -> tuple[Users, list[list[float]], int | None]:
    """Users with a list, relevant items and training items; features of items; a cutoff."""
    n_items = draw(st.integers(2, 9))
    items = st.lists(st.integers(0, n_items - 1), unique=True, max_size=n_items)
    users = draw(st.lists(st.tuples(items, items, items), min_size=2, max_size=6))
    # one user has all three, so that every metric is defined
    users[0] = (list(range(n_items)), [0], [1])
    features = draw(
        st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=3, max_size=3),
            min_size=n_items,
            max_size=n_items,
        )
    )
    return users, features, draw(st.sampled_from([None, 1, 2, 3, 20]))


def judged(users: Users, features: list[list[float]], rows: list[int] | None = None) -> JudgedTopK:
    catalogue = catalogue_of_train([train for _, _, train in users], len(features), features)
    rows = list(range(len(users))) if rows is None else rows
    return judged_lists([users[row][0] for row in rows], [users[row][1] for row in rows], rows, catalogue)


@given(world=worlds(), cut=st.integers(0, 6))
def test_sums_of_blocks_in_another_order_add_up_to_the_whole(world: Any, cut: int) -> None:
    users, features, k = world
    # what is relevant does not matter here, but somebody must have something
    users = [(items, [0], train) for items, _, train in users]
    rows, whole = list(range(len(users))), judged(users, features)
    blocks = [judged(users, features, part) for part in (rows[cut:][::-1], rows[:cut]) if part]
    for metric in RUN_METRICS:
        merged = metric.value(np.sum([metric.sums(block, k) for block in blocks], axis=0))
        expected = metric.value(metric.sums(whole, k))
        assert np.array_equal(merged, expected, equal_nan=True), metric
