"""Saved models: stored with the run and in MLflow, they recommend what the run did; MLflow serves them."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import pyarrow.parquet as pq
import pytest
from mlflow import MlflowClient

from conftest import REPOSITORY
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


def test_the_page_on_the_format_is_right(finished):
    """The example of docs/saved_models.md reads a folder without recgauge."""
    (folder,) = finished.output()
    text = (REPOSITORY / "docs" / "saved_models.md").read_text(encoding="utf-8")
    example = next(code for code in re.findall(r"```python\n(.*?)```", text, re.S) if "json.load" in code)
    code = example.replace("outputs/svd/model", "model") + "\nprint(best[:5].tolist())"
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    lists = pq.read_table(folder / "recommendations.parquet").to_pandas()
    assert json.loads(ran.stdout) == lists[lists["user_id"] == 1]["item_id"].tolist()


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


def ask(port, users, **params):
    body = {"dataframe_split": {"columns": ["user_id"], "data": [[user] for user in users]}, "params": params}
    request = Request(f"http://127.0.0.1:{port}/invocations", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["predictions"]


def wait_for(port, server):
    for _ in range(240):
        assert server.poll() is None
        try:
            return urlopen(f"http://127.0.0.1:{port}/ping", timeout=5).status
        except (URLError, OSError):
            time.sleep(0.5)
    raise AssertionError("the server did not start")


@pytest.mark.slow
def test_mlflow_serves_a_registered_model(workplace):
    workplace.succeed("model=svd", "tracking.log_model=true", *QUICK)
    (run,), (folder,) = workplace.runs(), workplace.output()
    assert [output.model_id for output in run.outputs.model_outputs]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-m", f"runs:/{run.info.run_id}/recommender", "--env-manager", "local", "-p", str(port)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    server = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "models", "serve", *words],
        cwd=workplace.folder,
        env=os.environ | {"MLFLOW_TRACKING_URI": workplace.uri, "PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(port, server)
        lists = pq.read_table(folder / "recommendations.parquet").to_pandas()
        users = lists["user_id"].unique()[:3].tolist()
        rows = ask(port, users, k=5)
        expected = lists[lists["user_id"].isin(users)]
        assert [row["item_id"] for row in rows] == expected["item_id"].tolist()
        assert [np.float32(row["score"]) for row in rows] == expected["score"].tolist()
        assert all(row["title"] for row in rows)
        assert len(ask(port, users[:1])) == 10
        with pytest.raises(HTTPError, match="400"):
            ask(port, [10**9])
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)
