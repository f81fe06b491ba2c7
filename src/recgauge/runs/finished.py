"""A finished run: its record, its folder, and what the files of the folder hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.errors import SchemaError, listed, printable
from recgauge.metrics.rating import Pooled
from recgauge.report.shown import Shown
from recgauge.runs import stored
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import AGAIN, LISTS, RECORD, TEST, StoredLists
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray
from recgauge.utils.files import irregular, read_own

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.report.blocks import Block


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
    definitions : mapping of str to str
        How metrics were measured, as far as known.
    truth : str
        The digest of the relevant items, as far as known.
    from_file : bool
        Whether ids are as a file writes them: a number is then equal to the same text in another file.
    unused : tuple of str
        Columns of a table that hold no numbers, such as a user's region.
    """

    users: IdArray
    values: dict[str, DoubleArray]
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    seed: int | None = None
    fold: int | None = None
    record: RunRecord | None = None
    pooled: dict[str, Pooled] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    truth: str = ""
    from_file: bool = False
    unused: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the repeat in words, such as ``seed 1, fold 0``; empty if it is none."""
        parts = (("seed", self.seed), ("fold", self.fold))
        return ", ".join(f"{name} {value}" for name, value in parts if value is not None)


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRun(Shown):
    """A finished run and the folder of its files.

    Parameters
    ----------
    record : RunRecord
        Its settings and its numbers.
    folder : Path
    run_id : str or None
        Its id in the tracking store; None of a run that is not tracked.
    label : str
        How messages name it.
    """

    record: RunRecord = field(repr=False)
    folder: Path
    run_id: str | None = None
    label: str = ""

    @classmethod
    def read(cls, folder: Path | str, run_id: str | None = None, label: str = "") -> Self:
        """Read the record of a run's folder."""
        folder = Path(folder)
        path = folder / RECORD
        if folder.is_dir():
            # pipes, sockets, devices and broken links would count as files that lack
            kinds = {file: irregular(file) for file in folder.iterdir()}
            for odd, kind in kinds.items():
                if kind not in ("", "folder"):
                    name = printable(odd.name)
                    raise SchemaError(f"{folder}: {name} is not a regular file but a {kind}. Remove it.")
        if not path.is_file():
            runs = sorted(str(record.parent) for record in folder.glob(f"*/{RECORD}"))
            remedy = f" Finished runs in it: {listed(runs)}." * bool(runs)
            raise SchemaError(f"{folder}: is not the folder of a finished run: it has no {RECORD}.{remedy}")
        try:
            record = RunRecord.from_json(read_own(path))
        except (SchemaError, UnicodeDecodeError, OSError) as error:
            raise SchemaError(f"{path}: {error} {AGAIN}") from error
        return cls(record, folder, run_id, label)

    @property
    def numbers(self) -> dict[str, float]:
        """The number of each metric, such as ``{"ndcg_at_10": 0.1831}``."""
        return self.record.values()

    def blocks(self, *, brief: bool = False) -> "list[Block]":
        """Return metrics by cutoffs, marks, data and steps; `brief`: without data and steps."""
        from recgauge.report.run_tables import run_blocks

        return run_blocks(self.record, [f"files    {self.folder}"], brief=brief)

    @property
    def has_lists(self) -> bool:
        """Whether whole lists are stored."""
        return (self.folder / LISTS).is_file() and (self.folder / TEST).is_file()

    def user_metrics(self) -> list[str]:
        """Return the metrics that are known for each user, in the order of the suite."""
        keys = {*stored.user_columns(self.folder), *stored.pooled_keys(self.folder, self.record)}
        return [entry.key for entry in self.record.results if entry.key in keys]

    def values(
        self, keys: Sequence[str] | None = None, *, seed: int | None = None, fold: int | None = None
    ) -> RunValues:
        """Return the values of users, by default by all metrics that are known for each user.

        Parameters
        ----------
        keys : sequence of str, optional
        seed, fold : int, optional
            Which repeat of a model the run is.

        Raises
        ------
        SchemaError
            If a file is damaged, or lacks a metric.
        """
        record, folder = self.record, self.folder
        errors = [key for key in stored.pooled_keys(folder, record) if keys is None or key in keys]
        columns = [
            key for key in (stored.user_columns(folder) if keys is None else keys) if key not in errors
        ]
        table = stored.user_table(folder, record, columns)
        users = to_numpy(table["user_id"])
        values = {key: to_numpy(table[key]).astype(np.float64, copy=False) for key in columns}
        pooled = stored.pooled_errors(folder, record, errors, users) if errors else {}
        values |= {key: parts.per_user() for key, parts in pooled.items()}
        if stored.QUERIES in table.column_names:
            counts = to_numpy(table[stored.QUERIES])
            pooled |= {key: stored.query_parts(values[key], counts) for key in columns}
        directions = {entry.key: entry.higher_is_better for entry in record.results}
        definitions = {entry.key: f"{entry.definition}; {record.policies}" for entry in record.results}
        return RunValues(users, values, directions, seed, fold, record, pooled, definitions, from_file=True)

    def per_user(self, keys: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return per-user values: a row per user id, a column per metric."""
        table: pd.DataFrame = stored.user_table(self.folder, self.record, keys).to_pandas()
        return table.set_index("user_id").drop(columns=stored.QUERIES, errors="ignore")

    def recommended(self) -> "pd.DataFrame":
        """Return the lists: user_id, item_id, rank from 1, score; no rows of places that hit nothing."""
        table: pd.DataFrame = stored.listed_items(stored.read_table(self.folder / LISTS)).to_pandas()
        return table

    def recommended_to(self, user: object) -> "pd.DataFrame":
        """Return the list of a user as `recommended` does, in the memory of some of the lists at a time."""
        import pyarrow as pa
        import pyarrow.compute as pc

        with stored.opened(self.folder / LISTS) as file:
            own = [batch.filter(pc.equal(batch["user_id"], user)) for batch in file.iter_batches()]
            table: pd.DataFrame = stored.listed_items(
                pa.Table.from_batches(own, file.schema_arrow)
            ).to_pandas()
            return table

    def test(self) -> "pd.DataFrame":
        """Return the held-out rows: user_id, item_id, rating."""
        return self._table(TEST)

    def lists(self) -> "StoredLists":
        """Return lists and held-out rows, to evaluate them under several definitions."""
        names = {"user_id": "user", "item_id": "item"}
        listed, test = stored.read_table(self.folder / LISTS), self.test()
        listed = stored.with_placeholders(listed, test["item_id"].to_numpy())
        return StoredLists(listed.to_pandas().rename(columns=names)[["user", "item", "score"]], test)

    def judged(self, relevant_from: float | None) -> "pd.DataFrame":
        """Return user_id, item_id and grade of each judged pair once."""
        return stored.judged_rows(self.test(), relevant_from)[["user_id", "item_id", "grade"]]

    def _table(self, name: str) -> "pd.DataFrame":
        table: pd.DataFrame = stored.read_table(self.folder / name).to_pandas()
        return table
