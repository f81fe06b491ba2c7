"""A run leaves its data card, and its figures if asked; the command line describes data by itself."""

import json

import pytest
from mlflow import MlflowClient

from recgauge.report.data_card import DataCard

pytestmark = pytest.mark.e2e


def artifacts(workplace, folder=None):
    (run,) = workplace.runs()
    listed = MlflowClient(tracking_uri=workplace.uri).list_artifacts(run.info.run_id, folder)
    return {entry.path for entry in listed}


@pytest.mark.usefixtures("has_store")
def test_a_run_stores_its_data_card_and_figures(workplace):
    done = workplace.run(
        "model=biased_mf", "model.n_epochs=2", "metrics=[ranking,rating]", "cutoffs=[1,5]", "figures=true"
    )
    assert done.code == 0, done.err
    assert {"data_card.json", "data_card.md"} <= artifacts(workplace)
    assert artifacts(workplace, "figures") == {
        f"figures/{name}.png"
        for name in ("long_tail", "rating_distribution", "metrics_over_k", "precision_recall_over_k",
                     "roc", "precision_recall", "predicted_against_actual", "rating_roc",
                     "rating_precision_recall")
    }  # fmt: skip
    (folder,) = workplace.output()
    card = DataCard.from_json((folder / "data_card.json").read_text(encoding="utf-8"))
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    assert card.parts["test"].sha256 == record["split"]["test"]["sha256"]
    assert card.parts["train"].n_rows == record["split"]["train"]["rows"]
    assert card.split_settings["test_size"] == "0.2"
    assert "figures" not in workplace.runs()[0].data.params
    assert record["seconds"]["card"] < 1
