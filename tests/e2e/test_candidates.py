"""One model under three candidate rules, side by side: numbers that cannot be compared say so everywhere."""

import json
from pathlib import Path

import pytest
from mlflow import MlflowClient

pytestmark = pytest.mark.e2e


def test_all_sampled_and_test_items_side_by_side(workplace):
    done = workplace.succeed("-m", "candidates=all,sampled,test_items", "cutoffs=[10]", "sanity=true")
    runs = {run.data.params["candidates"]: run for run in workplace.runs()}
    assert set(runs) == {"all", "sampled", "test_items"}
    assert len({run.data.tags["recgauge.dataset_sha256"] for run in runs.values()}) == 1
    full, sampled, own = (runs[name].data.metrics["ndcg_at_10"] for name in ("all", "sampled", "test_items"))
    assert full < sampled < own
    assert "recgauge.incomparable" not in runs["all"].data.tags
    assert "100 negatives" in runs["sampled"].data.tags["recgauge.incomparable"]
    assert "own test items" in runs["test_items"].data.tags["recgauge.incomparable"]
    assert "few_candidates" in runs["test_items"].data.tags["recgauge.guards"]
    assert [runs[name].info.run_name for name in ("all", "sampled")] == ["svd · demo", "svd · sampled · demo"]
    client = MlflowClient(tracking_uri=workplace.uri)
    for name, run in runs.items():
        metrics = run.data.metrics
        assert (
            metrics["sanity/chance_ndcg_at_10"] < metrics["ndcg_at_10"] < metrics["sanity/oracle_ndcg_at_10"]
        )
        assert ("not comparable" in run.data.tags["mlflow.note.content"]) == (name != "all")
        found = json.loads(Path(client.download_artifacts(run.info.run_id, "guards.json")).read_text())
        assert [guard["value"] for guard in found if guard["name"] == "overlap"] == [0.0]
    rows = [line for line in done.out.splitlines() if " done " in line]
    assert ["†" in row for row in rows] == [False, True, True]
    assert done.out.count("not comparable with full-catalogue numbers") == 2
    records = [json.loads(path.read_text()) for path in workplace.folder.glob("outputs/*/*/*/record.json")]
    assert sorted(bool(record["incomparable"]) for record in records) == [False, True, True]


def test_a_guard_stops_a_run_and_is_overridden(workplace):
    """Every row is of an item of its own, so nothing in test can be known to train."""
    rows = [f"u{user},i{user}-{row}" for user in range(20) for row in range(5)]
    (workplace.folder / "rows.csv").write_text("\n".join(["user,item", *rows]), encoding="utf-8")
    command = ("dataset=table", "dataset.path=rows.csv", "model=popularity", "cutoffs=[5]")
    done = workplace.fail(*command)
    assert "unknown_items: 100.0% of test rows" in done.err
    assert "guards.override=[unknown_items]" in done.err
    again = workplace.succeed(*command, "guards.override=[unknown_items]")
    assert "overridden unknown_items" in again.out
    stopped, went_on = workplace.runs()
    assert stopped.info.status == "FAILED"
    assert "unknown_items" in stopped.data.tags["error"]
    assert went_on.data.tags["recgauge.overridden"] == "unknown_items"
    assert "overridden unknown_items" in went_on.data.tags["mlflow.note.content"]
