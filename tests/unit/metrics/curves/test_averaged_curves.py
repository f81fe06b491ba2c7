"""Curves averaged over users: equal to those of lists and to areas computed without a curve."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import pairs_matrix
from recgauge.data.lists import Relevant
from recgauge.errors import MetricError
from recgauge.evaluation.ranking_task import rank_relevant
from recgauge.judging import judge
from recgauge.metrics.curves import precision_recall_over_k, roc_curve
from recgauge.metrics.curves.full_ranking import AUC, FullRankings, mean_precision_recall, mean_roc, rank_one
from recgauge.models.recommend import recommend
from recgauge.models.svd import SVD
from recgauge.splits.shares import RandomRows

ROWS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.3, 0.4])), min_size=2, max_size=9)


def places_of(users):
    return FullRankings.merge([rank_one(*zip(*rows, strict=True)) for rows in users])


def has_both(rows):
    return 0 < sum(relevant for relevant, _ in rows) < len(rows)


@given(users=st.lists(ROWS.filter(has_both), min_size=1, max_size=5))
def test_area_under_the_mean_is_the_mean_area(users):
    curve = mean_roc(places_of(users))
    assert curve.area() == pytest.approx(AUC().value(places_of(users)))
    assert curve.area() == pytest.approx(
        np.mean([roc_curve(*zip(*rows, strict=True)).area() for rows in users])
    )
    for rates in (curve.false_positive_rate, curve.true_positive_rate):
        assert (rates[0], rates[-1]) == (0, 1)
        assert (np.diff(rates) >= 0).all()


@given(users=st.lists(ROWS.filter(lambda rows: any(one for one, _ in rows)), min_size=1, max_size=5))
def test_users_with_relevant_candidates_only_have_no_roc(users):
    kept = [rows for rows in users if has_both(rows)]
    if not kept:
        with pytest.raises(MetricError, match="no user has relevant and other candidates"):
            mean_roc(places_of(users))
        return
    assume(len(kept) < len(users))
    assert mean_roc(places_of(users)).area() == pytest.approx(mean_roc(places_of(kept)).area())


@pytest.fixture(scope="module")
def held_out(demo):
    split = RandomRows(test_size=0.3).split(demo.interactions, rng=np.random.default_rng(2))
    return split, Relevant.from_interactions(split.test, 4)


@pytest.mark.parametrize("rule", ["all", "some items", "own items"])
def test_every_rank_has_the_precision_and_recall_of_lists_that_long(held_out, rule, rng):
    split, relevant = held_out
    fitted = SVD(n_factors=8).fit(split.train, rng=rng)
    candidates = chosen(split, rule, rng)
    n_items = split.train.n_items
    lists = judge(recommend(fitted, relevant.users, 60, candidates=candidates), relevant)
    expected = precision_recall_over_k(lists, 60)
    for memory_mib in (1, 64):
        rankings = rank_relevant(fitted, relevant, candidates, n_items, memory_mib=memory_mib)
        curve = mean_precision_recall(rankings, np.diff(relevant.start), np.arange(1, 61))
        np.testing.assert_allclose(curve.precision, expected.precision, atol=1e-12)
        np.testing.assert_allclose(curve.recall, expected.recall, atol=1e-12)
    counts = candidates.counts(split.train.n_users, n_items)[relevant.users]
    assert (rankings.n_positive + rankings.n_negative == counts).all()


def chosen(split, rule, rng):
    train = split.train
    if rule == "own items":
        users = np.repeat(np.arange(train.n_users), 100)
        items = np.concatenate([rng.permutation(train.n_items)[:100] for _ in range(train.n_users)])
        return CandidateItems(per_user=pairs_matrix(users, items, (train.n_users, train.n_items)))
    items = np.sort(rng.permutation(train.n_items)[:400]).astype(np.int32) if rule == "some items" else None
    return CandidateItems(excluded=train.to_csr(), items=items)
