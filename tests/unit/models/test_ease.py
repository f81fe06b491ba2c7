"""EASE: the closed form, its memory, and catalogues that do not fit."""

from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import ease
from recgauge.models.ease import EASE
from recgauge.models.recommend import recommend
from recgauge.utils import resources
from recgauge.utils.progress import NoProgress
from recgauge.utils.randomness import stream


def fitted(rows, progress=None, **settings):
    return EASE(**settings).fit(rows, rng=stream(0, "fit"), progress=progress)


def in_float64(rows, l2):
    x = (rows.to_csr().toarray() > 0).astype(np.float64)
    inverse = np.linalg.inv(x.T @ x + l2 * np.eye(x.shape[1]))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return x, weights


@pytest.mark.parametrize(("l2", "error"), [(0.5, 1e-4), (500.0, 1e-6)])
def test_weights_are_those_of_the_closed_form(demo, l2, error):
    x, weights = in_float64(demo.interactions, l2)
    model = fitted(demo.interactions, l2=l2)
    np.testing.assert_allclose(model.item_weights().weights, weights, atol=error)
    users = np.array([4, 900, 17], np.int32)
    np.testing.assert_allclose(model.score(users), (x @ weights)[users], atol=10 * error)


def test_weights_do_not_depend_on_the_number_of_threads(demo, monkeypatch):
    found = []
    for n_threads in (1, 3):
        monkeypatch.setattr(resources, "usable_cpus", lambda n=n_threads: n)
        with threadpool_limits(n_threads, "blas"):
            found.append(fitted(demo.interactions).item_weights().weights)
    assert np.array_equal(*found)


def test_only_popular_items_take_part(demo, progress):
    rows = demo.interactions
    model = fitted(rows, progress, max_items=200)
    ranked = np.argsort(-rows.item_counts(), kind="stable")
    kept, others = np.sort(ranked[:200]), ranked[200:]
    assert "200 of 1,500 items take part" in progress.notes[0]
    scores = model.score(np.arange(50, dtype=np.int32))
    assert scores.shape == (50, 1500)
    assert (scores[:, kept].min(axis=1) > scores[:, others].max(axis=1)).all()
    assert np.array_equal(np.argsort(-scores[:, others], axis=1, kind="stable")[7], np.arange(1300))
    alone = rows.take(np.isin(rows.item, kept))
    np.testing.assert_allclose(scores[:, kept], fitted(alone).score(np.arange(50, dtype=np.int32))[:, kept],
                               atol=1e-6)  # fmt: skip
    assert model.item_weights() is None  # lists are made from its scores
    seen = rows.to_csr()
    lists = recommend(model, np.array([3], np.int32), 1500 - seen[[3]].nnz, excluded=seen)
    unseen = others[~np.isin(others, seen[[3]].indices)]
    assert np.array_equal(lists.items[0, -len(unseen) :], unseen)


@pytest.mark.parametrize("size", [7, 64, 100, 512])
def test_an_inverse_is_made_in_blocks(rng, size):
    rows = rng.random((900, 300), np.float32)
    gram = rows.T @ rows + 10 * np.eye(300, dtype=np.float32)
    square = np.tril(gram)
    ease.invert(square, NoProgress(), size)
    inverse = np.linalg.inv(gram.astype(np.float64))
    np.testing.assert_allclose(np.tril(-square), np.tril(inverse), atol=1e-5 * np.abs(inverse).max())


def test_a_penalty_too_small_to_invert_is_refused():
    same = Interactions.from_ids(np.repeat(np.arange(2000), 3), np.tile(np.arange(3), 2000))
    with pytest.raises(FitError, match="Raise l2"):
        fitted(same, l2=1e-9)


def test_free_memory_is_the_least_of_machine_and_container(tmp_path, monkeypatch):
    machine = SimpleNamespace(available=2_048_000)
    monkeypatch.setattr(resources.psutil, "virtual_memory", lambda: machine)
    monkeypatch.setattr(resources, "_CGROUP", tmp_path)
    assert resources.free_memory() == 2_048_000
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100\n")
    for limit, free in (("max", 2_048_000), ("1000000", 100_100)):
        (tmp_path / "memory.max").write_text(limit + "\n")
        assert resources.free_memory() == free
