"""What holds for every metric beyond accuracy on any lists: range, merging, order of users, brute force."""

from collections.abc import Callable
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beyond_lists import catalogue_of_train, judged_lists
from recgauge.judging import JudgedTopK
from recgauge.metrics import Metric, RunMetric, UserMetric
from recgauge.metrics.beyond.catalogue import (
    CatalogCoverage,
    Entropy,
    Gini,
    GiniComplement,
    Herfindahl,
    ItemPopularity,
    LongTailShare,
    Personalization,
    PredictionCoverage,
    SeenShare,
    TailPercentage,
    UnseenShare,
    UserCoverage,
)
from recgauge.metrics.beyond.diversity import Diversity, IntraListSimilarity, PooledDiversity
from recgauge.metrics.beyond.novelty import (
    ExpectedFreeDiscovery,
    ExpectedPopularityComplement,
    HistorySerendipity,
    Novelty,
    PooledNovelty,
    RankSerendipity,
    UnpopularSerendipity,
)

USER_METRICS: list[UserMetric] = [
    UserCoverage(),
    UserCoverage(at_least="k"),
    *(ItemPopularity(value, divisor) for value in ("share", "quantile") for divisor in ("k", "list")),
    *(
        LongTailShare(0.5, boundary, untrained)
        for boundary, untrained in (("head", "tail"), ("tail", "neither"))
    ),
    TailPercentage(0.3),
    *(Novelty(unseen=unseen, scale="log_users") for unseen in ("one", "zero", "max", "drop")),
    Novelty(divisor="k", scale="log_users"),
    ExpectedPopularityComplement(),
    SeenShare(),
    UnseenShare(empty="unseen"),
    *(IntraListSimilarity(kind) for kind in ("features", "matrix", "cooccurrence")),
    *(Diversity(kind, single=0, undescribed="drop") for kind in ("features", "cooccurrence")),
    UnpopularSerendipity(),
    UnpopularSerendipity(divisor="list"),
    RankSerendipity(),
    *(HistorySerendipity(kind, rel) for kind in ("features", "cooccurrence") for rel in (True, False)),
]
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
]
UNBOUNDED: list[Metric] = [
    ItemPopularity(),
    Novelty(total="interactions", base=10.0),
    Novelty(divisor="catalog"),
    PooledNovelty(),
    PooledNovelty(unseen="drop"),
    ExpectedFreeDiscovery(),
    Entropy(),
    Entropy(base="e", divisor="recommended"),
    Entropy(weight="users"),
    CatalogCoverage(scale="count"),
    CatalogCoverage(catalog="train", intersect=False),
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


def value_of(metric: Metric, lists: JudgedTopK, k: int | None) -> Any:
    if isinstance(metric, UserMetric):
        return metric.per_user(lists, k)
    assert isinstance(metric, RunMetric)
    return metric.value(metric.sums(lists, k))


@given(world=worlds())
def test_values_lie_in_their_range_or_are_undefined(world: Any) -> None:
    users, features, k = world
    lists = judged(users, features)
    for metric in (*USER_METRICS, *RUN_METRICS, *UNBOUNDED):
        values = np.atleast_1d(value_of(metric, lists, k))
        defined = values[~np.isnan(values)]
        assert (defined >= -1e-12).all(), metric
        assert metric in UNBOUNDED or (defined <= 1 + 1e-12).all(), metric


@given(world=worlds(), chance=st.randoms(use_true_random=False))
def test_the_order_of_users_does_not_matter(world: Any, chance: Any) -> None:
    users, features, k = world
    order = list(range(len(users)))
    chance.shuffle(order)
    lists, shuffled = judged(users, features), judged([users[row] for row in order], features)
    for metric in (*USER_METRICS, *RUN_METRICS, *UNBOUNDED):
        values, moved = value_of(metric, lists, k), value_of(metric, shuffled, k)
        expected = values[order] if isinstance(metric, UserMetric) else values
        assert np.array_equal(moved, expected, equal_nan=True), metric  # to the last bit


@given(world=worlds(), cut=st.integers(0, 6))
def test_sums_of_blocks_add_up_to_the_whole(world: Any, cut: int) -> None:
    users, features, k = world
    # what is relevant does not matter here, but somebody must have something
    users = [(items, [0], train) for items, _, train in users]
    rows = list(range(len(users)))
    whole = judged(users, features)
    blocks = [judged(users, features, part) for part in (rows[:cut], rows[cut:]) if part]
    for metric in (*RUN_METRICS, *UNBOUNDED):
        if isinstance(metric, RunMetric):
            merged = metric.value(np.sum([metric.sums(block, k) for block in blocks], axis=0))
            expected = value_of(metric, whole, k)
            assert np.array_equal(merged, expected, equal_nan=True), metric  # to the last bit


@settings(max_examples=30)
@given(world=worlds())
def test_closed_forms_equal_sums_over_pairs(world: Any) -> None:
    users, features, k = world
    lists = [items[:k] for items, _, _ in users]
    filled = [set(items) for items in lists if items]
    pairs = [len(a & b) / sqrt(len(a) * len(b)) for a, b in combinations(filled, 2)]
    expected = 1 - sum(pairs) / len(pairs) if pairs else float("nan")
    everything = judged(users, features)
    assert value_of(Personalization(), everything, k) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    by_pair = IntraListSimilarity("matrix").per_user(everything, k)
    closed = IntraListSimilarity("features").per_user(everything, k)
    assert closed == pytest.approx(by_pair, abs=1e-9, nan_ok=True)
    for relevance in (True, False):
        by_pair = HistorySerendipity("matrix", relevance).per_user(everything, k)
        closed = HistorySerendipity("features", relevance).per_user(everything, k)
        assert closed == pytest.approx(by_pair, abs=1e-9, nan_ok=True)


@given(world=worlds())
def test_cooccurrence_equals_counting_users_of_both(world: Any) -> None:
    users, features, k = world
    known = [
        {row for row, (_, _, train) in enumerate(users) if item in train} for item in range(len(features))
    ]
    expected = []
    for items, _, _ in users:
        pairs = list(combinations(items[:k], 2))
        shared = [
            len(known[i] & known[j]) / sqrt(len(known[i]) * len(known[j])) if known[i] and known[j] else 0
            for i, j in pairs
        ]
        expected.append(sum(shared) / len(pairs) if pairs else float("nan"))
    found = IntraListSimilarity("cooccurrence").per_user(judged(users, features), k)
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(world=worlds())
def test_gini_is_the_mean_difference_of_all_pairs(world: Any) -> None:
    users, features, k = world
    shown = [sum(item in items[:k] for items, _, _ in users) for item in range(len(features))]
    differences = sum(abs(a - b) for a in shown for b in shown)
    expected = differences / (2 * len(shown) * sum(shown))
    assert value_of(Gini(), judged(users, features), k) == pytest.approx(expected, abs=1e-9)
