"""Opens a tracking store with MLflow: database and experiment are made or brought up to date."""

import logging
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from recgauge.app.tracking.addresses import (
    artifact_folder,
    check_artifact_folder,
    check_store,
    create_database,
    store_lock,
)
from recgauge.app.tracking.servers import give_defaults
from recgauge.errors import TrackingError

if TYPE_CHECKING:
    from mlflow import MlflowClient

KIND = ("mlflow.experimentKind", "custom_model_development")
"""Tag of the experiment that lets MLflow 3 open its pages for model training."""


def check_experiment(uri: str, name: str, stage: str, location: str) -> None:
    """Refuse an experiment that was deleted or whose files cannot be stored."""
    if stage != "active":
        raise TrackingError(
            f"tracking.experiment: {name!r} was deleted in {uri}. "
            "Restore it, or choose another name with tracking.experiment=NAME."
        )
    check_artifact_folder(location)


def _unsafely(create: Callable[[str], object], uri: str) -> None:
    """Make the tables of an SQLite store without waiting for the disk after each of a hundred steps.

    A crash would damage the file, which has a temporary name until it is complete and written.
    """
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def relax(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    event.listen(Engine, "connect", relax)
    try:
        create(uri)
    finally:
        event.remove(Engine, "connect", relax)


class OpenedStore:
    """An MLflow experiment in a store, opened when it is first needed.

    Parameters
    ----------
    uri, experiment : str
        See `MlflowTracker`.
    """

    def __init__(self, uri: str, experiment: str) -> None:
        self.uri, self.experiment = uri, experiment

    @cached_property
    def client(self) -> "MlflowClient":
        """MLflow's own client of the store, which is created or migrated if necessary."""
        check_store(self.uri)
        give_defaults()
        from mlflow import MlflowClient

        # a failing store is reported in our own message; importing mlflow sets its own levels
        for name in ("alembic", "mlflow"):
            logging.getLogger(name).setLevel(logging.CRITICAL)

        def opened(uri: str) -> MlflowClient:
            client = MlflowClient(tracking_uri=uri)
            client.search_experiments(max_results=1)  # creates or migrates the tables
            return client

        with store_lock(self.uri):  # two first runs would race in creating the tables
            create_database(self.uri, partial(_unsafely, opened))
            return opened(self.uri)

    @cached_property
    def experiment_id(self) -> str:
        """The experiment's id in the store; it is made if it does not exist."""
        from mlflow.exceptions import MlflowException

        found = self.client.get_experiment_by_name(self.experiment)
        if found is None:
            folder = artifact_folder(self.uri)
            try:
                return str(self.client.create_experiment(self.experiment, folder, dict([KIND])))
            except MlflowException:  # another job made it in the meantime
                found = self.client.get_experiment_by_name(self.experiment)
        if found is None:
            raise TrackingError(f"tracking.experiment: {self.experiment!r} cannot be made in {self.uri}.")
        check_experiment(self.uri, self.experiment, found.lifecycle_stage, found.artifact_location)
        if found.tags.get(KIND[0]) != KIND[1]:
            self.client.set_experiment_tag(found.experiment_id, *KIND)
        return str(found.experiment_id)
