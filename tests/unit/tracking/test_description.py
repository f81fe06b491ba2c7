"""The experiment's description is that of its newest comparison, behind what a person has written."""

from mlflow import MlflowClient

from recgauge.runs.folder import Summary, write_folder
from recgauge.runs.record import JobFacts
from recgauge.tracking.delivering import deliver
from recgauge.tracking.description import MARK
from recgauge.tracking.pages import MODEL_TRAINING
from recgauge.tracking.store import open_store

NOTE, NEWEST = "mlflow.note.content", "Newest: "


def summary(folder, store, text, at):
    job = JobFacts("comparison", at, at, "ann", "outputs/sweep", "", store.plain())
    write_folder(Summary(job, "comparison", text, text=text), folder)
    return deliver(folder, store)


def test_the_newest_comparison_stands_behind_what_somebody_has_written(tmp_path, store):
    opened = open_store(store)

    def description():
        return MlflowClient(store.uri).get_experiment(opened.experiment_id).tags[NOTE]

    run_id = summary(tmp_path / "b", store, "**b wins.**\n[b](runs/1)", 2e9)
    page = f"#/experiments/{opened.experiment_id}/runs"
    assert description().startswith(f"{NEWEST}b wins. {MARK}\n")
    assert "2033-05-18 03:33 UTC: [" in description()
    assert f"[b]({page}/1?{MODEL_TRAINING})" in description()
    assert f"({page}/{run_id}?{MODEL_TRAINING})" in description()
    summary(tmp_path / "a", store, "an older one", 1e9)
    assert "b wins." in description()
    opened.client.set_experiment_tag(opened.experiment_id, NOTE, f"ours\n\n{description()}")
    last = summary(tmp_path / "long", store, "**d wins.**\n" + "| row |\n" * 2000, 4e9)
    assert description().startswith("ours\n\nNewest: ")
    assert f"[comparison]({page}/{last}?{MODEL_TRAINING})" in description()
    assert "d wins." in description()
    assert "b wins." not in description()
    opened.client.set_experiment_tag(opened.experiment_id, NOTE, "x" * 4_950)  # leaves no room
    summary(tmp_path / "e", store, "**e wins.**", 5e9)
    assert description() == "x" * 4_950
