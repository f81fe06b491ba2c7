"""SLIM: every weight is at its optimum, whatever the Gram matrix is stored as."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import _gram, _slim_kernel, slim
from recgauge.models.slim import SLIM
from recgauge.utils import threads
from recgauge.utils.progress import NoProgress
from recgauge.utils.randomness import stream


@pytest.fixture(scope="module")
def rows(demo):
    """A part of the demo set: 300 users, 400 items."""
    every = demo.interactions
    few = every.take((every.user < 300) & (every.item < 400))
    return Interactions(few.user, few.item, few.value, None, np.arange(300), np.arange(400))


def weights_of(rows, **settings):
    return SLIM(**settings).fit(rows, rng=stream(0, "fit")).item_weights().weights.toarray()


@pytest.mark.parametrize(("l1", "l2"), [(1.0, 10.0), (3.0, 0.5), (0.0, 50.0)])
@pytest.mark.parametrize("non_negative", [True, False])
def test_no_weight_could_be_better(rows, l1, l2, non_negative):
    weights = weights_of(rows, l1=l1, l2=l2, non_negative=non_negative, tol=1e-6).astype(np.float64)
    x = (rows.to_csr().toarray() > 0).astype(np.float64)
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
def test_a_sparse_gram_matrix_gives_the_same_weights(rows, monkeypatch, non_negative):
    few = rows.take(np.arange(len(rows)) % 7 == 0)
    settings = {"l1": 0.2, "l2": 2.0, "non_negative": non_negative}
    dense = weights_of(few, **settings)
    monkeypatch.setattr(slim, "_SMALL", 0)
    assert len(slim._gram(SLIM().user_rows(few), NoProgress())[1]) > 0
    assert np.array_equal(weights_of(few, **settings), dense)


def test_threads_change_nothing(rows, monkeypatch):
    found = []
    for n_threads in (1, 3):
        monkeypatch.setattr(threads, "usable_cpus", lambda n=n_threads: n)
        found.append(weights_of(rows))
    assert np.array_equal(*found)


def test_descents_that_are_ended_are_told(rows, monkeypatch):
    class Notes(NoProgress):
        texts = ()

        def note(self, text):
            self.texts = (*self.texts, text)

    def unfinished(*arguments):
        return (*regress(*arguments)[:3], 2)

    regress, notes = _slim_kernel.regress, Notes()
    monkeypatch.setattr(_slim_kernel, "regress", unfinished)
    SLIM().fit(rows, rng=stream(0, "fit"), progress=notes)
    assert "weights of 14 of 400 items still moved by more than tol=1e-05" in notes.texts[0]


def test_memory_that_is_not_there_is_told(rows, monkeypatch):
    monkeypatch.setattr(_gram, "free_memory", lambda: 500_000)
    with pytest.raises(FitError, match="SLIM: pairs of 400 items need 640,000 bytes"):
        SLIM().fit(rows, rng=stream(0, "fit"))
