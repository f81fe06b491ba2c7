"""The one function that writes into a run of MLflow: values, tags, inputs, files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from time import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlflow import MlflowClient

LONGEST, LONGEST_PARAM = 7_900, 6_000
"""Characters of a tag and of a param: MLflow cuts longer ones with at most a warning."""
# the most that one call of MLflow takes: 1000 entries, of them 100 params or tags
MOST_METRICS, MOST_TEXTS = 800, 100
NOTHING: Mapping[Any, str] = MappingProxyType({})


def write(  # noqa: PLR0913 -- what a run of MLflow has
    client: "MlflowClient",
    run_id: str,
    metrics: Iterable[tuple[str, float, int]] = (),
    *,
    at: float | None = None,
    params: Mapping[str, str] = NOTHING,
    tags: Mapping[str, str] = NOTHING,
    inputs: Iterable[Mapping[str, str]] = (),
    files: Mapping[Path, str] = NOTHING,
) -> None:
    """Write values, tags and files; it may be done again.

    Parameters
    ----------
    client : MlflowClient
    run_id : str
    metrics : iterable of (name, value, step)
    at : float, optional
        When the metrics were measured, in seconds since 1970; now, if it is not given.
    params, tags : mapping of str to str
    inputs : iterable of mapping
        Data sets: ``context`` and the fields of MLflow's ``Dataset``.
    files : mapping of Path to str
        Each with its folder among the run's artifacts, ``.`` for the top.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag

    now = int(1000 * (time() if at is None else at))
    values = [Metric(key, value, now, step) for key, value, step in metrics]
    settings = [Param(key, text[:LONGEST_PARAM]) for key, text in params.items()]
    texts = [RunTag(key, text[:LONGEST]) for key, text in tags.items()]
    while values or settings or texts:
        client.log_batch(run_id, values[:MOST_METRICS], settings[:MOST_TEXTS], texts[:MOST_TEXTS])
        values, settings, texts = values[MOST_METRICS:], settings[MOST_TEXTS:], texts[MOST_TEXTS:]
    datasets = [
        DatasetInput(
            Dataset(**{key: text for key, text in each.items() if key != "context"}),
            tags=[InputTag("mlflow.data.context", each["context"])],
        )
        for each in inputs
    ]
    if datasets:
        client.log_inputs(run_id, datasets=datasets)
    for file, place in files.items():
        client.log_artifact(run_id, str(file), None if place == "." else place)
