"""What every ranking metric promises, on any lists."""

import re
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import recgauge
import recgauge.errors
from beyond_lists import judged_lists
from recgauge.conventions import conventions
from recgauge.metrics import FScoreOfMeans, PooledPrecision, RunMetric, UserMetric
from recgauge.metrics.discounted import (
    DCG,
    NDCG,
    CumulativeGain,
    ExpectedReciprocalRank,
    RankBiasedPrecision,
    ReciprocalRank,
)
from recgauge.metrics.precision import (
    AveragePrecision,
    AverageRecall,
    FScore,
    HitRate,
    Precision,
    Recall,
    RPrecision,
)

MONOTONE = [
    Precision(),
    Precision(denominator="list"),
    Recall(),
    Recall(denominator="min_relevant_list"),
    FScore(),
    FScore(beta=2.0),
    HitRate(),
    ReciprocalRank(),
    RPrecision(),
    AveragePrecision(),
    AveragePrecision(normalizer="min_relevant_k"),
    AveragePrecision(normalizer="k", at="ranks"),
    AverageRecall(),
    CumulativeGain(),
    CumulativeGain(gain="exponential"),
    DCG(),
    NDCG(),
    NDCG(gain="exponential", ideal="full"),
    NDCG(gain="binary", discount="jarvelin2"),
    NDCG(gain="binary", discount="reciprocal", ideal="list_length"),
    RankBiasedPrecision(),
    RankBiasedPrecision(p=0.5, gain="linear"),
    RankBiasedPrecision(normalization="ideal"),
    ExpectedReciprocalRank(max_grade=5),
]
# AP by hits: one more hit low in the list can lower it; the list's own gains: see nDCG's notes
OTHERS = [AveragePrecision(normalizer="hits"), NDCG(ideal="own_list"), NDCG(gain="binary", ideal="k_ones")]
SUMS = (CumulativeGain, DCG)
AT_MOST_ONE = [m for m in MONOTONE + OTHERS if not isinstance(m, SUMS) and getattr(m, "gain", "") != "linear"]
CUTOFFS = st.sampled_from([1, 2, 3, 5, 10, None])


@st.composite
def cases(draw: Any, min_users: int = 1) -> tuple[np.ndarray, dict[int, dict[int, float]]]:
    """Lists over twelve items, padded at the tail, and each user's relevant items with grades 1 to 5."""
    n_users = draw(st.integers(min_users, 6))
    rows, relevant = [], {}
    for user in range(n_users):
        order = draw(st.permutations(range(12)))
        length = draw(st.integers(0, 8))
        rows.append(order[:length] + [-1] * (8 - length))
        grades = st.integers(1, 5).map(float)
        relevant[user] = draw(st.dictionaries(st.integers(0, 11), grades, min_size=1, max_size=6))
    return np.array(rows, np.int32), relevant


def judged_of(rows: np.ndarray, relevant: dict[int, dict[int, float]]):
    return judged_lists([row[row >= 0] for row in rows], list(relevant.values()))


@given(cases(), CUTOFFS)
def test_values_stay_in_range(case, k) -> None:
    judged = judged_of(*case)
    for metric in AT_MOST_ONE:
        values = metric.per_user(judged, k)
        values = values[~np.isnan(values)]
        assert ((values >= -1e-12) & (values <= 1 + 1e-12)).all(), metric
    assert (DCG().per_user(judged, k) >= 0).all()


@given(cases(), CUTOFFS, st.integers(1, 7))
def test_moving_a_relevant_item_up_never_hurts(case, k, rank) -> None:
    rows, relevant = case
    moved = rows.copy()
    for user, row in enumerate(moved):
        above, here = row[rank - 1], row[rank]
        if here >= 0 and relevant[user].get(int(here), 0) >= relevant[user].get(int(above), 0):
            row[[rank - 1, rank]] = here, above
    before, after = judged_of(rows, relevant), judged_of(moved, relevant)
    for metric in MONOTONE:
        gain = metric.per_user(after, k) - metric.per_user(before, k)
        assert (gain[~np.isnan(gain)] >= -1e-12).all(), metric


def test_ap_by_hits_can_fall_when_a_list_finds_more() -> None:
    """The documented exception: a lone hit at rank 1 gives 1.0, another one at rank 8 lowers it."""
    relevant = {0: {0: 1.0, 1: 1.0}}
    one = judged_of(np.array([[0, 5, 6, 7]], np.int32), relevant)
    two = judged_of(np.array([[0, 5, 6, 1]], np.int32), relevant)
    metric = AveragePrecision(normalizer="hits")
    assert metric.per_user(two, None)[0] < metric.per_user(one, None)[0] == 1.0


@given(cases(min_users=2), CUTOFFS, st.integers(1, 5))
def test_blocks_of_users_merge_to_the_same(case, k, cut) -> None:
    judged = judged_of(*case)
    rows = np.arange(judged.n_users)
    blocks = [judged.take(rows[: min(cut, len(rows) - 1)]), judged.take(rows[min(cut, len(rows) - 1) :])]
    for metric in MONOTONE + OTHERS:
        merged = np.concatenate([metric.per_user(block, k) for block in blocks])
        assert np.array_equal(merged, metric.per_user(judged, k), equal_nan=True), metric  # to the last bit
    for pooled in (PooledPrecision(), FScoreOfMeans()):
        merged = pooled.value(sum(pooled.sums(block, k) for block in blocks))
        assert np.array_equal(merged, pooled.value(pooled.sums(judged, k)), equal_nan=True), pooled


@settings(max_examples=6)  # of some hundred metrics each
@given(cases(), CUTOFFS)
def test_every_convention_gives_a_number_or_says_why_not(case, k) -> None:
    rows, relevant = case
    lists = {user: [int(item) for item in row if item >= 0] for user, row in enumerate(rows)}
    for convention in conventions().values():
        for name, metric in convention.metrics.items():
            if metric.needs or not isinstance(metric, (UserMetric, RunMetric)):
                continue  # needs more than lists, or measures ratings
            try:
                result = recgauge.evaluate(
                    lists, relevant, metrics=(name,), cutoffs=(k,), conventions=convention
                )
            except recgauge.errors.MetricError as error:
                said = str(error)
                if not re.search("refuses user|undefined for every user|set max_grade|needs a cutoff", said):
                    raise
            else:
                assert np.isfinite(list(result.values().values())).all()


def test_repeats_follow_the_policy() -> None:
    """The list [1, 1, 3, 2] for the relevant items 1 and 2, as libraries disagree about it."""
    standard = recgauge.get_convention("standard")
    expected = {"miss": (1.0, 0.75), "every": (1.5, 1.375)}
    for repeats, values in expected.items():
        chosen = replace(standard, policies=replace(standard.policies, repeats=repeats))
        result = recgauge.evaluate(
            {"u": [1, 1, 3, 2]}, {"u": [1, 2]}, metrics=("recall", "ap"), cutoffs=(4,), conventions=chosen
        )
        assert tuple(result.values().values()) == pytest.approx(values)
