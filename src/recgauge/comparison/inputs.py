"""Per-user values of one run, read from wherever they are."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recgauge.data.ids import IdArray, as_ids
from recgauge.errors import SchemaError, listed
from recgauge.evaluation import Evaluation
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.runs.record import RunRecord

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
    """

    users: IdArray
    values: dict[str, DoubleArray]
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    seed: int | None = None
    fold: int | None = None
    record: "RunRecord | None" = None

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
        results = [one for one in source.results if one.per_user is not None]
        values = {one.key: one.per_user for one in results if one.per_user is not None}
        return RunValues(source.users, values, {one.key: one.higher_is_better for one in results})
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
        stored = RunFolder.read(path)
        run = _of_frame(stored.per_user(), str(path))
        directions = {one.key: one.higher_is_better for one in stored.record.results}
        return RunValues(run.users, run.values, directions, record=stored.record)
    table = path / "per_user.parquet" if path.is_dir() else path
    return _of_frame(read_table(table), str(table))


def read_table(table: Path) -> "pd.DataFrame":
    """Read a parquet or CSV file.

    Raises
    ------
    SchemaError
        If there is none, or it is no table.
    """
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
