"""Per-user values of runs, read from wherever they are: a run at a time, or one long table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recgauge.data.ids import IdArray, as_ids
from recgauge.errors import SchemaError, listed
from recgauge.evaluation import Evaluation
from recgauge.metrics.rating import Pooled
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.runs.record import RunRecord
    from recgauge.runs.stored import RunFolder

    Source: TypeAlias = "Evaluation | pd.DataFrame | str | Path | RunValues"


USER_COLUMNS = ("user_id", "user")


@dataclass(frozen=True, slots=True, eq=False)
class RunValues:
    """Per-user values of one run, which may be one of several seeds or folds.

    Parameters
    ----------
    users : ndarray, shape (m,)
        Distinct ids, in any order.
    values : dict of str to ndarray of float64, shape (m,)
        By metric; NaN where a user is left out.
    higher_is_better : dict of str to bool
        As far as known.
    seed, fold : int or None
        Which repeat this is.
    record : RunRecord or None
        Of a run of recgauge, from its output folder: what the values stand on.
    pooled : dict of str to Pooled
        Of metrics whose number is not the mean of the users' `values`, such as RMSE over all ratings: what
        each user adds to it.
    """

    users: IdArray
    values: dict[str, DoubleArray]
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    seed: int | None = None
    fold: int | None = None
    record: "RunRecord | None" = None
    pooled: dict[str, Pooled] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Return the repeat in words, such as ``seed 1, fold 0``; empty if it is none."""
        parts = (("seed", self.seed), ("fold", self.fold))
        return ", ".join(f"{name} {value}" for name, value in parts if value is not None)


def read_run(source: "Source") -> RunValues:
    """Read the per-user values of a run.

    Parameters
    ----------
    source : Evaluation, pandas.DataFrame, RunValues, or path
        A data frame has a row per user and a column per metric; users are its index, or its column
        ``user_id`` or ``user``. A path is a run's output folder (its per_user.parquet, and record.json for
        the direction of metrics), or a parquet or CSV file with such a table.

    Raises
    ------
    SchemaError
        If a file or table is not what is described above.

    Examples
    --------
    >>> import pandas as pd
    >>> read_run(pd.DataFrame({"user": ["ann", "bob"], "ndcg": [0.5, 1.0]})).values
    {'ndcg': array([0.5, 1. ])}
    """
    if isinstance(source, RunValues):
        return source
    if isinstance(source, Evaluation):
        pooled = {one.key: one.pooled for one in source.results if one.pooled is not None}
        values = {one.key: one.per_user for one in source.results if one.per_user is not None}
        values |= {key: each.per_user() for key, each in pooled.items()}
        directions = {one.key: one.higher_is_better for one in source.results if one.key in values}
        return RunValues(source.users, values, directions, pooled=pooled)
    if isinstance(source, (str, Path)):
        return _read_path(Path(source))
    return _of_frame(source, "the data frame")


def as_key(metric: str) -> str:
    """Return the key of a metric as recgauge writes it: ``ndcg@10`` is ``ndcg_at_10``."""
    return metric.strip().replace("@", "_at_")


def _of_frame(frame: "pd.DataFrame", subject: str) -> RunValues:
    if not hasattr(frame, "columns"):
        raise SchemaError(
            "compare: a run must be a data frame, an Evaluation, a run's output folder, or a parquet or CSV "
            f"file; got {type(frame).__name__}."
        )
    column = next((name for name in USER_COLUMNS if name in frame.columns), None)
    users = as_ids(subject, frame.index if column is None else frame[column])
    columns = [name for name in frame.columns if name != column]
    wrong = [str(name) for name in columns if frame[name].dtype.kind not in "fiub"]
    if wrong or not columns:
        raise SchemaError(
            f"{subject}: expected a row per user and a column of numbers per metric, users as the index "
            f"or in a column user_id; {'not numbers: ' + listed(wrong) if wrong else 'there is no metric'}."
        )
    return RunValues(users, {as_key(str(name)): frame[name].to_numpy(np.float64) for name in columns})


def _read_path(path: Path) -> RunValues:
    from recgauge.runs.stored import RunFolder

    if (path / "record.json").is_file():
        return run_values(RunFolder.read(path))
    table = path / "per_user.parquet" if path.is_dir() else path
    return _of_frame(read_table(table), str(table))


def run_values(
    run: "RunFolder", keys: Sequence[str] | None = None, *, seed: int | None = None, fold: int | None = None
) -> RunValues:
    """Read the values of users of a finished run, by default of all metrics that are known for each user."""
    from recgauge.runs.stored import pooled_errors, pooled_keys, user_columns, user_table

    record = run.record
    of_all = [key for key in pooled_keys(run.folder, record) if keys is None or key in keys]
    columns = [key for key in (user_columns(run.folder) if keys is None else keys) if key not in of_all]
    table = user_table(run.folder, record, columns)
    users = to_numpy(table["user_id"])
    values = {key: to_numpy(table[key]).astype(np.float64, copy=False) for key in columns}
    pooled = pooled_errors(run.folder, record, of_all, users) if of_all else {}
    values |= {key: each.per_user() for key, each in pooled.items()}
    directions = {entry.key: entry.higher_is_better for entry in record.results}
    return RunValues(users, values, directions, seed, fold, record, pooled)


def read_table(table: Path) -> "pd.DataFrame":
    """Read a parquet or CSV file."""
    import pandas as pd

    if not table.is_file():
        raise SchemaError(
            f"{table}: no such file. Give a run's output folder, which has a per_user.parquet, or a parquet "
            "or CSV file."
        )
    try:
        frame = pd.read_parquet(table) if table.suffix == ".parquet" else pd.read_csv(table)
    except (ValueError, OSError) as error:
        raise SchemaError(f"{table}: cannot be read as a table ({error}).") from error
    return frame


_OTHER_NAMES = {"user_id": "user", "run": "model"}
_OPTIONAL = {"metric": "value", "dataset": "", "seed": -1, "fold": -1}


@dataclass(frozen=True, slots=True)
class DatasetMeans:
    """Means of runs on several data sets, without users.

    Parameters
    ----------
    values : dict
        By metric, run and data set.
    """

    values: dict[str, dict[str, dict[str, float]]]


def read_long(source: "pd.DataFrame | str | Path") -> dict[str, dict[str, list[RunValues]]] | DatasetMeans:
    """Read a table with a row per value; the order of its rows does not matter.

    Parameters
    ----------
    source : pandas.DataFrame or path of a parquet or CSV file
        Columns ``model`` (or ``run``) and ``value``, and, as they apply, ``user`` (or ``user_id``),
        ``metric``, ``dataset``, ``seed`` and ``fold``. Without users, values are means, and there must be
        data sets.

    Returns
    -------
    dict of str to dict of str to list of RunValues, or DatasetMeans
        By data set and run; means if there are no users.

    Raises
    ------
    SchemaError
        If a column is missing, or there are two values where there should be one.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("ann", "svd", 0.5), ("bob", "svd", 1.0), ("ann", "popularity", 0.0)]
    >>> read_long(pd.DataFrame(rows, columns=["user", "model", "value"]))[""]["svd"][0].values
    {'value': array([0.5, 1. ])}
    """
    subject = "the table" if not isinstance(source, (str, Path)) else str(source)
    frame = read_table(Path(source)) if isinstance(source, (str, Path)) else source
    if not hasattr(frame, "columns"):
        raise SchemaError(
            "compare: give runs by name, such as {'a': A, 'b': B}, or a long table as a data frame or a "
            f"path; got {type(frame).__name__}."
        )
    frame = frame.rename(columns={old: new for old, new in _OTHER_NAMES.items() if new not in frame.columns})
    missing = [name for name in ("model", "value") if name not in frame.columns]
    if missing or not {"user", "dataset"} & set(frame.columns):
        raise SchemaError(
            f"{subject}: expected columns model and value, and user or dataset (also metric, seed, fold); it "
            f"has {listed(map(str, frame.columns))}."
        )
    if frame["value"].dtype.kind not in "fiub":
        raise SchemaError(f"{subject}: the column value must hold numbers, got {frame['value'].dtype}.")
    for name in ("seed", "fold"):
        if name in frame.columns and frame[name].dtype.kind not in "iuf":
            raise SchemaError(f"{subject}: the column {name} must hold whole numbers.")
    added: Any = {name: value for name, value in _OPTIONAL.items() if name not in frame.columns}
    frame = frame.assign(**added).astype({"model": str, "metric": str, "dataset": str})
    frame["metric"] = frame["metric"].map(as_key)
    order = ("dataset", "model", "seed", "fold", "user", "metric")
    columns = [name for name in order if name in frame.columns]
    _refuse_repeated(frame, columns, subject)
    return _with_users(frame) if "user" in frame.columns else _means(frame, subject)


def _refuse_repeated(frame: "pd.DataFrame", columns: list[str], subject: str) -> None:
    if frame[columns].isna().to_numpy().any():
        raise SchemaError(f"{subject}: {listed(columns)} must be given in every row; some are empty.")
    repeated = frame.duplicated(columns)
    if repeated.any():
        row = frame.loc[repeated, columns].iloc[0]
        words = ", ".join(f"{name} {row[name]}" for name in columns if row[name] not in ("", -1))
        raise SchemaError(f"{subject}: {int(repeated.sum()):,} values repeat another's place: {words}.")


def _with_users(frame: "pd.DataFrame") -> dict[str, dict[str, list[RunValues]]]:
    found: dict[str, dict[str, list[RunValues]]] = {}
    groups: Any = frame.groupby(["dataset", "model", "seed", "fold"])
    for (dataset, model, seed, fold), rows in groups:
        wide = rows.pivot(index="user", columns="metric", values="value")
        run = RunValues(
            as_ids("user", wide.index),
            {str(metric): wide[metric].to_numpy(np.float64) for metric in wide.columns},
            seed=None if seed == -1 else int(seed),
            fold=None if fold == -1 else int(fold),
        )
        found.setdefault(str(dataset), {}).setdefault(str(model), []).append(run)
    return found


def _means(frame: "pd.DataFrame", subject: str) -> DatasetMeans:
    """Return the mean over seeds and folds of every value."""
    means: Any = frame.groupby(["metric", "model", "dataset"])["value"].mean()
    values: dict[str, dict[str, dict[str, float]]] = {}
    for (metric, model, dataset), value in means.items():
        values.setdefault(metric, {}).setdefault(model, {})[dataset] = float(value)
    if frame["dataset"].nunique() < 2:
        raise SchemaError(
            f"{subject}: means of one data set cannot be compared; give values per user (a column user)."
        )
    return DatasetMeans(values)
