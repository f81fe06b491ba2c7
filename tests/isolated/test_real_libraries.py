"""The real RecBole, LensKit and RecTools, in environments that the normal command makes.

The first time takes some minutes and 4 GB: ``make isolated`` runs these tests, no other target does.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY
from recgauge.candidates import CandidateItems
from recgauge.cli.commands import cli
from recgauge.datasets.demo import Demo
from recgauge.errors import MissingDataError
from recgauge.isolated import find_environment, make_environment
from recgauge.models.isolated import LensKit, RecBole, RecTools
from recgauge.models.item_knn import ItemKNN
from recgauge.models.recommend import recommend
from recgauge.models.svd import SVD
from recgauge.splits.shares import RandomRows
from recgauge.utils.progress import NoProgress

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


def made(library):
    """Make the environment, or use the one that is there; skip where it cannot be installed."""
    try:
        make_environment(library, NoProgress())
    except MissingDataError as error:
        (pytest.fail if os.environ.get("RECGAUGE_REQUIRE_PEERS") else pytest.skip)(str(error))


def called_directly(library, train, users, job, folder):
    np.savez(
        folder / "rows.npz",
        user=train.user,
        item=train.item,
        value=train.value,
        timestamp=np.zeros(len(train), np.int64) if train.timestamp is None else train.timestamp,
    )
    np.save(folder / "users.npy", users)
    (folder / "job.json").write_text(json.dumps(job))
    script = Path(__file__).with_name("called_directly.py")
    command = [find_environment(library).interpreter, "-I", script, library, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return np.load(folder / "lists.npy")


@pytest.mark.parametrize("case", CASES)
def test_lists_are_those_of_the_library_called_directly(case, split, tmp_path):
    kind, name, settings, theirs = CASES[case]
    made(kind.library)
    train = split.train
    users = np.unique(train.user).astype(np.int32)
    model = kind(name, settings).fit(train, rng=np.random.default_rng(SEED))
    lists = recommend(model, users, K, excluded=train.to_csr())
    job = {
        "name": name,
        "settings": theirs,
        "k": K,
        "seed": int(np.random.default_rng(SEED).integers(2**31 - 1)),
    }
    direct = called_directly(kind.library, train, users, job, tmp_path)
    assert_same_lists(lists, direct)
    again = kind(name, settings).fit(train, rng=np.random.default_rng(SEED))
    assert np.array_equal(recommend(again, users, K, excluded=train.to_csr()).items, lists.items)


def assert_same_lists(lists, direct):
    """Compare item by item; only items whose scores are equal, to rounding, may be in another order."""
    for ours, scores, theirs in zip(lists.items, lists.scores, direct, strict=True):
        different = np.flatnonzero(ours != theirs)
        close = np.isclose(scores[different, None], scores[None, :], rtol=1e-6, atol=0).sum(axis=1) > 1
        last = np.isclose(scores[different], scores[-1], rtol=1e-6, atol=0)  # what ties beyond the list
        assert (close | last).all(), (ours, theirs, scores)
    assert (lists.items == direct).mean() > 0.99


@pytest.mark.parametrize(
    ("theirs", "ours", "least"),
    [
        (LensKit(settings={"max_nbrs": 1500, "min_sim": 1e-6}), ItemKNN(k=1500), 0.99),
        (RecTools(settings={"factors": 16}), SVD(n_factors=16), 0.99),
    ],
    ids=["item_knn", "svd"],
)
def test_a_model_that_recgauge_has_too_gives_nearly_the_same_lists(theirs, ours, least, split):
    made(theirs.library)
    users, seen = np.unique(split.train.user).astype(np.int32), CandidateItems(excluded=split.train.to_csr())
    found = [
        recommend(model.fit(split.train, rng=np.random.default_rng(0)), users, K, candidates=seen).items
        for model in (theirs, ours)
    ]
    shared = [len(set(one) & set(other)) / K for one, other in zip(*found, strict=True)]
    assert np.mean(shared) > least


def test_the_commands_of_the_page_work(tmp_path, monkeypatch, capsys):
    for library in ("recbole", "lenskit"):
        made(library)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["env", "list"]) == 0
    assert "recbole 1.2.1, torch" in capsys.readouterr().out
    for words in (["-m", "model=popularity,lenskit"], ["model=recbole", "+model.settings.epochs=2"]):
        command = [sys.executable, REPOSITORY / "run.py", *words, "metrics=[ndcg]", "cutoffs=[10]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    records = [json.loads(path.read_text()) for path in Path("outputs").rglob("record.json")]
    own = {one["names"]["model"]: one["environment"].get("model_environment") for one in records}
    assert own["popularity"] is None
    assert own["recbole"]["recbole"] == "1.2.1"
    assert set(own["lenskit"]) == {"lenskit", "torch", "numpy", "python"}
    assert all(one["seconds"]["exchange"] > 0 for one in records if one["names"]["model"] != "popularity")
