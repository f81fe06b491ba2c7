"""Areas under curves of lists against walks down one list, and precision and recall over k."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from recgauge.data.catalogue import Catalogue
from recgauge.data.top_k import TopK
from recgauge.errors import ConfigError, MetricError
from recgauge.judging.judge import Relevant, judge
from recgauge.metrics.curves.list_areas import CompletedAUC, LimitedAUC, ListAUC, PartialAUC
from recgauge.metrics.curves.points import precision_recall_over_k
from recgauge.metrics.examples import judged_example

N_ITEMS = 9
CUTOFFS = st.integers(1, 8)
ALL = [ListAUC(), PartialAUC(), PartialAUC(positives="min_relevant_k"), LimitedAUC(), CompletedAUC()]


@st.composite
def cases(draw):
    """Lists and relevant items of some users, and how many items each has seen in training."""
    n_users = draw(st.integers(1, 4))
    items = st.permutations(range(2, N_ITEMS))  # 0 and 1 were seen in training
    lists = [draw(items)[: draw(st.integers(0, 6))] for _ in range(n_users)]
    relevant = [sorted(draw(items)[: draw(st.integers(1, 5))]) for _ in range(n_users)]
    return lists, relevant


def judged(lists, relevant, catalogue=True):
    users = np.arange(len(lists), dtype=np.int32)
    items = np.array([[*one, *[-1] * (6 - len(one))] for one in lists], np.int32)
    scores = np.where(items >= 0, -np.arange(6.0), -np.inf).astype(np.float32)
    start = np.concatenate(([0], np.cumsum([len(one) for one in relevant])))
    flat = np.concatenate(relevant).astype(np.int32)
    truth = Relevant(users, start, flat, np.ones(len(flat), np.float32), 0)
    seen = sparse.csr_array(np.tile(np.arange(N_ITEMS) < 2, (len(users), 1)).astype(np.int8))
    return judge(TopK(users, items, scores), truth, Catalogue(N_ITEMS, seen=seen) if catalogue else None)


def walk(one, relevant):
    return [item in relevant for item in one]


def list_auc(flags, n_relevant, k):
    flags = flags[:k]
    hits, misses = sum(flags), len(flags) - sum(flags)
    if hits == 0 or misses == 0:
        return float(hits > 0)
    return sum(sum(flags[:place]) for place, hit in enumerate(flags) if not hit) / (hits * misses)


def partial_auc(flags, most, k):
    found, heights = 0, []
    for hit in flags:
        found += hit
        if not hit:
            heights.append(min(found, most))
    heights = heights[:k] + [min(found, most)] * (k - len(heights))
    return sum(heights) / (k * most)


def limited_auc(flags, n_relevant, k):
    candidates = N_ITEMS - 2 - n_relevant + 1
    misses, shares = 0, 0.0
    for hit in flags[:k]:
        shares += (candidates - misses) / candidates if hit else 0
        misses += not hit
    return shares / min(n_relevant, k)


def completed_auc(flags, n_relevant, k):
    flags, others = flags[:k], N_ITEMS - n_relevant
    area = sum(sum(flags[:place]) for place, hit in enumerate(flags) if not hit)
    area += (sum(flags) + n_relevant) / 2 * (others - (len(flags) - sum(flags)))
    return area / (n_relevant * others)


REFERENCE = [
    (ListAUC(), list_auc),
    (PartialAUC(), partial_auc),
    (PartialAUC(positives="min_relevant_k"), lambda flags, n, k: partial_auc(flags, min(n, k), k)),
    (LimitedAUC(), limited_auc),
    (CompletedAUC(), completed_auc),
]


@pytest.mark.parametrize(("metric", "formula"), REFERENCE, ids=lambda part: getattr(part, "label", ""))
@given(case=cases(), k=CUTOFFS)
def test_every_list_equals_a_walk(metric, formula, case, k):
    lists, relevant = case
    values = metric.per_user(judged(lists, relevant), k)
    expected = [formula(walk(one, own), len(own), k) for one, own in zip(lists, relevant, strict=True)]
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert ((values >= 0) & (values <= 1)).all()


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.definition())
def test_a_perfect_list_is_the_best_and_an_empty_one_the_worst(metric):
    perfect = metric.per_user(judged([[3, 4, 5]], [[3, 4, 5]]), 3)
    assert perfect == pytest.approx([1.0])
    without_hit = metric.per_user(judged([[0, 1, 2]], [[3, 4, 5]]), 3)
    assert without_hit[0] <= metric.per_user(judged([[0, 1, 3]], [[3, 4, 5]]), 3)[0]


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.definition())
@given(case=cases(), k=CUTOFFS, place=st.integers(0, 4))
def test_moving_a_relevant_item_up_never_hurts(metric, case, k, place):
    lists, relevant = case
    one, own = list(lists[0]), relevant[0]
    if metric == ListAUC() and k < len(one):
        return  # a hit that enters the cut list below its misses lowers the share of pairs in order
    before = metric.per_user(judged([one], [own]), k)[0]
    if place + 1 < len(one) and one[place + 1] in own and one[place] not in own:
        one[place], one[place + 1] = one[place + 1], one[place]
    assert metric.per_user(judged([one], [own]), k)[0] >= before - 1e-12


@given(case=cases(), max_k=CUTOFFS)
def test_precision_and_recall_over_k(case, max_k):
    lists, relevant = case
    curve = precision_recall_over_k(judged(lists, relevant), max_k)
    for k, precision, recall in zip(curve.k, curve.precision, curve.recall, strict=True):
        hits = [sum(walk(one[:k], own)) for one, own in zip(lists, relevant, strict=True)]
        assert precision == pytest.approx(np.mean(hits) / k)
        assert recall == pytest.approx(np.mean([h / len(own) for h, own in zip(hits, relevant, strict=True)]))


def test_everything_relevant_has_no_completed_area():
    everything = list(range(N_ITEMS))
    assert math.isnan(CompletedAUC().per_user(judged([[1, 2]], [everything]), 3)[0])


def test_limited_area_without_training_items():
    with_two_seen = LimitedAUC().per_user(judged([[8, 3]], [[3]]), 3)
    assert with_two_seen.tolist() == [(N_ITEMS - 2 - 1 + 1 - 1) / (N_ITEMS - 2 - 1 + 1)]


@pytest.mark.parametrize("metric", [LimitedAUC(), CompletedAUC()], ids=lambda metric: metric.label)
def test_the_number_of_items_must_be_known(metric):
    with pytest.raises(
        MetricError, match="needs the catalogue's size, which lists do not tell; pass n_items="
    ):
        metric.per_user(judged([[1]], [[1]], catalogue=False), 1)


def test_wrong_settings():
    with pytest.raises(MetricError, match="PartialAUC: needs a cutoff"):
        PartialAUC().per_user(judged_example(), None)
    with pytest.raises(ConfigError, match="positives must be one of relevant, min_relevant_k"):
        PartialAUC(positives="all")
    with pytest.raises(ConfigError, match="max_k must be a whole number >= 1"):
        precision_recall_over_k(judged_example(), 0)
