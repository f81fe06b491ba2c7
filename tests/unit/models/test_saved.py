"""Saved models: whole folders give the lists of their run again, damaged and foreign ones are refused."""

import json
import os
import shutil
from functools import cache

import numpy as np
import pyarrow.parquet as pq
import pytest

from finished import experiment_of
from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.errors import MissingDataError, ModelError
from recgauge.experiment import run_experiment
from recgauge.models import SavedModel
from recgauge.models.popularity import Popularity
from recgauge.sweeps.artifacts import write_tables


def saved(ids=("ann", "bob", "eve"), **changes):
    train = Interactions.from_ids([ids[0], ids[0], ids[1], ids[2]], ["x", "y", "x", "z"])
    model = Popularity().fit(train, rng=np.random.default_rng(0))
    settings = {
        "model": model,
        "user_ids": train.user_ids,
        "item_ids": train.item_ids,
        "candidates": CandidateItems(excluded=train.to_csr()),
    }
    return SavedModel(**(settings | changes))


def test_lists_are_of_ids_and_padded_with_none(tmp_path):
    saved().save(tmp_path)
    items, scores = SavedModel.load(tmp_path).recommend(["ann"], k=3)
    assert items.tolist() == [["z", None, None]]
    assert scores[0, 1:].tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("ids", [("ann", "bob", "eve"), (3, 1, 2), ("\u05d0", "<b>", "x y")])
def test_ids_and_titles_of_all_kinds_survive(tmp_path, ids):
    titles = np.array(["One", "Two \u2603", ""], dtype=object)
    saved(ids, titles=titles).save(tmp_path)
    again = SavedModel.load(tmp_path)
    assert sorted(again.user_ids.tolist()) == sorted(ids)
    assert again.titles.tolist() == titles.tolist()


def no_arrays(folder):
    (folder / "arrays.npz").unlink()


def cut_arrays(folder):
    content = (folder / "arrays.npz").read_bytes()
    (folder / "arrays.npz").write_bytes(content[: len(content) // 2])


def compressed(folder):
    with np.load(folder / "arrays.npz") as arrays:
        parts = dict(arrays)
    np.savez_compressed(folder / "arrays.npz", **parts)


def with_key(**changes):
    def damage(folder):
        about = json.loads((folder / "model.json").read_text())
        (folder / "model.json").write_text(json.dumps(about | changes))

    return damage


def with_array(name, change):
    def damage(folder):
        with np.load(folder / "arrays.npz") as arrays:
            parts = dict(arrays)
        np.savez(folder / "arrays.npz", **parts | {name: change(parts[name])})

    return damage


def nested_json(folder):
    (folder / "model.json").write_text("[" * 100_000)


DAMAGE = {
    "no folder": shutil.rmtree,
    "no arrays": no_arrays,
    "cut arrays": cut_arrays,
    "compressed": compressed,
    "nested json": nested_json,
    "other format": with_key(format=99),
    "part of no kind": with_key(titles={}),
    "a function": with_key(**{"class": "os.system"}),
    "a class that is no model": with_key(**{"class": "recgauge.errors.ConfigError"}),
    "a class that is not there": with_key(**{"class": "recgauge.models.svd.Nothing"}),
    "too few titles": with_array("titles.ends", lambda ends: ends[:1]),
    "fewer users than rows": with_array("user_ids", lambda ids: ids[:1]),
    "an item beyond the last": with_array("excluded.indices", lambda codes: codes + 1000),
    "rows that go back": with_array("excluded.indptr", lambda ends: ends[::-1]),
    "items in no order": with_array("items", lambda codes: codes[::-1]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused(tmp_path, damage):
    folder, whole = tmp_path / "model", saved()
    candidates = CandidateItems(whole.candidates.excluded, np.array([0, 1, 2], np.int32))
    saved(titles=np.array(["X", "Y", "Z"], dtype=object), candidates=candidates).save(folder)
    DAMAGE[damage](folder)
    with pytest.raises(ModelError, match="holds no model that can be loaded"):
        SavedModel.load(folder)


@pytest.mark.parametrize("name", ["model.json", "arrays.npz"])
def test_a_pipe_is_not_waited_for(tmp_path, name):
    saved().save(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(MissingDataError, match="is not a regular file but a pipe"):
        SavedModel.load(tmp_path)


SMALL = (
    "filters=[sample_users,item_rows]",
    "filters.item_rows.at_least=6",
    "metrics=[ranking]",
    "cutoffs=[7]",
)


@cache
def result_of(*overrides):
    return run_experiment(experiment_of(*SMALL, *overrides))


def again(result, folder):
    result.saved_model().save(folder / "model")
    return SavedModel.load(folder / "model")


def check_lists(result, saved, folder):
    write_tables(result, folder, lists=True)
    lists = pq.read_table(folder / "recommendations.parquet").to_pandas()
    users = lists["user_id"].unique()
    for asked in (users, users[::-3]):  # some of them, in another order, have the same lists
        expected = lists.set_index("user_id").loc[asked].reset_index()
        rows = saved.rows(asked, 7)
        for name in expected:
            assert rows[name].dtype == expected[name].dtype
            assert rows[name].tolist() == expected[name].tolist(), name


@pytest.mark.parametrize(
    "overrides",
    [
        ("candidates=train_items",),
        ("candidates.seen=none",),
        ("split.validation_size=0.1",),
        ("split=strong_generalisation", "model=item_knn"),
    ],
)
def test_candidates_of_the_run_are_those_of_the_model(overrides, tmp_path):
    result = result_of(*overrides)
    check_lists(result, again(result, tmp_path), tmp_path)
