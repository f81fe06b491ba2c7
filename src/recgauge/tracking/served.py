"""A saved model as MLflow serves it: user ids in, a table of items, titles and scores out."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from recgauge._version import __version__
from recgauge.errors import RecgaugeError
from recgauge.models.saved import ABOUT, SavedModel

if TYPE_CHECKING:
    import pandas as pd
    from mlflow import MlflowClient
    from mlflow.models import ModelSignature

NAME = "recommender"
"""Name of a run's registered model: ``runs:/RUN_ID/recommender``."""
USER, K = "user_id", "k"


class Served:
    """What MLflow's servers ask."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved = saved

    def predict(self, model_input: "pd.DataFrame", params: dict[str, Any] | None = None) -> "pd.DataFrame":
        """Return a row per item, ``params["k"]`` for each user: user_id, rank, item_id, title and score.

        A user who is named twice gets one list. An unknown user, or what is no length, makes an
        MlflowException: servers answer with status 400.
        """
        import pandas as pd
        from mlflow.exceptions import MlflowException

        users = list(dict.fromkeys(model_input[USER].tolist()))
        try:
            return pd.DataFrame(self._saved.rows(users, int((params or {}).get(K, 10))))
        except RecgaugeError as error:
            raise MlflowException.invalid_parameter_value(str(error)) from error


def _load_pyfunc(path: str) -> Served:
    """Load the folder of a saved model; MLflow calls this."""
    saved = _load(Path(path))
    saved.lists(saved.user_ids[:1], 1)  # kernels are compiled before the first question
    return Served(saved)


def _load(folder: Path) -> SavedModel:
    """Load a model of any package: MLflow runs whatever a registered model names, this module among it."""
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    return SavedModel.load(folder, (str(about["class"]).partition(".")[0],))


def register(client: "MlflowClient", run_id: str, folder: Path) -> None:
    """Register a saved model, which is copied to the store, as the one that a run has made."""
    import pandas as pd
    from mlflow import pyfunc
    from mlflow.entities import LoggedModelOutput
    from mlflow.models import Model

    run = client.get_run(run_id)
    if run.outputs is not None and run.outputs.model_outputs:
        return
    saved = _load(folder)
    made = client.create_logged_model(
        run.info.experiment_id, NAME, source_run_id=run_id, model_type=type(saved.model).__name__
    )
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        path = f"{temporary}/model"
        pyfunc.save_model(
            path,
            loader_module=__name__,
            data_path=str(folder),
            signature=_signature(saved),
            input_example=pd.DataFrame({USER: saved.user_ids[:2]}),
            pip_requirements=[f"recgauge=={__version__}"],
            mlflow_model=Model(
                artifact_path=made.artifact_location,
                run_id=run_id,
                model_uuid=made.model_id,
                model_id=made.model_id,
            ),
        )
        client.log_model_artifacts(made.model_id, path)
    client.finalize_logged_model(made.model_id, "READY")
    client.log_outputs(run_id, [LoggedModelOutput(made.model_id, step=0)])


def _signature(saved: SavedModel) -> "ModelSignature":
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

    def ids(name: str, values: Any) -> ColSpec:
        return ColSpec(DataType.long if values.dtype.kind in "iu" else DataType.string, name)

    user = ids(USER, saved.user_ids)
    outputs = [user, ColSpec(DataType.integer, "rank"), ids("item_id", saved.item_ids)]
    outputs += [] if saved.titles is None else [ColSpec(DataType.string, "title")]
    outputs += [ColSpec(DataType.float, "score")]
    return ModelSignature(Schema([user]), Schema([*outputs]), ParamSchema([ParamSpec(K, DataType.long, 10)]))
