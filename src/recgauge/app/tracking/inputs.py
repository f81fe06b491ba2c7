"""The data of a run as MLflow's dataset inputs."""

import json
from typing import TYPE_CHECKING

from recgauge.runs.record import RunRecord

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput


def dataset_inputs(record: RunRecord) -> list["DatasetInput"]:
    """Describe the train and the test part as MLflow's dataset inputs, each with the digest of its rows."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    data = record.dataset
    return [
        DatasetInput(
            Dataset(
                name=data.name,
                digest=part.sha256[:36],
                source_type="http" if data.source.startswith("http") else "code",
                source=json.dumps({"uri": data.source, "sha256": data.sha256}),
                profile=json.dumps({"num_rows": part.rows, "num_users": part.users}),
            ),
            tags=[InputTag("mlflow.data.context", name)],
        )
        for name, part in (("train", record.split.train), ("test", record.split.test))
    ]
