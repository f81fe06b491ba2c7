"""What `recgauge check` needs of a store: registered models and their aliases, and looks at test rows."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from recgauge.checks.looks import Look
from recgauge.errors import ConfigError, MissingDataError, SchemaError, listed
from recgauge.tracking.finding import experiments_of, if_there, reading, runs_of
from recgauge.tracking.store import Store, explained

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

OUTCOME_TAG, TEST_TAG, LOOK_TAG = "recgauge.check", "recgauge.check.test_sha256", "recgauge.check.look"
FOLDER = "check"
"""Of the files among a run's artifacts."""
_NAME = re.compile(r"models:/([^/@]+)(?:@([^/@]+)|/(\d+))")


@dataclass(frozen=True, slots=True)
class Registered:
    """A version of a registered model by its alias or its number.

    Examples
    --------
    >>> Registered.of("models:/shop@champion")
    Registered(name='shop', alias='champion', version='')
    """

    name: str
    alias: str = ""
    version: str = ""

    @classmethod
    def of(cls, address: str) -> Self:
        """Read ``models:/NAME@ALIAS`` or ``models:/NAME/VERSION``; ConfigError if it is neither."""
        match = _NAME.fullmatch(address)
        if match is None:
            raise ConfigError(f"{address}: expected models:/NAME@ALIAS or models:/NAME/VERSION.")
        return cls(match[1], match[2] or "", match[3] or "")

    def __str__(self) -> str:
        return f"models:/{self.name}" + (f"@{self.alias}" if self.alias else f"/{self.version}")


def registered_run(uri: str, model: Registered) -> str:
    """Return the id of the run that made a version of a registered model."""
    client = reading(store := Store(uri))
    with explained(store, f"look for {model}"):
        stored = _version(client, model)
        names = [
            f"{each.name} ({listed(sorted(each.aliases))})" for each in client.search_registered_models()
        ]
    if stored is None:
        raise MissingDataError(
            f"{model}: the registry of {store.shown} has none. Models and aliases there: {listed(names)}."
        )
    if not stored.run_id:
        raise MissingDataError(f"{model}: its version {stored.version} was made by no run.")
    return str(stored.run_id)


def promote(uri: str, model: Registered, run_id: str) -> str:
    """Move an alias of a registered model to the model of a run, and return what was moved.

    A run whose model is not a version of it yet makes one, of the model that the run has logged.
    """
    client = reading(store := Store(uri))
    with explained(store, f"move {model}"):
        before = _version(client, model)
        version = _version_of_run(client, model.name, run_id)
        if before is not None and str(before.version) == version:
            return f"{model} is version {version} already"
        client.set_registered_model_alias(model.name, model.alias, version)
    was = "it was on none" if before is None else f"from version {before.version} (run {before.run_id})"
    return f"{model} moved to version {version} (run {run_id}), {was}"


def _version(client: "MlflowClient", model: Registered) -> "ModelVersion | None":
    """Return a version, None if there is none."""
    if model.alias:
        return if_there(client.get_model_version_by_alias, model.name, model.alias)
    return if_there(client.get_model_version, model.name, model.version)


def _version_of_run(client: "MlflowClient", name: str, run_id: str) -> str:
    versions = client.search_model_versions(f"name = '{name}' and run_id = '{run_id}'")
    if versions:
        return str(max(int(each.version) for each in versions))
    outputs = client.get_run(run_id).outputs
    if outputs is None or not outputs.model_outputs:
        raise MissingDataError(
            f"run {run_id} has logged no model, and no version of {name} is of it. Run it with "
            "tracking.log_model=true."
        )
    model_id = outputs.model_outputs[0].model_id
    logged = client.get_logged_model(model_id)
    made = client.create_model_version(name, logged.artifact_location, run_id, model_id=model_id)
    return str(made.version)


def looks_in(uri: str, test_sha256: str) -> list[Look]:
    """Return the looks at test rows that the runs of a store carry, whatever their experiment."""
    stores = [Store(uri, experiment) for experiment in experiments_of(Store(uri))]
    runs = [run for store in stores for run in runs_of(store, f"tags.`{TEST_TAG}` = '{test_sha256}'")]
    looks = []
    for run in sorted(runs, key=lambda run: run.info.start_time or 0):
        with suppress(SchemaError):  # what somebody else has written
            looks.append(Look.from_json(run.data.tags.get(LOOK_TAG, "")))
    return looks


def record_check(uri: str, run_id: str, look: Look, files: Mapping[str, str]) -> None:
    """Write a check into the candidate's run: its tags, and its files as artifacts."""
    client = reading(store := Store(uri))
    tags = {OUTCOME_TAG: look.outcome, TEST_TAG: look.test_sha256, LOOK_TAG: look.to_json()}
    with explained(store, f"write the check into run {run_id}"):
        for name, text in files.items():
            client.log_text(run_id, text, f"{FOLDER}/{name}")
        for tag, value in tags.items():
            client.set_tag(run_id, tag, value)
