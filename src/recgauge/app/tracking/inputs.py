"""The data of a run as MLflow's dataset inputs."""

import json

from recgauge.runs.record import RunRecord


def dataset_inputs(record: RunRecord) -> list[dict[str, str]]:
    """Describe the train and the test part as MLflow's inputs, each with the digest of its rows."""
    data = record.dataset
    return [
        {
            "name": data.name,
            "digest": part.sha256[:36],
            "source_type": "http" if data.source.startswith("http") else "code",
            "source": json.dumps({"uri": data.source, "sha256": data.sha256}),
            "profile": json.dumps({"num_rows": part.rows, "num_users": part.users}),
            "context": name,
        }
        for name, part in (("train", record.split.train), ("test", record.split.test))
    ]
