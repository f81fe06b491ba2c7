"""Trials of searches in MLflow: in an experiment of their own, so that the page of final runs stays clear."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from recgauge.runs.record import SearchFacts
    from recgauge.search.trials import Trial

SEARCH_TAG, TRIAL_TAG, PARENT = "recgauge.search", "recgauge.trial", "mlflow.parentRunId"
MOST_POINTS = 900  # of a trial's curve; one call of MLflow takes 1000 entries


def store_search(
    client: "MlflowClient", experiment_id: str, names: Mapping[str, str], facts: "SearchFacts", now: int
) -> None:
    """Store a search as a run, and each of its trials as a run below it, once.

    Trials of a delivery that was torn are stored again.
    """
    from mlflow.entities import Metric, RunTag

    found = client.search_runs([experiment_id], f"tags.`{SEARCH_TAG}` = '{facts.sha256}'", max_results=50_000)
    stored = {run.data.tags.get(TRIAL_TAG) for run in found if run.info.status != "RUNNING"}
    for run in found:
        if run.info.status == "RUNNING" and TRIAL_TAG in run.data.tags:
            client.delete_run(run.info.run_id)
    parent = next((run.info.run_id for run in found if TRIAL_TAG not in run.data.tags), None)
    tags = {SEARCH_TAG: facts.sha256} | {f"recgauge.{group}": chosen for group, chosen in names.items()}
    name, key = f"{names['model']} · {names['dataset']}", f"validation/{facts.metric}"
    if parent is None:
        parent = client.create_run(experiment_id, now, tags, f"{name} · search").info.run_id
    for trial in facts.trials:
        if str(trial.number) not in stored:
            own = {TRIAL_TAG: str(trial.number), PARENT: parent, "recgauge.state": trial.state}
            run = client.create_run(experiment_id, now, tags | own, f"{name} · trial {trial.number}")
            _store_trial(client, run.info.run_id, trial, key, now)
    # tags, since a search that goes on may choose others, and params cannot change
    best = {f"best.{setting}": str(value) for setting, value in facts.chosen.settings.items()}
    best |= {"best.trial": str(facts.chosen.number), "best.value": str(facts.chosen.value)}
    best["mlflow.note.content"] = f"{facts}. Budget: {facts.budget}."
    values = [(key, float(facts.chosen.value or 0.0)), ("seconds", facts.seconds)]
    client.log_batch(
        parent,
        metrics=[Metric(name, value, now, len(facts.trials)) for name, value in values],
        tags=[RunTag(name, text) for name, text in best.items()],
    )
    client.set_terminated(parent, end_time=now)


def _store_trial(client: "MlflowClient", run_id: str, trial: "Trial", key: str, now: int) -> None:
    from mlflow.entities import Metric, Param, RunTag

    values = [(key, value, int(epoch)) for epoch, value in trial.by_epoch.items()]
    if trial.value is not None:
        values.append((key, trial.value, max((int(epoch) for epoch in trial.by_epoch), default=0)))
    values = [*values, ("seconds", trial.seconds, 0)][-MOST_POINTS:]
    client.log_batch(
        run_id,
        metrics=[Metric(name, value, now, step) for name, value, step in values],
        params=[Param(name, str(value)) for name, value in trial.settings.items()],
        tags=[RunTag("error", trial.reason)] if trial.reason else [],
    )
    client.set_terminated(run_id, "FAILED" if trial.state == "failed" else "FINISHED", now)
