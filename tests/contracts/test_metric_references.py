"""Each metric of lists shows what it means for one list in plain Python, and gives exactly that.

The docstring's section "In plain Python" holds a function of one list. Its arguments are chosen by name:

items : list, best first;  grades : {relevant item: grade};  k : the cutoff;  user : whose list it is;
train : {user: set of training items};  features : {item: vector};  n_items : size of the catalogue;
scores : {candidate: score}, for metrics of full rankings.
"""

import doctest
import inspect
import itertools
import math
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from beyond_lists import judged_lists
from recgauge.data.catalogue import Catalogue
from recgauge.data.interactions import Interactions
from recgauge.metrics import FullRankingMetric, UserMetric, metric_classes
from recgauge.metrics.curves.full_ranking import rank_one

OF_LISTS = [leaf for leaf in metric_classes() if issubclass(leaf, UserMetric)]
OF_FULL_RANKINGS = [leaf for leaf in metric_classes() if issubclass(leaf, FullRankingMetric)]


@cache
def reference(leaf):
    """Return the function in the docstring of a metric."""
    text = inspect.getdoc(leaf) or ""
    section = re.search(r"^In plain Python\n-+\n(.*?)\n\n\w[\w ]*\n---", text, re.MULTILINE | re.DOTALL)
    assert section, f"{leaf.__name__} does not show what it means for one list"
    (example,) = doctest.DocTestParser().get_examples(section[1] + "\n")
    known = {"math": math, "itertools": itertools}
    exec(example.source, known)  # our own docstring
    return next(one for one in known.values() if inspect.isfunction(one))


def called(function, world):
    return function(**{name: world[name] for name in inspect.signature(function).parameters if name in world})


@st.composite
def worlds(draw):
    """A few users with training items, relevant items and a list each, over a small catalogue."""
    n_users, n_items = draw(st.integers(1, 4)), draw(st.integers(2, 12))
    item = st.integers(0, n_items - 1)
    each = {"min_size": n_users, "max_size": n_users}
    train = draw(st.lists(st.sets(item, min_size=1, max_size=n_items - 1), **each))
    new = [st.sampled_from(sorted(set(range(n_items)) - seen)) for seen in train]  # held out: not in training
    grades = [draw(st.dictionaries(one, st.integers(1, 4), min_size=1)) for one in new]
    lists = draw(st.lists(st.lists(item, unique=True), **each))
    features = draw(
        st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=n_items, max_size=n_items)
    )
    return n_items, train, grades, lists, features


def judged(n_items, train, grades, lists, features):
    users, ids = np.arange(len(lists), dtype=np.int32), np.arange(n_items)
    rows = [(user, item) for user, items in enumerate(train) for item in sorted(items)]
    user, item = np.array(rows, np.int32).T
    log = Interactions(user, item, np.ones(len(rows), np.float32), None, users, ids)
    catalogue = Catalogue.from_train(log, sparse.csr_array(np.array(features, float)))
    return judged_lists(lists, grades, catalogue=catalogue)


def expected_values(function, world, k):
    n_items, train, grades, lists, features = world
    shared = {
        "k": k,
        "n_items": n_items,
        "train": dict(enumerate(train)),
        "features": dict(enumerate(features)),
    }
    return [
        called(function, shared | {"user": user, "items": items, "grades": own})
        for user, (items, own) in enumerate(zip(lists, grades, strict=True))
    ]


@settings(max_examples=40)
@given(world=worlds(), k=st.integers(1, 8))
def test_every_metric_of_lists_gives_what_its_docstring_shows(world, k):
    lists = judged(*world)  # once for all metrics: making worlds takes longest
    for leaf in OF_LISTS:
        found, expected = leaf().per_user(lists, k), expected_values(reference(leaf), world, k)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=leaf.__name__)


SCORED = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=10).filter(
    lambda rows: any(relevant for relevant, _ in rows)
)


@settings(max_examples=40)
@given(rows=SCORED)
def test_every_metric_of_full_rankings_gives_what_its_docstring_shows(rows):
    flags, scores = zip(*rows, strict=True)
    grades = {item: 1 for item, relevant in enumerate(flags) if relevant}
    for leaf in OF_FULL_RANKINGS:
        expected = called(reference(leaf), {"scores": dict(enumerate(scores)), "grades": grades})
        found = leaf().per_user(rank_one(flags, scores))
        np.testing.assert_allclose(found, [expected], rtol=1e-9, err_msg=leaf.__name__)


def test_another_meaning_would_be_seen():
    """Two metrics that differ never pass as each other on the worlds above: the comparison can fail."""
    world = (4, [{0, 3}], [{1: 2, 2: 1}], [[3, 1]], [[1, 0]] * 4)
    by_name = {leaf.name: leaf for leaf in OF_LISTS}
    for one, other in (("precision", "recall"), ("ndcg", "dcg"), ("map", "mrr"), ("novelty", "popularity")):
        shown = expected_values(reference(by_name[one]), world, 3)
        assert by_name[other]().per_user(judged(*world), 3) != pytest.approx(shown), (one, other)
