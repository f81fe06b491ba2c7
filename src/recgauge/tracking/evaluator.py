"""The evaluator of MLflow: ``mlflow.models.evaluate(..., model_type="ranker", evaluators="recgauge")``."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, cast

from mlflow.models.evaluation import EvaluationDataset, EvaluationResult, ModelEvaluator

from recgauge._version import __version__
from recgauge.comparison.tests_of_pairs import student_quantile
from recgauge.errors import ConfigError, SchemaError, did_you_mean, listed
from recgauge.evaluation import Evaluation
from recgauge.evaluation.evaluate import evaluate
from recgauge.evaluation.measured import user_table
from recgauge.files.columns import USERS, Roles, column_of, is_label
from recgauge.runs.stored import PER_USER
from recgauge.tracking.page import EVALUATED_TAG, JUDGING_TAG, TRUTH_TAG, definitions, interval_ends
from recgauge.tracking.writing import write
from recgauge.utils.checks import shown
from recgauge.utils.messages import print_note

if TYPE_CHECKING:
    import pandas as pd

Role = Literal["user", "item"]
ROLES: tuple[Role, ...] = ("user", "item")
KEYS = (*ROLES, *(name for name in (evaluate.__kwdefaults__ or {}) if name != "scores"))
"""Keys of ``evaluator_config``: names of columns, and arguments of `recgauge.evaluate`."""


class Evaluator(ModelEvaluator):
    """Ranked lists measured by `recgauge.evaluate`, for MLflow's own way of evaluating.

    The data are a frame with a row per user, whose cells are lists, or a long one with a row per user and
    item. ``evaluator_config`` has the arguments of `recgauge.evaluate` by name, and ``user`` and ``item``,
    which name columns. Metrics, intervals, definitions and users' values are logged to the run.

    Raises
    ------
    RecgaugeError
        If the configuration, a column or a list cannot be used.

    Examples
    --------
    >>> Evaluator.can_evaluate(model_type="ranker", evaluator_config={})
    True
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, **_: Any) -> bool:
        """Return whether it measures this type of model: ``ranker``."""
        return model_type == "ranker"

    def evaluate(
        self,
        *,
        dataset: EvaluationDataset,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None,
        model: Any = None,
        extra_metrics: Sequence[Any] | None = None,
        custom_artifacts: Sequence[Any] | None = None,
        predictions: str | None = None,
        **_: Any,
    ) -> EvaluationResult:
        """Measure the lists of a frame, or of a model, log what comes out, and return it."""
        if extra_metrics or custom_artifacts:
            raise ConfigError("extra_metrics, custom_artifacts: recgauge takes none. Leave them out.")
        config = {key: own for key, own in (evaluator_config or {}).items() if key != "col_mapping"}
        if unknown := [key for key in config if key not in KEYS]:
            hint = f"{did_you_mean(unknown[0], KEYS)}There are {listed(KEYS, 30)}."
            raise ConfigError(f"evaluator_config: there is no {unknown[0]!r}. {hint}")
        columns: dict[Role, str | None] = {role: config.pop(role, None) for role in ROLES}
        frame, relevant = dataset.features_data, dataset.labels_data
        if not hasattr(frame, "columns") or relevant is None:
            raise ConfigError("targets: name the column of relevant items, or grades, of a data frame.")
        ranked = dataset.predictions_data
        if model is not None:
            ranked = _output(model.predict(frame), frame, predictions)
        if ranked is None or len(ranked) != len(frame):
            raise ConfigError(
                "predictions: name the column of lists, scores or ranks, or pass a model that returns a list "
                f"for each of the {len(frame):,} rows."
            )
        if any(map(_is_several, ranked)):
            tables, has_ids = _by_user(frame, ranked, relevant, columns["user"])
        else:
            name = predictions or dataset.predictions_name or "score"
            tables, has_ids = _by_pair(frame, ranked, relevant, columns, name), True
        if not has_ids and config.get("train") is not None:
            raise ConfigError("train: has ids, and no column of data is known as the user. Name it: 'user'.")
        return _logged(evaluate(*tables, **config), run_id, has_ids=has_ids)


def _is_several(cell: Any) -> bool:
    """Whether a cell holds the items of a user, and not one number or id."""
    return isinstance(cell, Collection) and not isinstance(cell, (str, bytes))


def _output(output: Any, frame: "pd.DataFrame", name: str | None) -> Sequence[Any]:
    """Return what a model returns for each row: of several columns the one that `predictions` names."""
    if hasattr(output, "reindex") and not output.index.equals(frame.index):
        raise ConfigError("model: return a list, or a series or frame with the index of the data.")
    if hasattr(output, "columns"):
        columns = list(output)
        if (name := columns[0] if len(columns) == 1 else name) not in columns:
            raise ConfigError(f"predictions: name the column of lists; the model has {listed(columns)}.")
        output = output[name]
    return list(output) if _is_several(output) else []


def _by_user(
    frame: "pd.DataFrame", ranked: Sequence[Any], relevant: Sequence[Any], user: str | None
) -> tuple[Any, bool]:
    """Return lists and relevant items by user, and whether users have ids: else they are numbers of rows."""
    from pandas import isna

    named = user is not None or any(map(Roles({"user": USERS}, ()).is_name, map(str, frame.columns)))
    users = _column(frame, "user", user) if named else frame.index
    has_ids = named or frame.index.name is not None
    counts = Counter(users.tolist() if has_ids else range(len(frame)))
    if len(frame) > len(counts):
        name = shown(counts.most_common(1)[0][0])
        raise SchemaError(f"data: user {name} has several rows of lists. Keep a row per user.")
    return [
        {user: cell for user, cell in zip(counts, cells, strict=True) if _is_several(cell) or not isna(cell)}
        for cells in (ranked, relevant)
    ], has_ids


def _column(frame: "pd.DataFrame", role: Role, name: str | None) -> "pd.Series":
    """Return the column of users or items: the one that is named, or has a usual name."""
    names = list(map(str, frame.columns))
    chosen = column_of(role, names, "data", name, "evaluator_config={{'{}': '{}'}}")
    column: pd.Series = frame.iloc[:, names.index(chosen)].reset_index(drop=True)
    return column


def _by_pair(
    frame: "pd.DataFrame", ranked: Any, relevant: Any, names: Mapping[Role, str | None], score: str
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the rows with a score or rank, and those with a grade, as `recgauge.evaluate` reads them.

    Columns whose names say run, model or fold go along, since the reader asks what they mean.
    """
    import pandas as pd

    first = next(iter(ranked), None)
    if score in ROLES or any(map(_is_several, relevant)) or str(first).startswith("["):
        raise SchemaError(
            f"predictions: {score} has no lists: a cell is {shown(first)}. Give a list per user (of text, "
            "json.loads makes one), or a column of scores or ranks."
        )
    index = [name for name in frame.index.names if name is not None and name not in frame.columns]
    frame = frame.reset_index(index) if index else frame
    pairs = pd.DataFrame({role: _column(frame, role, names[role]) for role in ROLES})
    labels = frame.loc[:, [is_label(str(name)) for name in frame.columns]].reset_index(drop=True)
    lists = pd.concat([pairs.assign(**{score: ranked}), labels], axis=1)
    return lists.dropna(subset=score), pairs.assign(grade=relevant).dropna(subset="grade")


def _logged(evaluation: Evaluation, run_id: str, *, has_ids: bool) -> EvaluationResult:
    """Log metrics with intervals, definitions and users' values to a run, and return them."""
    from mlflow import MlflowClient
    from mlflow.models.evaluation.artifacts import ParquetEvaluationArtifact
    from pyarrow import parquet

    values = evaluation.values() | {"users_evaluated": float(evaluation.counts["users_evaluated"])}
    for entry in evaluation.results:
        if entry.stderr is not None:
            half = student_quantile(0.975, entry.n_users - 1) * entry.stderr
            values |= interval_ends(entry.key, entry.value, half)
    tags = {f"definition.{name}": text for name, text in definitions(evaluation).items()}
    truth = "" if evaluation.truth is None else evaluation.truth.sha256()
    tags |= {JUDGING_TAG: evaluation.policies, TRUTH_TAG: truth, "recgauge.version": __version__}
    tags |= {EVALUATED_TAG: PER_USER} if has_ids else {}
    for warning in evaluation.warnings():
        print_note(warning)
    client = MlflowClient()
    with TemporaryDirectory() as folder:
        file = Path(folder, PER_USER)
        parquet.write_table(user_table(evaluation, "user" if has_ids else "row"), file)
        write(
            client, run_id, [(key, value, 0) for key, value in values.items()], tags=tags, files={file: "."}
        )
    uri = f"{client.get_run(run_id).info.artifact_uri}/{PER_USER}"
    artifact: Any = ParquetEvaluationArtifact  # which has no types, as has the result
    result: Any = EvaluationResult
    table = artifact(uri, evaluation.to_frame().reset_index())
    return cast("EvaluationResult", result(values, {"per_user": table}, run_id))
