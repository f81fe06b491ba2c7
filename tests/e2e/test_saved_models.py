"""Saved models: stored with the run and in MLflow, they recommend what the run did; MLflow loads them."""

from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from recgauge.cli.commands.cli import main

pytestmark = pytest.mark.e2e
QUICK = ("metrics=[ndcg]", "cutoffs=[5]")


@pytest.fixture(scope="module")
def finished(shared_workplace):
    shared_workplace.succeed("model=svd", "save_model=true", *QUICK)
    return shared_workplace


def test_the_model_is_stored_with_the_run_and_in_mlflow(finished):
    (folder,), (run,) = finished.output(), finished.runs()
    sums = (folder / "SHA256SUMS").read_text()
    client = MlflowClient(tracking_uri=finished.uri)
    stored = {entry.path for entry in client.list_artifacts(run.info.run_id, "model")}
    assert stored == {"model/model.json", "model/arrays.npz"}
    for name in stored:
        assert f"  {name}\n" in sums
        copy = Path(client.download_artifacts(run.info.run_id, name))
        assert copy.read_bytes() == (folder / name).read_bytes()


def test_it_recommends_what_the_run_did(finished, monkeypatch):
    monkeypatch.chdir(finished.folder)
    (folder,), (run,) = finished.output(), finished.runs()
    lists = pq.read_table(folder / "recommendations.parquet").to_pandas()
    users = ",".join(map(str, lists["user_id"].unique()))
    words = ["--users", users, "--k", "5", "--out", "again.parquet", "--uri", finished.uri]
    assert main(["recommend", run.info.run_id, *words]) == 0
    again = pq.read_table("again.parquet").to_pandas()
    assert again["title"].map(bool).all()
    assert again.drop(columns="title")[list(lists)].equals(lists)


ODD = """from dataclasses import dataclass
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Odd(Popularity):
    def fit(self, train, *, rng):
        self._open = open
        return super().fit(train, rng=rng)
"""


def test_a_model_that_cannot_be_stored_costs_no_result(workplace):
    (workplace.folder / "odd_models.py").write_text(ODD)
    model = ("model=popularity", "model._target_=odd_models.Odd", "allowed_targets=[odd_models]")
    done = workplace.fail(
        "-m", "seed=1,2", *model, "save_model=true", *QUICK, PYTHONPATH=str(workplace.folder)
    )
    assert "its model is not saved: the model cannot be saved: _open is a builtin" in done.err
    assert [run.info.status for run in workplace.runs()] == ["FINISHED"] * 2
    assert all("ndcg_at_5" in run.data.metrics for run in workplace.runs())
    assert "2 not saved" in done.out


@pytest.mark.slow
def test_mlflow_loads_the_model_that_it_would_serve(workplace, request):
    workplace.succeed("model=svd", "tracking.log_model=true", *QUICK)
    (run,), (folder,) = workplace.runs(), workplace.output()
    assert [output.model_id for output in run.outputs.model_outputs]
    mlflow.set_tracking_uri(workplace.uri)
    request.addfinalizer(lambda: mlflow.set_tracking_uri(None))
    model = mlflow.pyfunc.load_model(f"runs:/{run.info.run_id}/recommender")
    lists = pq.read_table(folder / "recommendations.parquet").to_pandas()
    users = pd.DataFrame({"user_id": lists["user_id"].unique()[:3]})
    rows = pd.DataFrame(model.predict(users, params={"k": 5}))
    expected = lists[lists["user_id"].isin(users["user_id"])]
    assert rows["item_id"].tolist() == expected["item_id"].tolist()
    assert rows["score"].astype(np.float32).tolist() == expected["score"].tolist()
    assert rows["title"].map(bool).all()
    assert len(model.predict(users[:1])) == 10
    with pytest.raises(MlflowException, match="1000000000"):
        model.predict(pd.DataFrame({"user_id": [10**9]}))
