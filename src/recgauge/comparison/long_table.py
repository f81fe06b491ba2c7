"""A long table with a row per value, as any program can write one."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.inputs import RunValues, as_key, read_table
from recgauge.data.ids import as_ids
from recgauge.errors import SchemaError, listed

if TYPE_CHECKING:
    import pandas as pd

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
