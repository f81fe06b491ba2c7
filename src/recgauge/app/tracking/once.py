"""Writes once what could come twice: a run whose answer was lost, a row that two processes add at once."""

from collections.abc import Callable, Mapping
from time import sleep
from typing import TYPE_CHECKING

from recgauge.app.tracking.servers import RETRIES, set_to

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

HIDDEN_TAG = "mlflow.recgauge."
"""What tags begin with that only programs need: MLflow's page shows no tag that begins with ``mlflow.``."""
DELIVERY_TAG = f"{HIDDEN_TAG}delivery"
"""Tag of a stored run that tells it from all others, even if only a part of it has reached the store."""

_MOST_CONFLICTS = 5
_CONFLICTS = ("IntegrityError", "UniqueViolation", "duplicate key", "Duplicate entry")
"""What SQLite, PostgreSQL and MySQL say, themselves or through a server, of a row that is there already."""


def create_once(client: "MlflowClient", experiment_id: str, name: str, tags: Mapping[str, str]) -> "Run":
    """Open a run on a server: MLflow would ask again if the answer is lost, and the server have two runs."""
    from mlflow.exceptions import MlflowException

    try:
        with set_to(RETRIES, "0"):
            return client.create_run(experiment_id, tags=dict(tags), run_name=name)
    except MlflowException:
        if DELIVERY_TAG not in tags:
            raise
    sleep(1)  # the server may still be at it
    there = runs_of(client, experiment_id, tags[DELIVERY_TAG])
    if there:
        return there[0]
    with set_to(RETRIES, "0"):
        return client.create_run(experiment_id, tags=dict(tags), run_name=name)


def runs_of(client: "MlflowClient", experiment_id: str, delivery: str) -> "list[Run]":
    """Return what a store has of a run: nothing, a part, all, or several parts after failed attempts."""
    return list(client.search_runs([experiment_id], f"tags.`{DELIVERY_TAG}` = '{delivery}'"))


def despite_others(write: Callable[[], object]) -> None:
    """Repeat a call of MLflow that fails because another process adds the same row at the same time.

    MLflow looks whether a data set or a tag is there, and adds it if not: of two processes that do so at
    once, one is refused by the table's unique key. Asked again, it finds the row of the other.
    """
    from mlflow.exceptions import MlflowException

    for attempt in range(_MOST_CONFLICTS):
        try:
            write()
        except MlflowException as error:
            if attempt + 1 == _MOST_CONFLICTS or not any(said in str(error) for said in _CONFLICTS):
                raise
        else:
            return
