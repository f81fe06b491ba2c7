"""The real RecBole, LensKit and RecTools, which uv installs.

The first time takes minutes and up to 12 GB: ``make isolated`` runs these tests, no other target does.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY
from recgauge.datasets.demo import Demo
from recgauge.errors import MissingLibraryError
from recgauge.isolated.process import WORKERS, find_uv
from recgauge.models.isolated import LensKit, RecBole, RecTools
from recgauge.models.recommend import recommend
from recgauge.splits.shares import RandomRows

pytestmark = [pytest.mark.slow, pytest.mark.isolated]

K, SEED = 10, 5
SMALL = {"epochs": 3, "embedding_size": 16, "train_batch_size": 512, "learning_rate": 0.01}
CASES = {
    "recbole-BPR": (RecBole, "BPR", SMALL, SMALL),
    "recbole-LightGCN": (RecBole, "LightGCN", SMALL, SMALL),
    "recbole-EASE": (RecBole, "EASE", {"reg_weight": 50.0}, {"reg_weight": 50.0}),
    "lenskit-ItemKNN": (LensKit, "ItemKNN", {"max_nbrs": 30}, {"max_nbrs": 30, "feedback": "implicit"}),
    "rectools-PureSVD": (RecTools, "PureSVD", {"factors": 16}, {"factors": 16}),
}


@pytest.fixture(scope="session")
def split():
    return RandomRows(test_size=0.2).split(Demo().load().interactions, rng=np.random.default_rng(0))


@contextmanager
def installing():
    """Skip where a library cannot be installed."""
    try:
        yield
    except MissingLibraryError as error:
        (pytest.fail if os.environ.get("RECGAUGE_REQUIRE_PEERS") else pytest.skip)(str(error))


def fitted(model, train, seed=SEED):
    """Fit a model, which installs its library."""
    with installing():
        return model.fit(train, rng=np.random.default_rng(seed))


def save(rows, path):
    times = np.zeros(len(rows), np.int64) if rows.timestamp is None else rows.timestamp
    np.savez(path, user=rows.user, item=rows.item, value=rows.value, timestamp=times)


def called_directly(library, train, users, job, folder):
    save(train, folder / "rows.npz")
    np.save(folder / "users.npy", users)
    (folder / "job.json").write_text(json.dumps(job))
    script = Path(__file__).with_name("called_directly.py")
    worker = WORKERS / f"train_{library}.py"
    find = [find_uv(), "python", "find", "--script", worker]
    python = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    command = [python, "-I", script, library, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return np.load(folder / "lists.npy")


@pytest.mark.parametrize("case", CASES)
def test_lists_are_those_of_the_library_called_directly(case, split, tmp_path):
    kind, name, settings, theirs = CASES[case]
    train = split.train
    users = np.unique(train.user).astype(np.int32)
    model = fitted(kind(name, settings), train)
    lists = recommend(model, users, K, excluded=train.to_csr())
    job = {
        "name": name,
        "settings": theirs,
        "k": K,
        "seed": int(np.random.default_rng(SEED).integers(2**31 - 1)),
    }
    direct = called_directly(kind.library.lower(), train, users, job, tmp_path)
    assert_same_lists(lists, direct)
    again = fitted(kind(name, settings), train)
    assert np.array_equal(recommend(again, users, K, excluded=train.to_csr()).items, lists.items)


TRANSFORMERS = {
    "SASRec": {"loss": "softmax"},
    "SASRec-gBCE": {"loss": "gBCE", "n_negatives": 8},
    "BERT4Rec": {"loss": "softmax"},
}


@pytest.mark.parametrize("case", TRANSFORMERS)
def test_a_transformer_is_the_librarys_own_whatever_is_looked_at_between_its_epochs(case, tmp_path):
    rows = Demo().load().interactions
    rows = rows.take(np.argsort(rows.timestamp, kind="stable"))
    train, grown = rows.take(np.arange(50_000)), rows.take(np.arange(55_000))
    name = case.partition("-")[0]
    settings = {"epochs": 3, "n_factors": 16, "n_heads": 2, "session_max_len": 20, **TRANSFORMERS[case]}
    users, seen = np.arange(rows.n_users, dtype=np.int32), grown.to_csr()
    model = RecTools(name, settings)
    with installing():
        for epoch, loss in enumerate(model.epochs(train, rng=np.random.default_rng(SEED))):
            look = recommend(model.with_histories(grown), users, K, excluded=seen)
            if epoch == 0:
                kept, first_look, first_loss = deepcopy(model), look, loss
    assert first_loss > loss
    lists = recommend(model.with_histories(grown), users, K, excluded=seen)
    save(grown, tmp_path / "history.npz")
    seed = int(np.random.default_rng(SEED).integers(2**31 - 1))
    job = {"name": name, "settings": settings, "k": K, "seed": seed}
    direct = called_directly("rectools", train, users, job, tmp_path)
    assert_same_lists(lists, direct)
    given = np.where(lists.items < 0, np.nan, lists.scores)
    np.testing.assert_allclose(given, np.load(tmp_path / "scores.npy"), rtol=0, atol=1e-6)
    first = recommend(kept.with_histories(grown), users, K, excluded=seen)
    assert np.array_equal(first.items, first_look.items)
    assert not np.array_equal(first.items, lists.items)


def assert_same_lists(lists, direct):
    """Compare item by item; only items whose scores are equal, to rounding, may be in another order."""
    for ours, scores, theirs in zip(lists.items, lists.scores, direct, strict=True):
        different = np.flatnonzero(ours != theirs)
        close = np.isclose(scores[different, None], scores[None, :], rtol=1e-6, atol=0).sum(axis=1) > 1
        last = np.isclose(scores[different], scores[-1], rtol=1e-6, atol=0)  # what ties beyond the list
        assert (close | last).all(), (ours, theirs, scores)
    assert (lists.items == direct).mean() > 0.99


def test_a_run_records_the_exact_versions(tmp_path, monkeypatch, split):
    fitted(LensKit(), split.train)
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, REPOSITORY / "run.py", "-m", "model=popularity,lenskit", "metrics=[ndcg]"]
    done = subprocess.run([*command, "cutoffs=[10]"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = [json.loads(path.read_text()) for path in Path("outputs").rglob("record.json")]
    own = {record["names"]["model"]: record["environment"].get("model_environment") for record in records}
    assert own["popularity"] is None
    assert own["lenskit"]["lenskit"] == "2026.4.0"
    assert set(own["lenskit"]) == {"lenskit", "torch", "numpy", "python"}
    seconds = {record["names"]["model"]: record["seconds"] for record in records}
    assert seconds["lenskit"]["exchange"] > 0
