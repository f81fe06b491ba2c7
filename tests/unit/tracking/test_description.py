"""The experiment's description is that of its newest comparison, and never replaces a person's own."""

from mlflow import MlflowClient

from recgauge.runs.folder import Summary, write_folder
from recgauge.runs.record import JobFacts
from recgauge.tracking import deliver
from recgauge.tracking.description import append
from recgauge.tracking.store import open_store

NOTE = "mlflow.note.content"


def summary(folder, store, text, at):
    job = JobFacts("comparison", at, at, "ann", "outputs/sweep", "", store.plain())
    write_folder(Summary(job, "comparison", text, text=text), folder)
    return deliver(folder, store)


def test_the_newest_comparison_is_the_description_until_somebody_writes_another(tmp_path, store):
    opened = open_store(store)

    def description():
        return MlflowClient(store.uri).get_experiment(opened.experiment_id).tags[NOTE]

    run_id = summary(tmp_path / "b", store, "**b wins.**\n[b](runs/1)", 2e9)
    page = f"#/experiments/{opened.experiment_id}/runs"
    assert description().startswith(f"**b wins.**\n[b]({page}/1)")
    assert f"({page}/{run_id}/artifacts/report.html)" in description()
    summary(tmp_path / "a", store, "an older one", 1e9)
    assert description().startswith("**b wins.**")
    summary(tmp_path / "c", store, "**c wins.**", 3e9)
    assert description().startswith("**c wins.**")
    summary(tmp_path / "long", store, "**d wins.**\n" + "| row |\n" * 2000, 4e9)
    assert description().startswith("**d wins.**")
    opened.client.set_experiment_tag(opened.experiment_id, NOTE, "ours")
    summary(tmp_path / "e", store, "**e wins.**", 5e9)
    assert description() == "ours"


def test_logged_comparisons_and_those_of_sweeps_leave_each_other_room(tmp_path, store):
    opened = open_store(store)

    def description():
        return opened.client.get_experiment(opened.experiment_id).tags.get(NOTE, "")

    def log(text):
        append(opened.client, opened.client.get_experiment(opened.experiment_id), [text], "comparison.md")

    log("logged 1")
    summary(tmp_path / "a", store, "**a wins.**", 1e9)
    assert description().startswith("**a wins.**")
    assert description().endswith("logged 1")
    log("logged 2")
    assert "logged 1" not in description()
    summary(tmp_path / "b", store, "**b wins.**", 2e9)
    assert description().startswith("**b wins.**")
    assert description().endswith("logged 2")
    long = "x" * 4_950  # written by a person, who leaves no room
    opened.client.set_experiment_tag(opened.experiment_id, NOTE, long)
    log("logged 3")
    assert description() == long
