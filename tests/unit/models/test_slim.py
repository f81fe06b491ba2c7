"""SLIM: every weight is at its optimum, whatever the Gram matrix is stored as."""

import numpy as np
import pytest

from recgauge.models import slim
from recgauge.models.slim import SLIM
from recgauge.utils.progress import NoProgress
from recgauge.utils.randomness import stream


def weights_of(rows, **settings):
    return SLIM(**settings).fit(rows, rng=stream(0, "fit")).item_weights().weights.toarray()


@pytest.mark.parametrize(("l1", "l2"), [(1.0, 10.0), (3.0, 0.5), (0.0, 50.0)])
@pytest.mark.parametrize("non_negative", [True, False])
def test_no_weight_could_be_better(part, l1, l2, non_negative):
    weights = weights_of(part, l1=l1, l2=l2, non_negative=non_negative, tol=1e-6).astype(np.float64)
    x = (part.to_csr().toarray() > 0).astype(np.float64)
    gram = x.T @ x
    slope = gram @ weights - gram + l2 * weights  # of the smooth part
    np.fill_diagonal(slope, 0)
    slack = 2e-6 * (np.diag(gram)[:, None] + l2)
    away = weights != 0
    assert away.any()
    assert not np.diag(weights).any()
    assert (np.abs(slope + l1 * np.sign(weights)) <= slack)[away].all()
    at_zero = -slope if non_negative else np.abs(slope)
    assert (at_zero <= l1 + slack)[~away].all()
    assert (weights >= 0).all() == non_negative


@pytest.mark.parametrize("non_negative", [True, False])
def test_a_sparse_gram_matrix_gives_the_same_weights(part, monkeypatch, non_negative):
    few = part.take(np.arange(len(part)) % 7 == 0)
    settings = {"l1": 0.2, "l2": 2.0, "non_negative": non_negative}
    dense = weights_of(few, **settings)
    monkeypatch.setattr(slim, "_SMALL", 0)
    assert len(slim._gram(SLIM().user_rows(few), NoProgress())[1]) > 0
    assert np.array_equal(weights_of(few, **settings), dense)


def test_descents_that_are_ended_are_told(part, progress, monkeypatch):
    def unfinished(*arguments):
        return (*regress(*arguments)[:3], 2)

    regress = slim.regress
    monkeypatch.setattr(slim, "regress", unfinished)
    SLIM().fit(part, rng=stream(0, "fit"), progress=progress)
    assert "weights of 14 of 400 items still moved by more than tol=1e-05" in progress.notes[0]


def test_the_largest_weights_of_each_item_are_kept(part):
    every = weights_of(part, l1=0.0, l2=50.0)
    few = weights_of(part, l1=0.0, l2=50.0, top_k=5)
    assert (few[few != 0] == every[few != 0]).all()
    n_weights = (every > 0).sum(axis=0)
    assert ((few > 0).sum(axis=0) == np.minimum(n_weights, 5)).all()
    assert (np.where(few > 0, few, np.inf).min(axis=0) >= np.where(few > 0, 0, every).max(axis=0)).all()


def test_each_item_can_lose_its_smallest_weight(part):
    every, fewer = (weights_of(part, l1=0.0, l2=50.0, drop_smallest=drop) for drop in (False, True))
    lost = every - fewer
    has = (every > 0).any(axis=0)
    assert ((lost > 0).sum(axis=0) == has).all()
    assert (lost.max(axis=0) == np.where(every > 0, every, np.inf).min(axis=0))[has].all()
