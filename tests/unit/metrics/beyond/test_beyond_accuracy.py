"""Metrics beyond accuracy: through `evaluate`, at their edges, and refused where something is missing."""

from dataclasses import replace

import numpy as np
import pytest

from beyond_lists import catalogue_of_train, judged_lists
from recgauge.data.catalogue import Catalogue
from recgauge.data.popularity import short_head
from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.metrics import Metric, RunMetric, UserMetric
from recgauge.metrics.beyond.catalogue import (
    CatalogCoverage,
    Entropy,
    Gini,
    GiniComplement,
    Herfindahl,
    ItemPopularity,
    Personalization,
    PredictionCoverage,
    SeenShare,
    UnseenShare,
    UserCoverage,
    least_popular,
    whole,
)
from recgauge.metrics.beyond.diversity import Diversity, IntraListSimilarity, PooledDiversity
from recgauge.metrics.beyond.novelty import (
    ExpectedFreeDiscovery,
    HistorySerendipity,
    Novelty,
    PooledNovelty,
    RankSerendipity,
)
from recgauge.metrics.examples import beyond_example

TRAIN = [[0, 1], [0], [0, 1, 2]]
FEATURES: list[list[float]] = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]]


def lists(*ranked: list[int], relevant: list[list[int]] | None = None) -> JudgedTopK:
    known = relevant or [[0]] + [[] for _ in ranked[1:]]
    return judged_lists(list(ranked), known, list(range(len(ranked))), catalogue_of_train(TRAIN, 5, FEATURES))


def run(metric: RunMetric, judged: JudgedTopK, k: int | None = None) -> float:
    return metric.value(metric.sums(judged, k))


def compute(metric: Metric, judged: JudgedTopK) -> None:
    if isinstance(metric, UserMetric):
        metric.per_user(judged, 2)
    elif isinstance(metric, RunMetric):
        metric.sums(judged, 2)


@pytest.mark.parametrize(
    ("metric", "argument"),
    [
        (ItemPopularity(), r"Popularity needs the training interactions; pass train=\.\.\."),
        (ExpectedFreeDiscovery(), "train="),
        (CatalogCoverage(catalog="train"), "train="),
        (HistorySerendipity(), "train="),
        (Diversity(similarity="cooccurrence"), "train="),
        (Diversity(), r"Diversity needs item features; pass item_features=\.\.\."),
        (IntraListSimilarity(similarity="matrix"), "similarity="),
    ],
    ids=lambda value: value.definition() if isinstance(value, Metric) else "",
)
def test_what_is_missing_is_named_by_its_argument(metric: Metric, argument: str) -> None:
    bare = replace(beyond_example(), catalogue=Catalogue(5))
    with pytest.raises(MetricError, match=argument):
        compute(metric, bare)
    with pytest.raises(MetricError, match=argument):
        compute(metric, replace(bare, catalogue=None))


@pytest.mark.parametrize("metric", [CatalogCoverage(), PredictionCoverage(), Gini(), GiniComplement()])
def test_a_share_of_the_catalogue_needs_its_size(metric: RunMetric) -> None:
    unsized = replace(beyond_example(), catalogue=Catalogue(5, sized=False))
    for judged in (unsized, replace(unsized, catalogue=None)):
        with pytest.raises(MetricError, match=r"needs the catalogue's size.* n_items="):
            run(metric, judged)


def test_coverage_counts_untrained_items_only_if_not_intersected() -> None:
    judged = lists([0, 3], [3, 4])
    assert run(CatalogCoverage(), judged) == pytest.approx(3 / 5)
    assert run(CatalogCoverage(catalog="train"), judged) == pytest.approx(1 / 3)
    assert run(CatalogCoverage(catalog="train", intersect=False), judged) == 1.0
    assert run(CatalogCoverage(scale="percent", catalog="train"), judged) == 33.33
    assert run(CatalogCoverage(scale="count"), judged) == 3.0


def test_users_without_a_list_count_for_coverage_and_have_no_mean() -> None:
    judged = lists([0, 1], [])
    assert UserCoverage().per_user(judged, 2).tolist() == [1.0, 0.0]
    assert run(PredictionCoverage(), judged, 2) == pytest.approx(2 / 10)
    for metric in (ItemPopularity(), Novelty(), SeenShare(), Diversity(single=0), RankSerendipity()):
        assert np.isnan(metric.per_user(judged, 2)[1])
    assert Novelty(divisor="k").per_user(judged, 2)[1] == 0.0
    assert UnseenShare(empty="unseen").per_user(judged, 2)[1] == 1.0


def test_nothing_recommended_is_undefined_rather_than_zero() -> None:
    judged = lists([])
    for metric in (Gini(), GiniComplement(), Entropy(), Herfindahl(), Personalization(), PooledNovelty()):
        assert np.isnan(run(metric, judged))
    assert run(PooledDiversity(), judged) == 1.0


def test_single_items_take_the_chosen_value() -> None:
    judged = lists([0], [0, 1], [])
    for single, expected in (("nan", np.nan), (0, 0.0), (1, 1.0)):
        assert Diversity(single=single).per_user(judged, None)[0] == pytest.approx(expected, nan_ok=True)
    with pytest.raises(
        MetricError, match="Diversity: every list must have at least two items, but 2 have fewer"
    ):
        Diversity(single="raise").per_user(judged, None)


def test_undescribed_items_are_similar_to_none_dropped_or_refused() -> None:
    judged = lists([0, 1, 4])
    assert IntraListSimilarity().per_user(judged, None)[0] == pytest.approx(1 / 3)
    assert IntraListSimilarity(undescribed="drop").per_user(judged, None)[0] == pytest.approx(1.0)
    with pytest.raises(MetricError, match="complete item_features="):
        IntraListSimilarity(undescribed="raise").per_user(judged, None)
    assert run(PooledDiversity(undescribed="drop"), judged) == pytest.approx(0.0)


def test_unseen_items_count_as_chosen() -> None:
    judged = lists([2, 3])
    log3 = float(np.log2(3))
    for unseen, expected in (("one", log3), ("zero", log3 / 2), ("max", log3), ("drop", log3)):
        assert Novelty(unseen=unseen).per_user(judged, None)[0] == pytest.approx(expected)
    with pytest.raises(MetricError, match="unseen='one', 'zero', 'max' or 'drop'"):
        Novelty(unseen="raise").per_user(judged, None)
    assert Novelty(unseen="raise").per_user(judged, 1)[0] == pytest.approx(log3)
    assert np.isnan(Novelty(unseen="drop").per_user(lists([3]), None)[0])


def test_heads_and_tails_at_their_boundaries() -> None:
    counts = np.array([5, 3, 2, 0])
    assert short_head(counts, 0.8, "head").tolist() == [True, True, False, False]
    assert short_head(counts, 0.8, "tail").tolist() == [True, True, False, False]
    assert short_head(counts, 0.7, "head").tolist() == [True, True, False, False]
    assert short_head(counts, 0.7, "tail").tolist() == [True, False, False, False]
    assert short_head(np.array([55, 30, 15]), 0.55, "head").tolist() == [True, False, False]
    assert short_head(counts, 1.0, "head").tolist() == [True, True, True, False]
    assert least_popular(counts, 0.4).tolist() == [False, False, True, False]
    assert least_popular(np.zeros(2, np.int64), 0.4).tolist() == [False, False]
    assert [whole(0.1, 30), whole(0.29, 100), whole(0.2, 4)] == [3, 29, 0]
