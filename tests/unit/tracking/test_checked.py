"""A check of tracked runs: kept in the candidate's run, counted by the next, and the way to promote."""

import json

import pytest
from mlflow import MlflowClient

from finished import finished
from recgauge.tracking.delivering import deliver

SHOP = "models:/shop@champion"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {model: finished(folder, model, "cutoffs=[10]") for model in ("svd", "item_knn", "popularity")}


@pytest.fixture
def tracked(folders, store, tmp_path, monkeypatch):
    """Ids of runs in a store, whose registered model ``shop`` has the item_knn's as its champion."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
    client = MlflowClient(store.uri)
    ids = {}
    for model, folder in folders.items():
        (folder / "delivered.json").unlink(missing_ok=True)
        ids[model] = deliver(folder, store)
    client.create_registered_model("shop")
    version = client.create_model_version("shop", str(tmp_path / "item_knn"), ids["item_knn"])
    client.set_registered_model_alias("shop", "champion", version.version)
    client.create_model_version("shop", str(tmp_path / "svd"), ids["svd"])
    return client, ids


def champion(client):
    return client.get_model_version_by_alias("shop", "champion").run_id


def test_a_check_is_kept_in_the_run_of_the_candidate(tracked, command):
    client, ids = tracked
    code, out, _ = command("check", "--candidate", ids["svd"], "--baseline", SHOP)
    assert code == 0
    assert "Candidate 1 on these test rows" in out
    run = client.get_run(ids["svd"])
    assert run.data.tags["recgauge.check"] == "shown"
    assert {file.path for file in client.list_artifacts(ids["svd"], "check")} == {
        "check/check.json",
        "check/check.md",
    }
    for n in (2, 2):  # the same candidate again is no further one
        code, out, _ = command("check", "--candidate", ids["popularity"], "--baseline", ids["item_knn"])
        assert code == 1
        assert f"Candidate {n} on these test rows" in out
    assert client.get_run(ids["popularity"]).data.tags["recgauge.check"] == "worse"
    look = json.loads(client.get_run(ids["svd"]).data.tags["recgauge.check.look"])
    assert look["test_sha256"] == client.get_run(ids["svd"]).data.tags["recgauge.check.test_sha256"]


def test_an_alias_moves_if_all_rules_are_shown_and_never_otherwise(tracked, command, tmp_path):
    client, ids = tracked
    promote = ("--baseline", SHOP, "--promote")
    code, out, _ = command("check", "--candidate", ids["popularity"], *promote)
    assert (code, champion(client)) == (1, ids["item_knn"])
    assert f"promoted nothing: {SHOP} stays" in out
    (tmp_path / "check.yaml").write_text("better_by: {ndcg@10: 0.052}\nundecided: pass")
    code, out, _ = command("check", "--candidate", ids["svd"], *promote)
    assert (code, champion(client)) == (0, ids["item_knn"])  # passed, undecided
    assert "promoted nothing" in out
    (tmp_path / "check.yaml").unlink()
    code, out, _ = command("check", "--candidate", ids["svd"], *promote)
    assert (code, champion(client)) == (0, ids["svd"])
    moved = f"moved to version 2 (run {ids['svd']}), from version 1 (run {ids['item_knn']})"
    assert f"promoted {SHOP} {moved}" in out


def test_a_model_that_was_logged_becomes_a_version(tracked, command):
    client, ids = tracked
    client.delete_model_version("shop", "2")
    code, out, err = command("check", "--candidate", ids["svd"], "--baseline", SHOP, "--promote")
    assert (code, champion(client)) == (2, ids["item_knn"])
    assert out.startswith("Passed")
    assert "logged no model" in err
    from mlflow.entities import LoggedModelOutput

    run = client.get_run(ids["svd"])
    made = client.create_logged_model(run.info.experiment_id, "recommender", source_run_id=ids["svd"])
    client.log_outputs(ids["svd"], [LoggedModelOutput(made.model_id, step=0)])
    assert command("check", "--candidate", ids["svd"], "--baseline", SHOP, "--promote")[0] == 0
    assert champion(client) == ids["svd"]


def test_a_registry_that_is_away_leaves_the_verdict(tracked, command, monkeypatch):
    client, ids = tracked
    monkeypatch.setenv("MLFLOW_REGISTRY_URI", "http://127.0.0.1:9")
    words = ("--candidate", ids["svd"], "--baseline", ids["item_knn"], "--promote", SHOP)
    code, out, err = command("check", *words)
    assert code == 2
    assert out.startswith("Passed")
    assert SHOP in err
    assert len(err.strip().splitlines()) == 1
    code, out, err = command("check", "--candidate", ids["svd"], "--baseline", SHOP)
    assert (code, out) == (2, "")
    monkeypatch.delenv("MLFLOW_REGISTRY_URI")
    assert champion(client) == ids["item_knn"]


def test_an_untracked_candidate_is_not_promoted(tracked, folders, command, tmp_path):
    import shutil

    client, ids = tracked
    copy = shutil.copytree(folders["svd"], tmp_path / "copy")
    (copy / "delivered.json").unlink()
    code, out, err = command("check", "--candidate", str(copy), "--baseline", SHOP, "--promote")
    assert (code, champion(client)) == (2, ids["item_knn"])
    assert "is no tracked run" in err
    assert "looks    outputs/looks.jsonl" in out
