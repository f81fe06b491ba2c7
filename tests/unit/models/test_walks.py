"""P3alpha and RP3beta: the weights of their formulas, neighbours, users folded in."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, FitError
from recgauge.models import _gram
from recgauge.models.p3alpha import P3alpha
from recgauge.models.recommend import recommend
from recgauge.models.rp3beta import RP3beta
from recgauge.utils import threads
from recgauge.utils.randomness import stream

KINDS = pytest.mark.parametrize("kind", [P3alpha, RP3beta])


def weights_of(model, rows):
    return model.fit(rows, rng=stream(0, "fit")).item_weights().weights.toarray()


def by_formula(rows, alpha=1.0, beta=0.0):
    x = (rows.to_csr().toarray() > 0).astype(np.float64)
    of_user, of_item = np.maximum(x.sum(axis=1), 1), np.maximum(x.sum(axis=0), 1)
    weights = ((x / of_item).T ** alpha) @ ((x / of_user[:, None]) ** alpha) / of_item**beta
    np.fill_diagonal(weights, 0)
    return weights


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.4, 0.0), (1.0, 0.6), (1.7, 1.0)])
def test_weights_are_those_of_the_formula(demo, alpha, beta):
    expected = by_formula(demo.interactions, alpha, beta)
    found = weights_of(RP3beta(alpha, beta, top_k=None), demo.interactions)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    if beta == 0.0:
        assert np.array_equal(found, weights_of(P3alpha(alpha, top_k=None), demo.interactions))


@pytest.mark.parametrize("k", [1, 7, 2000])
def test_the_largest_weights_of_an_item_are_kept(demo, k):
    every = weights_of(RP3beta(top_k=None), demo.interactions)
    order = np.argsort(-every, axis=0, kind="stable")
    kept = np.zeros_like(every)
    np.put_along_axis(kept, order[:k], np.take_along_axis(every, order[:k], axis=0), axis=0)
    assert np.array_equal(weights_of(RP3beta(top_k=k), demo.interactions), kept)


@pytest.mark.parametrize("first_cut", ["plain", "normalized"])
@pytest.mark.parametrize("k", [3, 40, None])
def test_weights_are_cut_by_rows_and_then_by_columns(demo, first_cut, k):
    weights = weights_of(RP3beta(0.6, 0.4, top_k=None), demo.interactions)
    kept = weights * (np.argsort(np.argsort(-weights, axis=1, kind="stable"), axis=1) < (k or len(weights)))
    if first_cut == "normalized":
        kept = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-30)
    kept = kept * (np.argsort(np.argsort(-kept, axis=0, kind="stable"), axis=0) < (k or len(weights)))
    found = weights_of(RP3beta(0.6, 0.4, top_k=k, first_cut=first_cut), demo.interactions)
    np.testing.assert_allclose(found, kept, rtol=1e-6, atol=1e-12)


@KINDS
def test_threads_change_nothing(kind, demo, monkeypatch):
    found = []
    for n_threads in (1, 3):
        monkeypatch.setattr(threads, "usable_cpus", lambda n=n_threads: n)
        found.append(weights_of(kind(top_k=20), demo.interactions))
    assert np.array_equal(*found)


@KINDS
def test_the_withheld_item_comes_first(kind, checkerboard):
    train, withheld = checkerboard
    model = kind().fit(train, rng=stream(0, "fit"))
    lists = recommend(model, np.arange(40, dtype=np.int32), 1, excluded=train.to_csr())
    assert np.array_equal(lists.items[:, 0], withheld)


@KINDS
def test_users_are_folded_in(kind, demo):
    rows = demo.interactions
    wide = Interactions(rows.user, rows.item, rows.value, None, np.arange(1001), rows.item_ids)
    model = kind().fit(wide, rng=stream(0, "fit"))
    mine = wide.take(wide.user == 4)
    new = Interactions(np.full(len(mine), 1000), mine.item, mine.value, None, wide.user_ids, wide.item_ids)
    scores = model.fold_in(new).score(np.array([4, 1000], np.int32))
    assert np.array_equal(scores[0], scores[1])


@KINDS
def test_memory_that_is_not_there_is_told(kind, demo, monkeypatch):
    monkeypatch.setattr(_gram, "free_memory", lambda: 1_000_000)
    with pytest.raises(
        FitError, match=rf"{kind.__name__}: weights of 1,500 items need 3,600,000 bytes.*top_k"
    ):
        kind().fit(demo.interactions, rng=stream(0, "fit"))
    kind(top_k=10).fit(demo.interactions, rng=stream(0, "fit"))


@KINDS
@pytest.mark.parametrize(
    "settings", [{"alpha": -1}, {"top_k": 0}, {"top_k": "x"}, {"alpha": None}, {"first_cut": "rows"}]
)
def test_wrong_settings_are_refused(kind, settings):
    with pytest.raises(ConfigError, match=f"{kind.__name__}: "):
        kind(**settings)
    with pytest.raises(ConfigError, match="RP3beta: beta"):
        RP3beta(beta=-0.1)
