"""Next items as a user runs them: queries averaged by user, compared, verified, recorded, tuned, saved."""

import json

import pandas as pd
import pytest

from recgauge.cli.commands.cli import main

pytestmark = pytest.mark.e2e
SPLIT = ("split=next_item", "cutoffs=[10]", "tracking=off", "metrics=[next_item]")
EACH = (*SPLIT, "split.target=successive")


@pytest.fixture(scope="module")
def finished(shared_workplace):
    for model in ("popularity", "item_knn"):
        done = shared_workplace.run(*EACH, f"model={model}", f"hydra.run.dir={model}")
        assert done.code == 0, done.err
    return shared_workplace


def record_of(folder):
    return json.loads((folder / "record.json").read_text())


def values_of(folder):
    return {entry["key"]: entry["value"] for entry in record_of(folder)["results"]}


def test_numbers_are_means_over_queries_and_users_own_values_of_theirs(finished):
    folder = finished.folder / "item_knn"
    lists, test = (pd.read_parquet(folder / f"{name}.parquet") for name in ("recommendations", "test"))
    relevant = test[test.rating >= record_of(folder)["dataset"]["relevant_from"]]
    hits = relevant.merge(lists, on=["user_id", "item_id"])
    assert values_of(folder)["hit_rate_at_10"] == pytest.approx(len(hits) / len(relevant))
    assert values_of(folder)["mrr_at_10"] == pytest.approx((1 / hits["rank"]).sum() / len(relevant))
    stored = pd.read_parquet(folder / "per_user.parquet").set_index("user_id")
    user = relevant.user_id.str.rpartition("#")[0].astype(int)
    assert stored.queries.to_dict() == user.value_counts().to_dict()
    hit = relevant.user_id.isin(hits.user_id).groupby(user).mean()
    assert stored.hit_rate_at_10.to_dict() == pytest.approx(hit.to_dict())


def test_runs_are_compared_by_users_and_judged_again(finished, monkeypatch, capsys):
    monkeypatch.chdir(finished.folder)
    assert main(["compare", "popularity", "item_knn", "--metrics", "ndcg@10"]) == 0
    shown = capsys.readouterr().out
    assert "132 of 137 users" in shown
    assert f"{values_of(finished.folder / 'item_knn')['ndcg_at_10']:.4f}*" in shown
    assert "ndcg@10 over all queries" in shown
    assert main(["verify", "item_knn"]) == 0


def test_lists_of_queries_from_a_file_have_the_numbers_of_their_model(finished):
    words = ("model=recorded", "model.path=item_knn/recommendations.parquet", "hydra.run.dir=recorded")
    done = finished.run(*EACH, *words)
    assert done.code == 0, done.err
    assert values_of(finished.folder / "recorded") == values_of(finished.folder / "item_knn")


def test_a_saved_model_answers_for_users_and_for_histories_that_are_new(finished, monkeypatch, capsys):
    monkeypatch.chdir(finished.folder)
    done = finished.run(
        *SPLIT, "dataset.relevant_from=0.5", "model=item_knn", "save_model=true", "hydra.run.dir=saved"
    )
    assert done.code == 0, done.err
    lists = pd.read_parquet("saved/recommendations.parquet")
    users = ",".join(map(str, lists.user_id.unique()))
    assert main(["recommend", "saved", "--users", users, "--out", "again.csv"]) == 0
    again = pd.read_csv("again.csv")[["user_id", "item_id", "rank"]]
    assert again.values.tolist() == lists[["user_id", "item_id", "rank"]].values.tolist()
    item = lists.item_id.iloc[0]
    (finished.folder / "new.csv").write_text(f"user,item\nsomebody,{item}\nsomebody,none\n")
    words = ["--users", "all", "--histories", "new.csv", "--out", "new_lists.csv"]
    capsys.readouterr()
    assert main(["recommend", "saved", *words]) == 0
    assert "1 of 2 rows are of items that the model does not know" in capsys.readouterr().err
    made = pd.read_csv("new_lists.csv")
    assert set(made.user_id) == {"somebody"}
    assert item not in set(made.item_id)
    other = finished.run(
        *SPLIT, "dataset.relevant_from=0.5", "model=svd", "save_model=true", "hydra.run.dir=factors"
    )
    assert other.code == 0, other.err
    assert main(["recommend", "factors", *words]) != 0
    assert "takes no histories" in capsys.readouterr().err
