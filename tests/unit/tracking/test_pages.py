"""What MLflow's page opens on: few metrics, the headline first, models told apart by their colours."""

import base64
import json
import zlib

import mlflow
import pytest
from mlflow import MlflowClient

from recgauge.tracking.delivering import deliver
from recgauge.tracking.pages import address
from recgauge.tracking.view import KNOWN, VIEW_TAG
from unit.tracking.conftest import complete


def read(tag):
    return json.loads(zlib.decompress(base64.b64decode(tag.removeprefix("deflate;"))))


@pytest.mark.skipif(
    tuple(map(int, mlflow.__version__.split(".")[:2])) < KNOWN[0], reason="this MLflow saves views otherwise"
)
@pytest.mark.parametrize("dataset", ["", "d"])  # of all data sets, or of one
def test_a_sweeps_link_opens_its_runs_with_the_headline_first(tmp_path, store, dataset):
    for seed in (0, 1):
        deliver(complete(tmp_path / str(seed), store, seed=seed), store)
    page = address(store, "recgauge.sweep", "outputs/sweep", dataset)
    assert "searchFilter" not in page  # beside one, MLflow ignores the view
    client = MlflowClient(tracking_uri=store.uri)
    tags = client.get_experiment_by_name("recgauge").tags
    state = read(tags[VIEW_TAG + page.rpartition("&viewStateShareKey=")[2]])
    bars = [chart["metricKey"] for chart in state["compareRunCharts"] if chart["type"] == "BAR"]
    curves = [chart["metricKey"] for chart in state["compareRunCharts"] if chart["type"] == "LINE"]
    assert (bars, curves) == (["ndcg_at_10", "recall_at_10"], ["by_cutoff/ndcg", "by_cutoff/recall"])
    assert state["selectedColumns"][-2:] == ["metrics.`ndcg_at_10`", "metrics.`recall_at_10`"]
    experiment = client.get_experiment_by_name("recgauge").experiment_id
    assert len(client.search_runs([experiment], state["searchFilter"])) == 2  # MLflow understands the search
    assert read(tags[f"{VIEW_TAG}recgauge"]) == state  # a page that `recgauge ui` has printed follows
