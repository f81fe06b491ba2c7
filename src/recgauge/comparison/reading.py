"""Users' values of a run, from wherever they are: a run, a table with a row per user, one long table."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recgauge.data.ids import as_ids
from recgauge.errors import SchemaError, listed
from recgauge.evaluation import Evaluation, about_values
from recgauge.files.cells import numbers_of
from recgauge.files.columns import USERS, Roles, is_label
from recgauge.files.frames import as_arrow, is_frame
from recgauge.files.stored import PARQUET
from recgauge.files.tables import OwnTable, read_table
from recgauge.metrics.names import as_key, usual_direction
from recgauge.runs.finished import FinishedRun, RunValues
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray, shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    Source: TypeAlias = "Evaluation | FinishedRun | pd.DataFrame | str | Path | RunValues"

_is_user = Roles({"user": USERS}, ()).is_name


def read_run(source: "Source") -> RunValues:
    """Read the per-user values of a run.

    Parameters
    ----------
    source : Evaluation, FinishedRun, data frame, RunValues, or path
        A data frame (of pandas, polars or Arrow) has a row per user and a column per metric; users are a
        column with a usual name, such as ``user_id`` or ``userId``, else the index of pandas. A path is a
        run's output folder (its per_user.parquet, and record.json for the direction of metrics), or a file
        with such a table.

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
    if isinstance(source, FinishedRun):
        return source.values()
    if isinstance(source, Evaluation):
        pooled = {result.key: result.pooled for result in source.results if result.pooled is not None}
        values = {result.key: result.per_user for result in source.results if result.per_user is not None}
        values |= {key: each.per_user() for key, each in pooled.items()}
        directions = {
            result.key: result.higher_is_better for result in source.results if result.key in values
        }
        texts = {key: f"{text}; {source.policies}" for key, text in source.definitions().items()}
        truth = "" if source.truth is None else source.truth.sha256()
        return RunValues(source.users, values, directions, pooled=pooled, definitions=texts, truth=truth)
    if isinstance(source, (str, Path)):
        return _read_path(Path(source))
    if not is_frame(source) and not hasattr(source, "to_frame"):
        raise SchemaError(
            "compare: a run must be a data frame, an Evaluation, a run's output folder, or a file with a row "
            f"per user; got {type(source).__name__}. Of a dict by user write pandas.Series(values, "
            "name='ndcg@10')."
        )
    return _of_table(source, "the data frame")


def read_users(source: Any, subject: str, missing: Collection[str] = ()) -> tuple[OwnTable, str]:
    """Return a table with a row per user, and the name of its column of users.

    Users of a data frame of pandas are its index unless it has a column of users; an index that only counts
    the rows is none.

    Raises
    ------
    SchemaError
        If there is no column of users, or several could be meant.
    """
    if hasattr(source, "index") and hasattr(source, "to_frame") and not hasattr(source, "columns"):
        source = source.to_frame("value" if source.name is None else str(source.name))
    if not isinstance(source, (str, Path)):
        source = as_arrow(_with_users(source, subject), subject)
    table = read_table(source, subject, missing=missing)
    return table, table.key("user")


def _with_users(frame: Any, subject: str) -> Any:
    """Return a frame of pandas whose index is a column where it is users, and else is left out."""
    if not hasattr(frame, "iloc"):
        return frame
    if any(_is_user(str(name)) for name in frame.index.names if name is not None):
        return frame
    if any(_is_user(str(name)) for name in frame.columns):
        return frame.reset_index(drop=True)
    if frame.index.nlevels > 1 or is_count(frame.index):
        raise SchemaError(
            f"{subject}: no column is known as the user, and the index only counts the rows. Name the column "
            "user_id; if the index is the users, name it: frame.rename_axis('user_id')."
        )
    return frame.rename_axis("user_id")


def is_count(index: Any) -> bool:
    """Whether an index of pandas only counts the rows: without a name, from 0 to the last row."""
    import pandas as pd

    return index.names == [None] and bool(index.equals(pd.RangeIndex(len(index))))


def _of_table(source: Any, subject: str, *, from_file: bool = False) -> RunValues:
    table, user = read_users(source, subject)
    columns = metric_columns(table.names, user, table.subject)
    # what is no metric and chooses no rows may hold words, such as a user's region
    others = [key for key in columns if usual_direction(key) is None and not is_label(key)]
    unused = [key for key in others if not _has_numbers(table, columns[key])]
    unused = unused if len(unused) < len(columns) else []  # the first is then refused
    about = about_values(_schema(source, table))
    return RunValues(
        table.ids(user),
        {key: numbers_in(table, name) for key, name in columns.items() if key not in unused},
        about.get("higher_is_better", {}),
        definitions=about.get("definitions", {}),
        truth=about.get("truth", ""),
        from_file=from_file,
        unused=tuple(columns[key] for key in unused),
    )


def _schema(source: Any, table: OwnTable) -> "pa.Schema":
    """Return the schema of a table, with what a file of Parquet says of its values."""
    if not isinstance(source, str) or Path(source).suffix not in PARQUET:
        return table.cells.schema
    from pyarrow import parquet

    return parquet.read_schema(source)


def _has_numbers(table: OwnTable, name: str) -> bool:
    """Whether a column has a number, or is empty."""
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_nested(column.type) or pa.types.is_temporal(column.type):
        return False
    if pa.types.is_boolean(column.type):
        return True
    return column.null_count == len(column) or bool(np.isfinite(numbers_of(column)).any())


def metric_columns(names: Sequence[str], user: str, where: str) -> dict[str, str]:
    """Return the columns beside that of users by their keys as metrics."""
    if items := {"item", "item_id", "items"} & {*names}:
        raise SchemaError(
            f"{where}: has a column {items.pop()}, so it holds lists or relevant items and no users' values. "
            "Judge lists with recgauge evaluate --run LISTS --truth ITEMS."
        )
    metrics = [name for name in names if name != user]
    if not metrics:
        raise SchemaError(
            f"{where}: expected a row per user, and a column of numbers per metric beside {user}; there is "
            "no metric."
        )
    keys = list(map(as_key, metrics))
    if twice := [name for name, key in zip(metrics, keys, strict=True) if keys.count(key) > 1]:
        raise SchemaError(f"{where}: {listed(twice)} are one metric. Leave one of the columns out.")
    return dict(zip(keys, metrics, strict=True))


def numbers_in(table: OwnTable, name: str) -> DoubleArray:
    """Return a column as numbers, true and false as 1 and 0."""
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_boolean(column.type):
        numbers: DoubleArray = to_numpy(column.cast(pa.int8()).cast(pa.float64()).fill_null(np.nan))
        return numbers
    try:
        return table.numbers(name)
    except SchemaError as error:
        raise SchemaError(f"{error} Values of users are numbers; leave other columns out.") from error


def values_by_user(values: Any) -> "pd.DataFrame":
    """Return values of one metric by user id, a column per run, from a data frame or a series of each run."""
    import pandas as pd

    if is_frame(values) and not hasattr(values, "iloc"):
        table, user = read_users(values, "values")
        numbers = {name: numbers_in(table, name) for name in table.names if name != user}
        return pd.DataFrame(numbers, index=pd.Index(table.ids(user)))
    if isinstance(values, Mapping) and all(isinstance(own, pd.Series) for own in values.values()):
        values = pd.DataFrame(dict(values))
    if not isinstance(values, pd.DataFrame):
        raise SchemaError(
            "values must be a data frame with a row per user and a column per run, or a series by user of "
            f"each run; got {type(values).__name__}."
        )
    users = [name for name in values.columns if _is_user(str(name))]
    frame: pd.DataFrame = values.set_index(users[0]) if len(users) == 1 else values
    if wrong := [str(run) for run in frame if frame[run].dtype.kind not in "fiub"]:
        raise SchemaError(f"values of runs must be numbers; {listed(wrong)} are not.")
    return frame


def series_by_id(groups: Any, by: str) -> "pd.Series":
    """Return groups by id of users or items, each with one."""
    import pandas as pd

    if isinstance(groups, Mapping):
        groups = pd.Series(list(groups.values()), pd.Index(list(groups), dtype=object), dtype=object)
    if not isinstance(groups, pd.Series):
        raise SchemaError(
            f"{by}: groups must be a series by id, or a mapping of id to group; got {type(groups).__name__}."
        )
    if groups.index.has_duplicates:
        twice = shown(groups.index[groups.index.duplicated()][0])
        raise SchemaError(f"{by}: {twice} is there several times. Give each id one group.")
    return groups


def _read_path(path: Path) -> RunValues:
    if path.is_dir():
        return FinishedRun.read(path).values()
    if not path.exists():
        raise SchemaError(f"{path}: no such file. Give a run's output folder, or a file with a row per user.")
    return _of_table(str(path), "users' values", from_file=True)


_OF_LONG = ("model", "run", "value", "metric")  # beside the user


def read_long(source: Any) -> dict[str, RunValues]:
    """Read a table with a row per value, by run; the order of its rows does not matter.

    Parameters
    ----------
    source : data frame, or path of a file
        Columns ``user`` (or another usual name), ``model`` (or ``run``), ``value``, and, of several metrics,
        ``metric``.

    Raises
    ------
    SchemaError
        If a column is missing or not known, or there are two values where there should be one.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("ann", "svd", 0.5), ("bob", "svd", 1.0), ("ann", "popularity", 0.0)]
    >>> read_long(pd.DataFrame(rows, columns=["user", "model", "value"]))["svd"].values
    {'value': array([0.5, 1. ])}
    """
    import pandas as pd

    if hasattr(source, "iloc") and hasattr(source, "columns") and source.index.names == [None]:
        source = source.reset_index(drop=True)
    if not isinstance(source, (str, Path)) and not is_frame(source):
        raise SchemaError(
            "compare: give runs by name, such as {'a': A, 'b': B}, or a long table as a data frame or a "
            f"path; got {type(source).__name__}."
        )
    if not is_frame(source) and Path(source).is_dir():
        raise SchemaError(
            f"compare: {source} is a folder. Give runs by name, such as {{'svd': '{source}/0', 'ease': "
            f"'{source}/1'}}; in the terminal, recgauge compare {source} takes a whole sweep."
        )
    table = read_table(source, "the table")
    model = "run" if "model" not in table.names else "model"
    users = [name for name in table.names if name not in _OF_LONG and _is_user(name)]
    unknown = [name for name in table.names if name not in (model, "value", "metric", *users)]
    if not {model, "value"} <= {*table.names} or not users or unknown:
        leave = f" Leave {listed(unknown)} out." if unknown else ""
        raise SchemaError(
            f"{table.subject}: expected columns user, model, value and, of several metrics, metric; it has "
            f"{listed(table.names)}.{leave}"
        )
    frame = pd.DataFrame({"model": _texts(table, model), "user": table.ids(table.key("user"))})
    frame["metric"] = list(map(as_key, _texts(table, "metric"))) if "metric" in table.names else "value"
    frame["value"] = numbers_in(table, "value")
    repeated = frame.duplicated(["model", "user", "metric"])
    if repeated.any():
        row = frame[repeated].iloc[0]
        raise SchemaError(
            f"{table.subject}: {int(repeated.sum()):,} values repeat another's place: model {row['model']}, "
            f"user {row['user']}, metric {row['metric']}."
        )
    runs: dict[str, RunValues] = {}
    for name, rows in frame.groupby("model"):
        wide = rows.pivot(index="user", columns="metric", values="value")
        values = {str(metric): wide[metric].to_numpy(np.float64) for metric in wide.columns}
        runs[str(name)] = RunValues(as_ids("user", wide.index), values)
    return runs


def _texts(table: OwnTable, name: str) -> list[str]:
    cells = table.column(name).to_pylist()
    if None in cells:
        place = table.place(cells.index(None))
        raise SchemaError(f"{place}: {name} must be given in every row; it is empty.")
    return list(map(str, cells))
