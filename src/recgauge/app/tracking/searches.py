"""Trials of searches in MLflow: in an experiment of their own, so that the page of final runs stays clear."""

from collections.abc import Mapping
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from recgauge.runs.facts import SearchFacts
    from recgauge.search.trial import Trial

SEARCH_TAG, TRIAL_TAG, PARENT = "recgauge.search", "recgauge.trial", "mlflow.parentRunId"


def plain_search(names: Mapping[str, str], facts: "SearchFacts") -> dict[str, Any]:
    """Return what is stored of a search, as `store_trials` takes it."""
    # tags, since a search that goes on may choose others, and params cannot change
    told = {f"best.{name}": str(value) for name, value in facts.chosen.settings.items()}
    told |= {"best.trial": str(facts.chosen.number), "best.value": str(facts.chosen.value)}
    told |= {"mlflow.note.content": f"{facts}. Budget: {facts.budget}."}
    key, n_trials = f"validation/{facts.metric}", len(facts.trials)
    return {
        "name": f"{names['model']} · {names['dataset']}",
        "sha256": facts.sha256,
        "tags": {SEARCH_TAG: facts.sha256} | {f"recgauge.{group}": chosen for group, chosen in names.items()},
        "best": told,
        "values": [(key, float(facts.chosen.value or 0.0), n_trials), ("seconds", facts.seconds, n_trials)],
        "trials": [_plain_trial(trial, key) for trial in facts.trials],
    }


def _plain_trial(trial: "Trial", key: str) -> dict[str, Any]:
    values = [(key, value, int(epoch)) for epoch, value in trial.by_epoch.items()]
    if trial.value is not None:
        values.append((key, trial.value, max((int(epoch) for epoch in trial.by_epoch), default=0)))
    return {
        "number": str(trial.number),
        "state": trial.state,
        "values": [*values, ("seconds", trial.seconds, 0)][-900:],
        "settings": {name: str(value) for name, value in trial.settings.items()},
        "reason": trial.reason,
    }


def store_trials(client: "MlflowClient", experiment_id: str, search: Mapping[str, Any]) -> None:
    """Store a search as a run, and each of its trials as a run below it, once.

    What a killed process left unfinished is stored again.
    """
    from mlflow.entities import Metric, Param, RunTag

    wanted = f"tags.`{SEARCH_TAG}` = '{search['sha256']}'"
    found = client.search_runs([experiment_id], wanted, max_results=50_000)
    stored = {run.data.tags.get(TRIAL_TAG): run for run in found if run.info.status != "RUNNING"}
    for run in found:
        if run.info.status == "RUNNING" and TRIAL_TAG in run.data.tags:
            client.delete_run(run.info.run_id)
    tags, name = dict(search["tags"]), search["name"]
    parents = [run.info.run_id for run in found if TRIAL_TAG not in run.data.tags]
    if not parents:
        created = client.create_run(experiment_id, tags=tags, run_name=f"{name} · search")
        parents = [created.info.run_id]
    now = max(0, int(time() * 1000))
    for trial in search["trials"]:
        if trial["number"] in stored:
            continue
        own = {TRIAL_TAG: trial["number"], PARENT: parents[0], "recgauge.state": trial["state"]}
        created = client.create_run(
            experiment_id, tags=tags | own, run_name=f"{name} · trial {trial['number']}"
        )
        client.log_batch(
            created.info.run_id,
            metrics=[Metric(key, value, now, step) for key, value, step in trial["values"]],
            params=[Param(key, value) for key, value in trial["settings"].items()],
            tags=[RunTag("error", trial["reason"])] if trial["reason"] else [],
        )
        client.set_terminated(created.info.run_id, "FAILED" if trial["state"] == "failed" else "FINISHED")
    values = [Metric(key, value, now, step) for key, value, step in search["values"]]
    best = [RunTag(key, text) for key, text in search["best"].items()]
    client.log_batch(parents[0], metrics=values, tags=best)
    client.set_terminated(parents[0], "FINISHED")
