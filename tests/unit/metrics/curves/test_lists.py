"""Precision and recall over k against counting, and areas under curves of lists at their edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from beyond_lists import judged_lists
from recgauge.data.catalogue import Catalogue
from recgauge.errors import ConfigError, MetricError
from recgauge.metrics.curves import precision_recall_over_k
from recgauge.metrics.curves.list_areas import CompletedAUC, LimitedAUC, PartialAUC
from recgauge.metrics.examples import judged_example

N_ITEMS = 9
CUTOFFS = st.integers(1, 8)


@st.composite
def cases(draw):
    """Lists and relevant items of some users, and how many items each has seen in training."""
    n_users = draw(st.integers(1, 4))
    items = st.permutations(range(2, N_ITEMS))  # 0 and 1 were seen in training
    lists = [draw(items)[: draw(st.integers(0, 6))] for _ in range(n_users)]
    relevant = [sorted(draw(items)[: draw(st.integers(1, 5))]) for _ in range(n_users)]
    return lists, relevant


def judged(lists, relevant, catalogue=True):
    seen = sparse.csr_array(np.tile(np.arange(N_ITEMS) < 2, (len(lists), 1)).astype(np.int8))
    return judged_lists(lists, relevant, catalogue=Catalogue(N_ITEMS, seen=seen) if catalogue else None)


def walk(one, relevant):
    return [item in relevant for item in one]


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
    with pytest.raises(ConfigError, match="max_k must be a whole number >= 1"):
        precision_recall_over_k(judged_example(), 0)
