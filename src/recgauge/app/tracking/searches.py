"""Trials of searches in MLflow: in an experiment of their own, so that the page of final runs stays clear."""

from collections.abc import Mapping
from time import time
from typing import TYPE_CHECKING

from recgauge.runs.facts import SearchFacts
from recgauge.search.trial import Trial

if TYPE_CHECKING:
    from mlflow import MlflowClient

SEARCH_TAG, TRIAL_TAG, PARENT = "recgauge.search", "recgauge.trial", "mlflow.parentRunId"


def store_trials(
    client: "MlflowClient", experiment_id: str, names: Mapping[str, str], facts: SearchFacts
) -> None:
    """Store a search as a run, and each of its trials as a run below it, once.

    What a killed process left unfinished is stored again.
    """
    from mlflow.entities import Metric, RunTag

    found = client.search_runs([experiment_id], f"tags.`{SEARCH_TAG}` = '{facts.sha256}'", max_results=50_000)
    stored = {run.data.tags.get(TRIAL_TAG): run for run in found if run.info.status != "RUNNING"}
    for run in found:
        if run.info.status == "RUNNING" and TRIAL_TAG in run.data.tags:
            client.delete_run(run.info.run_id)
    name = f"{names['model']} · {names['dataset']}"
    parents = [run.info.run_id for run in found if TRIAL_TAG not in run.data.tags]
    tags = {SEARCH_TAG: facts.sha256} | {f"recgauge.{group}": chosen for group, chosen in names.items()}
    if not parents:
        created = client.create_run(experiment_id, tags=tags, run_name=f"{name} · search")
        parents = [created.info.run_id]
    for trial in facts.trials:
        if str(trial.number) not in stored:
            title = f"{name} · trial {trial.number}"
            own = {TRIAL_TAG: str(trial.number), PARENT: parents[0], "recgauge.state": trial.state}
            created = client.create_run(experiment_id, tags=tags | own, run_name=title)
            _log(client, created.info.run_id, trial, facts)
            client.set_terminated(created.info.run_id, "FAILED" if trial.state == "failed" else "FINISHED")
    # tags, since a search that goes on may choose others, and params cannot change
    told = {f"best.{name}": str(value) for name, value in facts.chosen.settings.items()}
    told |= {"best.trial": str(facts.chosen.number), "best.value": str(facts.chosen.value)}
    told |= {"mlflow.note.content": f"{facts}. Budget: {facts.budget}."}
    value, n_trials = float(facts.chosen.value or 0.0), len(facts.trials)
    values = [
        Metric(f"validation/{facts.metric}", value, _now(), n_trials),
        Metric("seconds", facts.seconds, _now(), n_trials),
    ]
    client.log_batch(parents[0], metrics=values, tags=[RunTag(name, text) for name, text in told.items()])
    client.set_terminated(parents[0], "FINISHED")


def _log(client: "MlflowClient", run_id: str, trial: Trial, facts: SearchFacts) -> None:
    from mlflow.entities import Metric, Param, RunTag

    now, key = _now(), f"validation/{facts.metric}"
    metrics = [Metric(key, value, now, int(epoch)) for epoch, value in trial.by_epoch.items()]
    if trial.value is not None:
        last = max((int(epoch) for epoch in trial.by_epoch), default=0)
        metrics.append(Metric(key, trial.value, now, last))
    metrics.append(Metric("seconds", trial.seconds, now, 0))
    client.log_batch(
        run_id,
        metrics=metrics[-900:],
        params=[Param(name, str(value)) for name, value in trial.settings.items()],
        tags=[RunTag("error", trial.reason)] if trial.reason else [],
    )


def _now() -> int:
    return max(0, int(time() * 1000))
