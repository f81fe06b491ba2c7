"""What a run leaves of its data: the steps of its filters everywhere, its card, and figures if asked."""

import json

import pytest
from mlflow import MlflowClient

from recgauge.data.card import DataCard

pytestmark = pytest.mark.e2e


def test_each_step_is_printed_recorded_and_logged(workplace):
    done = workplace.succeed(
        "filters=[date_range,min_rating,n_core,sample_users]",
        "+filters.again={_target_:recgauge.filters.MinRating,rating:4.5}",
        "filters.date_range.start=2020-06-01",
        "filters.sample_users.users=300",
        "model=popularity",
        "fit_on=all",
        "cutoffs=[10]",
    )
    (folder,) = workplace.output()
    record = json.loads((folder / "record.json").read_text())
    steps = [step for step in record["split"]["steps"] if step["stage"] == "filters"]
    assert [step["name"] for step in steps] == [
        "rows before 2020-06-01",
        "ratings below 4",
        "users and items outside the 5-core",
        "users outside a random draw of 300 users",
        "ratings below 4.5",
    ]
    assert steps[3]["users"][1] == 300
    assert steps[-1]["users"][1] == record["dataset"]["n_users"]
    (run,) = workplace.runs()
    client = MlflowClient(tracking_uri=workplace.uri)
    for kind in ("rows", "users", "items"):
        points = client.get_metric_history(run.info.run_id, f"filters/{kind}")
        counts = [steps[0][kind][0], *(step[kind][1] for step in steps)]
        assert sorted((point.step, point.value) for point in points) == list(enumerate(counts))
        assert all(f"{count:,}" in done.out for count in counts)
    for text in (done.out, run.data.tags["mlflow.note.content"]):
        assert all(f"without {step['name']}" in text for step in steps)
        assert "fit_on=all: the model was fitted on the test rows, too" in text
    assert run.data.params["filters"] == "date_range+min_rating+n_core+sample_users+again"
    assert run.data.params["fit_on"] == "all"


def artifacts(workplace, folder=None):
    (run,) = workplace.runs()
    listed = MlflowClient(tracking_uri=workplace.uri).list_artifacts(run.info.run_id, folder)
    return {entry.path for entry in listed}


def test_a_run_stores_its_data_card_and_figures(workplace):
    workplace.succeed(
        "model=biased_mf", "model.n_epochs=2", "metrics=[ranking,rating]", "cutoffs=[1,5]", "figures=true"
    )
    assert {"data_card.json", "data_card.md"} <= artifacts(workplace)
    assert artifacts(workplace, "figures") == {"figures/long_tail.png", "figures/metrics_over_k.png"}
    (folder,) = workplace.output()
    card = DataCard.from_json((folder / "data_card.json").read_text(encoding="utf-8"))
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    assert card.parts["test"].sha256 == record["split"]["test"]["sha256"]
    assert card.parts["train"].n_rows == record["split"]["train"]["rows"]
    assert card.split_settings["test_size"] == "0.2"
    assert "figures" not in workplace.runs()[0].data.params
    assert record["seconds"]["card"] < 1
