"""What MLflow's page opens on: views in the installed MLflow's format, read back from its store."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from mlflow import MlflowClient

from recgauge.app.tracking import views
from recgauge.app.tracking.page import run_start
from recgauge.app.tracking.store import MlflowTracker
from records import metric, record_with

ENVIRONMENT = {"recgauge": "0", "python": "3", "packages": {}, "git_commit": None}


@pytest.fixture
def tracker(tmp_path):
    return MlflowTracker(f"sqlite:///{tmp_path}/m.db")


def track(tracker, dataset, *results, **tags):
    names = {"dataset": dataset, "model": "svd", "split": "random"}
    start = run_start(
        f"svd · {dataset}", {"seed": 0}, names, command="python run.py", environment=ENVIRONMENT, extra=tags
    )
    sums = Path(tracker.uri.removeprefix("sqlite:///")).parent / "SHA256SUMS"
    sums.touch()
    with tracker.start(start) as log:
        log.finish(record_with(*results), [sums])
    return log.run_id


def stored_views(tracker):
    tags = MlflowClient(tracking_uri=tracker.uri).get_experiment_by_name("recgauge").tags
    return {key.removeprefix(views.TAG): tag for key, tag in tags.items() if key.startswith(views.TAG)}


def test_a_sweeps_link_opens_the_headline_metrics_by_data_set(tracker):
    assert views.is_known(version("mlflow"))
    results = [metric(name, k, 0.5) for name in ("precision", "map", "recall", "ndcg") for k in (5, 10)]
    for dataset in ("a", "b"):
        track(tracker, dataset, *results, sweep="it's")
    track(tracker, "c", metric("rmse", None, 1.0))
    address = tracker.address("sweep", "it's")
    key = address.rpartition("&viewStateShareKey=")[2]
    assert "searchFilter" not in address  # beside one, MLflow ignores the view
    (tag,) = stored_views(tracker).values()
    view = views.read(tag)
    assert key in stored_views(tracker)
    assert view["searchFilter"] == 'tags.`sweep` = "it\'s"'
    bars = [chart["metricKey"] for chart in view["compareRunCharts"] if chart["type"] == "BAR"]
    assert bars == ["ndcg_at_10", "recall_at_10", "map_at_10", "precision_at_10"]
    curves = [chart["metricKey"] for chart in view["compareRunCharts"] if chart["type"] == "LINE"]
    assert curves == ["ndcg", "recall", "map", "precision"]
    assert view["groupBy"]["groupByKeys"] == [{"mode": "param", "groupByData": "dataset"}]
    assert view["selectedColumns"][:2] == ["params.`dataset`", "params.`model`"]
    assert view["selectedColumns"][-3:] == [f"metrics.`{name}`" for name in bars[:3]]
    found = MlflowClient(tracking_uri=tracker.uri).search_runs(["1"], view["searchFilter"])
    assert len(found) == 2  # MLflow understands the search


def test_bars_of_many_runs_are_means_over_seeds_of_what_differs():
    runs = [
        {"dataset": "a", "model": model, "seed": str(seed), "split.seed": str(seed)} | more
        for model, more in (("svd", {"model.factors": "8"}), ("svd", {"model.factors": "16"}), ("ease", {}))
        for seed in range(5)
    ]
    view = views.read(views.comparison(["ndcg_at_10"], runs, ""))
    keys = [key["groupByData"] for key in view["groupBy"]["groupByKeys"]]
    assert keys == ["model", "model.factors"]
    assert view["useGroupedValuesInCharts"]
    few = views.read(views.comparison(["ndcg_at_10"], runs[:8], ""))
    assert few["groupBy"] is None  # a bar and a colour for each
    once = [run | {"seed": "0", "split.seed": "0", "model": f"m{n}"} for n, run in enumerate(runs)]
    assert not views.read(views.comparison(["ndcg_at_10"], once, ""))["useGroupedValuesInCharts"]


def test_all_runs_have_a_view_of_their_own_and_ratings_are_shown(tracker):
    track(tracker, "a", metric("rmse", None, 1.0), metric("mae", None, 0.8))
    assert tracker.address().endswith("&viewStateShareKey=recgauge")
    view = views.read(stored_views(tracker)["recgauge"])
    assert [chart["metricKey"] for chart in view["compareRunCharts"]] == ["rmse", "mae"]
    assert view["groupBy"] is None
    assert view["searchFilter"] == ""


def test_the_link_is_plain_where_mlflow_cannot_open_a_view(tracker, monkeypatch):
    plain = "/#/experiments/1/runs?compareRunsMode=CHART&workflowType=machine_learning"
    assert tracker.address().endswith(plain)  # no runs, no charts
    track(tracker, "a", metric("ndcg", 10, 0.5))
    for answer in ("3.9.0", "4.0.0", "<html>"):
        monkeypatch.setattr(views, "mlflow_version", {tracker.uri: answer}.get)
        assert tracker.address().endswith(plain)
        assert tracker.address("sweep", "x").endswith("&searchFilter=tags.%60sweep%60%20%3D%20%27x%27")

    def broken(uri):
        raise OSError("gone")

    monkeypatch.setattr(views, "mlflow_version", broken)
    assert tracker.address().endswith(plain)
    assert not stored_views(tracker)


def test_a_view_with_too_many_charts_for_a_tag_is_left_out():
    names = [f"{json.dumps(n)}{n * 7919 % 1009}metric_at_10" for n in range(2000)]
    assert views.comparison(names, [{"dataset": "a"}], "") is None
    assert views.comparison(["data/n"], [{"dataset": "a"}], "") is None


def test_a_runs_own_link_and_the_port_of_its_page(tracker):
    run_id = track(tracker, "a", metric("ndcg", 10, 0.5))
    page = f"/#/experiments/1/runs/{run_id}?workflowType=machine_learning"
    assert tracker.run_address(run_id) == f"http://127.0.0.1:5000{page}"
    tracker.serve_at(5001)
    assert tracker.run_address(run_id) == f"http://127.0.0.1:5001{page}"


def test_runs_of_one_model_share_a_colour_on_all_data_sets():
    def colour(name, dataset):
        names = {"dataset": dataset, "model": "svd"}
        start = run_start(name, {"seed": 0}, names, command="x", environment=ENVIRONMENT, extra={})
        return start.tags["mlflow.runColor"]

    assert colour("svd · a", "a") == colour("svd · b · seed 1", "b") == colour("svd · b · fold 2", "b")
    assert colour("svd · a", "a") != colour("svd · a · n_factors 8", "a") != colour("popularity · a", "a")
