"""One job: what is printed, stored and can be recomputed."""

import json
import math
from collections import defaultdict

import pyarrow.parquet as pq
import pytest
from mlflow import MlflowClient

from recgauge.sweeps.places import conf_folder

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def finished(shared_workplace):
    done = shared_workplace.succeed("model=svd", "metrics=ranking")
    return shared_workplace, done


def test_the_run_is_printed_described_and_stored(finished):
    workplace, done = finished
    for word in ("ndcg", "@10", "±", "of 1,000 users", "dropped", "seconds", "workflowType=machine_learning"):
        assert word in done.out
    (run,) = workplace.runs()
    params = run.data.params
    chosen = {"dataset": "demo", "split": "random", "candidates": "all", "model": "svd", "seed": "0"}
    chosen |= {"conventions": "standard", "model.n_factors": "16"}
    assert {name: params[name] for name in chosen} == chosen
    assert run.data.tags["recgauge.dataset_sha256"]
    assert run.data.tags["definition.ndcg"] == "nDCG(gain=linear, discount=log2, ideal=at_k)@k"
    names = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")
    assert {f"{name}_at_{k}" for name in names for k in (1, 5, 10, 20)} <= set(run.data.metrics)
    assert len(run.data.metrics) <= 45
    assert "fit 0." in run.data.tags["recgauge.seconds"]
    client, ks = MlflowClient(tracking_uri=workplace.uri), [1, 5, 10, 20]
    assert [point.step for point in client.get_metric_history(run.info.run_id, "by_cutoff/ndcg")] == ks
    assert "ndcg" not in run.data.metrics  # a value without a cutoff
    assert (run.data.metrics["users_evaluated"], run.data.metrics["test_rows_dropped"]) == (937, 403)
    files = {entry.path for entry in client.list_artifacts(run.info.run_id)}
    tables = {f"{name}.parquet" for name in ("per_user", "recommendations", "test")}
    assert {"config.yaml", "record.json", "environment.json"} | tables <= files


def test_every_number_can_be_recomputed_from_the_tables(finished):
    workplace, _ = finished
    (folder,) = workplace.output()
    values = {e["key"]: e["value"] for e in json.loads((folder / "record.json").read_text())["results"]}
    relevant, lists = defaultdict(dict), defaultdict(dict)
    for row in pq.read_table(folder / "test.parquet").to_pylist():
        if row["rating"] >= 4:
            relevant[row["user_id"]][row["item_id"]] = row["rating"]
    for row in pq.read_table(folder / "recommendations.parquet").to_pylist():
        lists[row["user_id"]][row["rank"]] = row["item_id"]
    ndcg, average_precision, recall = [], [], []
    for user, gains in relevant.items():
        top = [lists[user][rank] for rank in range(1, 11)]
        found = [gains.get(item, 0) for item in top]
        ideal = sorted(gains.values(), reverse=True)[:10]
        ndcg.append(dcg(found) / dcg(ideal))
        hits = [rank for rank, gain in enumerate(found, 1) if gain]
        average_precision.append(sum(n / rank for n, rank in enumerate(hits, 1)) / len(gains))
        recall.append(len(hits) / len(gains))
    for key, per_user in (("ndcg", ndcg), ("map", average_precision), ("recall", recall)):
        assert values[f"{key}_at_10"] == pytest.approx(sum(per_user) / len(per_user), abs=1e-9)


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def numbers(run):
    return {key: value for key, value in run.data.metrics.items() if "/" not in key}


def test_same_command_same_numbers_other_block_same_lists_other_model_same_split(finished):
    workplace, _ = finished
    for arguments in (["model=svd"], ["engine.memory_mib=1"], ["model=popularity"]):
        workplace.succeed(*arguments)
    first, again, blocks, other = workplace.runs()
    assert numbers(first) == numbers(again) == numbers(blocks)
    assert numbers(first) != numbers(other)
    tables = [folder / "test.parquet" for folder in workplace.output()]
    assert all(pq.read_table(tables[0]).equals(pq.read_table(path)) for path in tables[1:])
    lists = [pq.read_table(folder / "recommendations.parquet") for folder in workplace.output()]
    assert lists[0].equals(lists[1])
    assert lists[0].equals(lists[2])
    assert not lists[0].equals(lists[3])


def test_help_lists_models_and_splits(workplace):
    done = workplace.run("--help")
    assert done.code == 0
    options = [file.stem for group in ("model", "split") for file in (conf_folder() / group).glob("*.yaml")]
    assert options
    assert all(f"\n  {option} " in done.out for option in options)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "run.py" not in done.out  # which is not in this folder
