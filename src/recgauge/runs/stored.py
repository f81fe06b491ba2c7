"""The files of a finished run, read back: values of users, lists, held-out rows, predictions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isclose, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.data.interactions import Interactions, is_relevant
from recgauge.errors import SchemaError, listed
from recgauge.evaluation.evaluate import convert
from recgauge.evaluation.values import EvaluationInputs
from recgauge.metrics.rating import JudgedRatings, Pooled, pooled_metric
from recgauge.runs.record import RunRecord
from recgauge.utils.arrow import arrow_table, to_arrow, to_numpy
from recgauge.utils.checks import DoubleArray
from recgauge.utils.resources import check_memory

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

LISTS, TEST, PER_USER = "recommendations.parquet", "test.parquet", "per_user.parquet"
QUERIES = "queries"
"""Column of per_user.parquet: how many queries a user has, where numbers are means over queries."""
PREDICTIONS, RECORD = "predictions.parquet", "record.json"
AGAIN = "Copy the run's folder once more, or run it again."


@dataclass(frozen=True, slots=True, eq=False)
class StoredLists:
    """Lists and held-out rows of a run, read once."""

    lists: "pd.DataFrame"  # with the columns user, item, score
    test: "pd.DataFrame"  # with the columns user_id, item_id, rating

    def inputs(self, relevant_from: float | None) -> EvaluationInputs:
        """Return lists and relevance as an evaluation takes them."""
        judged = judged_rows(self.test, relevant_from)
        return convert(
            self.lists,
            judged.rename(columns={"user_id": "user", "item_id": "item"})[["user", "item", "grade"]],
            users=list(self.test["user_id"].unique()),
            threshold=0.0,
            relevant_from=relevant_from,
        )


def judged_rows(test: "pd.DataFrame", relevant_from: float | None) -> "pd.DataFrame":
    """Return test rows with their grades; of an item that a user has in several rows, the highest counts."""
    graded = test.assign(grade=grades(test["rating"].to_numpy(), relevant_from))
    if not graded.duplicated(["user_id", "item_id"]).any():
        return graded
    judged = graded.sort_values("grade", ascending=False, kind="stable")
    return judged.drop_duplicates(["user_id", "item_id"]).sort_index()


def grades(ratings: "npt.NDArray[Any]", relevant_from: float | None) -> DoubleArray:
    """Return what rows count as in a run: 0, which is not relevant, where the rating is below the bound.

    From a bound below 0 on, 0 is relevant: ratings stay as they are.
    """
    if relevant_from is None:
        return np.ones(len(ratings))
    kept = is_relevant(ratings, relevant_from) | (relevant_from < 0)
    return np.where(kept, ratings.astype(np.float64), 0.0)


def held_out_rows(test: Interactions) -> "pa.Table":
    """Return the rows of a test part as test.parquet has them."""
    return arrow_table(
        {"user_id": test.user_ids[test.user], "item_id": test.item_ids[test.item], "rating": test.value}
    )


def user_columns(folder: Path) -> list[str]:
    """Return the metrics that a run has stored for each user, in their order."""
    with opened(folder / PER_USER) as file:
        return [name for name in file.schema_arrow.names if name not in ("user_id", QUERIES)]


def user_table(folder: Path, record: RunRecord, keys: Sequence[str] | None = None) -> "pa.Table":
    """Read a run's per-user values (all, or of some metrics), which must be those of its record."""
    import pyarrow as pa

    path = folder / PER_USER
    with opened(path) as file:
        weights = [QUERIES] if QUERIES in file.schema_arrow.names else []
    table = read_table(path, None if keys is None else ["user_id", *keys, *weights])
    wrong = [
        field.name
        for field in table.schema
        if field.name not in ("user_id", QUERIES) and not pa.types.is_floating(field.type)
    ]
    if wrong or "user_id" not in table.column_names:
        reason = f"{listed(wrong)} should be numbers" if wrong else "it has no column user_id"
        raise SchemaError(f"{path}: is not what a run has written: {reason}. {AGAIN}")
    for entry in record.results:
        # other results are no means over users: totals, ratios of sums, means that a convention rounds
        if entry.key in table.column_names and entry.stderr is not None:
            mean = _mean(table[entry.key], *(table[name] for name in weights))
            if "round_mean" not in entry.definition and not isclose(mean, entry.value, abs_tol=1e-12):
                raise SchemaError(
                    f"{path}: the mean of {entry.key} over its {len(table):,} users is {mean:.6g}, and "
                    f"record.json has {entry.value:.6g}. The files are damaged or of different runs. {AGAIN}"
                )
    return table


def query_parts(means: DoubleArray, counts: "npt.NDArray[Any]") -> Pooled:
    """Return what each user adds to a mean over queries, of which a user has `counts`."""
    rows = np.where(np.isnan(means), 0.0, counts.astype(np.float64))
    return Pooled(np.nan_to_num(means) * rows, rows)


def pooled_keys(folder: Path, record: RunRecord) -> list[str]:
    """Return the results that are errors over all ratings and can be taken apart by user."""
    if not (folder / PREDICTIONS).is_file():
        return []
    return [entry.key for entry in record.results if pooled_metric(entry.definition) is not None]


def pooled_errors(
    folder: Path, record: RunRecord, keys: Sequence[str], users: "npt.NDArray[Any]"
) -> dict[str, Pooled]:
    """Return what each user adds to errors over all ratings, from the run's predictions.

    `users` are distinct ids; those without a prediction have zero rows.
    """
    path = folder / PREDICTIONS
    table = read_table(path, ["user_id", "rating", "predicted"])
    owners, owner = np.unique(to_numpy(table["user_id"]), return_inverse=True)
    order = np.argsort(users, kind="stable")
    place = order[np.minimum(np.searchsorted(users, owners, sorter=order), len(users) - 1)]
    if (users[place] != owners).any():
        raise SchemaError(f"{path}: has users who are not in {PER_USER}. {AGAIN}")
    actual, predicted = (to_numpy(table[name]).astype(np.float64) for name in ("rating", "predicted"))
    judged = JudgedRatings.by_user(actual, predicted, owner)
    parts_by_key = {}
    for key in keys:
        entry = record.result(key)
        metric = None if entry is None else pooled_metric(entry.definition)
        parts = None if metric is None else metric.pooled(judged)
        if entry is None or parts is None:
            raise SchemaError(f"{folder}: {key} is no error over all ratings.")
        if not isclose(float(parts.value()), entry.value, rel_tol=1e-9, abs_tol=1e-12):
            raise SchemaError(
                f"{path}: {key} of its rows is {float(parts.value()):.6g}, and record.json has "
                f"{entry.value:.6g}. The files are damaged or of different runs. {AGAIN}"
            )
        sums, counts = np.zeros(len(users)), np.zeros(len(users))
        sums[place], counts[place] = parts.sums, parts.counts
        parts_by_key[key] = Pooled(sums, counts, parts.exponent)
    return parts_by_key


def _mean(column: "pa.ChunkedArray", weights: "pa.ChunkedArray | None" = None) -> float:
    """Return the mean of the values that are no NaN; NaN if there are none."""
    import pyarrow.compute as pc

    if weights is not None:
        return float(query_parts(to_numpy(column), to_numpy(weights)).value())
    mean = pc.mean(column.filter(pc.is_finite(column))).as_py()
    return nan if mean is None else float(mean)


def read_table(path: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Read a parquet file of a run."""
    with opened(path) as file:
        if missing := [name for name in columns or () if name not in file.schema_arrow.names]:
            raise SchemaError(f"{path}: has no column {listed(missing)}. {AGAIN}")
        # a few bytes can stand for any number of rows
        check_memory(path, file.metadata.num_rows, 8 * len(columns or file.schema_arrow.names))
        return file.read(columns=columns)


def listed_items(lists: "pa.Table") -> "pa.Table":
    """Return rows of lists without those of places that count and hit nothing."""
    return lists.filter(lists["item_id"].is_valid()) if lists["item_id"].null_count else lists


def with_placeholders(lists: "pa.Table", item_ids: "npt.NDArray[Any]") -> "pa.Table":
    """Return rows of lists whose places that hit nothing hold ids of no item, another for each rank.

    Examples
    --------
    >>> import pyarrow as pa
    >>> lists = pa.table({"item_id": [7, None, 5], "rank": [1, 2, 3]})
    >>> with_placeholders(lists, np.array([9]))["item_id"].to_pylist()
    [7, 11, 5]
    """
    import pyarrow.compute as pc

    items, rank = lists["item_id"], to_numpy(lists["rank"])
    if not items.null_count:
        return lists
    ids = np.concatenate((item_ids, to_numpy(items.drop_null()).astype(item_ids.dtype)))
    if ids.dtype.kind in "iu":
        placeholders = rank.astype(np.int64) + ids.max(initial=0)
    else:
        longest = max(map(len, ids.tolist()), default=0)
        placeholders = np.array(["_" * longest + f"_{number}" for number in rank.tolist()])
    filled = pc.coalesce(items, to_arrow(placeholders).cast(items.type))
    return lists.set_column(lists.column_names.index("item_id"), "item_id", filled)


@contextmanager
def opened(path: Path) -> "Iterator[pq.ParquetFile]":
    """Open a parquet file of a run; SchemaError if it is missing or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise SchemaError(f"{path.parent}: the run has stored no {path.name}.")
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise SchemaError(f"{path}: is damaged: {' '.join(str(error).split())} {AGAIN}") from error
