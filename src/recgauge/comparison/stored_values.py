"""Users' values in Parquet, read in parts of the users: what `recgauge evaluate` leaves, or any program."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.reading import may_be_words, metric_columns, user_column
from recgauge.comparison.user_values import UserValues, choose_common, in_common, unused_note
from recgauge.data.ids import as_ids
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.evaluation import about_values
from recgauge.files.columns import Roles
from recgauge.files.stored import PARQUET, StoredTable, distinct, find_stored, is_text, plain_type
from recgauge.metrics.names import Directions, as_key
from recgauge.recorded.partition import Partition
from recgauge.runs.finished import RunValues
from recgauge.runs.protocol import Protocol
from recgauge.runs.stored import RECORD
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray
from recgauge.utils.files import user_path

if TYPE_CHECKING:
    import pyarrow as pa

_LONG = ("run", "metric", "value")  # beside the user: a row per run, user and metric
_BATCH = 1 << 18
_BYTES_PER_CELL = 150  # of memory at the peak of comparing a part, with room to spare


@dataclass(frozen=True, eq=False)
class _File:
    """One file of a table, and what it holds."""

    table: StoredTable
    place: int
    user: str
    runs: Mapping[str, str]  # by their names; of a long table, values of its column run
    metrics: Mapping[str, str]  # columns by key; of a long table, values of its column metric
    is_long: bool
    n_rows: int
    columns: Sequence[str]
    about: Mapping[str, Any]
    has_text: bool  # whether ids of users are text

    @property
    def where(self) -> str:
        return self.table.where(self.place)

    @property
    def folder(self) -> str:
        return str(PurePosixPath(self.table.paths[self.place]).parent)

    def facts(self, name: str) -> dict[str, Any]:
        """Return what the file says of its metrics."""
        facts = self.about.get(name)
        return facts if isinstance(facts, dict) else {}

    def read(self, keys: Collection[str], partition: Partition, part: int) -> "pa.Table":
        """Return the rows of the users of a part, with the columns that are needed."""
        import pyarrow as pa

        names = [self.user, *(_LONG if self.is_long else (self.metrics[key] for key in keys))]
        batches = []
        with self.table.open(self.place) as opened:
            schema = pa.schema([opened.schema_arrow.field(name) for name in names])
            for batch in opened.iter_batches(_BATCH, columns=names):
                rows = batch.select(names)
                if partition.n_parts > 1:
                    users = pa.chunked_array([rows.column(0)])
                    rows = rows.filter(pa.array(partition.parts(users) == part))
                batches.append(rows)
        return pa.Table.from_batches(batches, schema)


@dataclass(frozen=True, eq=False)
class StoredValues:
    """Runs' values of users, some users at a time: iterating yields a `UserValues` for each part.

    Parameters
    ----------
    files : tuple of _File
    runs : tuple of str
    metrics : mapping of str to bool
        Whether more is better, by key.
    protocols : mapping of str to Protocol
        What the runs' numbers stand on, as far as files say so.
    memory_mib : int
        What a part may take, beside the program itself.
    """

    files: tuple[_File, ...]
    runs: tuple[str, ...]
    metrics: Mapping[str, bool]
    protocols: Mapping[str, Protocol]
    memory_mib: int = 1024

    @classmethod
    def of(
        cls,
        sources: Sequence[str],
        metrics: Sequence[str] | Callable[[Sequence[str]], Sequence[str]] | None = None,
        *,
        directions: Directions | None = None,
        option: str = "SOURCE",
        memory_mib: int = 1024,
    ) -> "StoredValues":
        """Find runs in folders, files, patterns and addresses of Parquet.

        A file has a row per user, a column ``user_id`` or ``user``, and a column of numbers per metric; or a
        row per value, with columns ``run``, ``user_id``, ``metric`` and ``value``. A run in a folder is
        called as its files say, as recgauge's do, else as the folder in the source; a file by its own name.
        `metrics` are those that are read, or choose them from those in common; None: all.

        Raises
        ------
        RecgaugeError
            If there is no such file, one cannot be read or has other columns, parts are missing, `metrics`
            are not in every run, or of one nobody knows whether more is better.
        """
        files = _with_distinct_names([file for source in sources for file in _files(source, option)])
        runs = tuple(dict.fromkeys(run for file in files for run in file.runs))
        if not runs:
            raise SchemaError(f"{option}={', '.join(sources)}: the files have no row.")
        _refuse_incomplete(files)
        files_of = {run: [file for file in files if run in file.runs] for run in runs}
        metrics_of = [(run, file.metrics) for run, of_run in files_of.items() for file in of_run]
        keys = metrics(in_common(metrics_of)) if callable(metrics) else choose_common(metrics, metrics_of)
        stored = {key: better for file in files for key, better in file.facts("higher_is_better").items()}
        higher = (directions or Directions()).higher_is_better(keys, stored)
        protocols = {run: _protocol(of_run, keys) for run, of_run in files_of.items()}
        return cls(tuple(files), runs, higher, protocols, memory_mib)

    @property
    def common(self) -> tuple[str, ...]:
        """Every metric that all runs have, whether it is read or not."""
        return tuple(in_common([(file.where, file.metrics) for file in self.files]))

    @property
    def notes(self) -> tuple[str, ...]:
        """Which columns are not used."""
        return unused_note(
            name
            for file in self.files
            for name in file.columns
            if name not in (file.user, *(_LONG if file.is_long else file.metrics.values()))
        )

    def named(self, run: str) -> "StoredValues":
        """Return the values of one run by another name."""
        files = tuple(replace(file, runs={run: next(iter(file.runs.values()))}) for file in self.files)
        return replace(self, files=files, runs=(run,), protocols={run: self.protocols[self.runs[0]]})

    def __add__(self, other: "StoredValues") -> "StoredValues":
        """Return the runs of both by the metrics that both have."""
        metrics = {key: better for key, better in self.metrics.items() if key in other.metrics}
        runs, protocols = (*self.runs, *other.runs), {**self.protocols, **other.protocols}
        return StoredValues((*self.files, *other.files), runs, metrics, protocols, self.memory_mib)

    @cached_property
    def _is_divided(self) -> bool:
        """Whether files are parts of one division, which hold the same users in every run."""
        divisions = {(file.about.get("division"), file.about.get("n_parts")) for file in self.files}
        return len(divisions) == 1 and None not in next(iter(divisions))

    @cached_property
    def n_parts(self) -> int:
        """How many parts there are."""
        if self._is_divided:
            return int(self.files[0].about["n_parts"])
        cells = sum(file.n_rows * (1 if file.is_long else 1 + len(self.metrics) // 4) for file in self.files)
        return max(1, -(-cells * _BYTES_PER_CELL // (self.memory_mib << 20)))

    def __iter__(self) -> Iterator[UserValues]:
        """Yield the values of each part's users."""
        for part in range(self.n_parts):
            yield self.part(part)

    def part(self, part: int) -> UserValues:
        """Return the values of a part's users."""
        import pyarrow as pa

        text = any(file.has_text for file in self.files)  # of whom numbers are then some, too
        partition, files = Partition(self.n_parts), self.files
        if self._is_divided:
            partition, files = Partition(1), tuple(file for file in files if file.about["part"] == part)
        of_runs: dict[str, list[RunValues]] = {run: [] for run in self.runs}
        for file in files:
            rows = file.read(self.metrics, partition, part)
            if text and pa.types.is_integer(rows.column(0).type):
                rows = rows.set_column(0, file.user, rows.column(0).cast(pa.large_string()))
            for run, values in _runs_in(file, rows, self.metrics):
                of_runs[run].append(values)
        pa.default_memory_pool().release_unused()
        joined = {run: _joined(values, self.metrics) for run, values in of_runs.items()}
        return UserValues.paired(joined, self.metrics)


def holds_values(source: str) -> bool:
    """Whether a source is Parquet of users' values, and no run, sweep, id or experiment."""
    path = user_path(source)
    if "://" in source or path.is_file():
        return "://" in source or path.suffix in PARQUET
    if not path.is_dir() or any(path.rglob(RECORD)):
        return False
    return any(file.suffix in PARQUET for file in path.rglob("*"))


def _files(source: str, option: str) -> Iterator[_File]:
    """Yield the files of a source with what they hold."""
    import pyarrow as pa

    table = find_stored(source, Roles({}, ()), option)
    for place, path in enumerate(table.paths):
        above = PurePosixPath(path).parts[:-1]
        inside = above[len(above) - above[::-1].index(table.name) :] if table.name in above else ()
        with table.open(place) as opened:
            schema, n_rows = opened.schema_arrow, opened.metadata.num_rows
            about, where = about_values(schema), table.where(place)
            user = user_column(schema.names, where)
            _refuse_no_ids(schema.field(user), where)
            if is_long := {*_LONG} <= {*schema.names}:
                runs, keys = (_texts(opened, name) for name in _LONG[:2])
                metrics = {as_key(key): key for key in keys}
            else:
                is_source = table.paths == (path,) and PurePosixPath(path).stem == table.name
                name = table.name if is_source else about.get("run") or (inside[0] if inside else table.name)
                runs, metrics = (name,), _metric_columns(schema, user, where)
        named, text = {run: run for run in runs}, not pa.types.is_integer(schema.field(user).type)
        yield _File(table, place, user, named, metrics, is_long, n_rows, schema.names, about, text)


def _with_distinct_names(files: Sequence[_File]) -> list[_File]:
    """Return files whose runs are also named by their sources where several have a run of one name."""
    sources: dict[str, set[str]] = {}
    for file in files:
        for run in file.runs:
            sources.setdefault(run, set()).add(file.table.address)

    def name(run: str, file: _File) -> str:
        return f"{run} ({file.table.address})" if len(sources[run]) > 1 else run

    return [replace(file, runs={name(run, file): cell for run, cell in file.runs.items()}) for file in files]


def _metric_columns(schema: "pa.Schema", user: str, where: str) -> dict[str, str]:
    """Return the columns of numbers, by key; others are left out where they may be something else."""
    import pyarrow as pa

    columns = metric_columns(schema.names, user, where)
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean)
    numbers = {
        key: name for key, name in columns.items() if any(test(schema.field(name).type) for test in tests)
    }
    if numbers and all(map(may_be_words, columns.keys() - numbers.keys())):
        return numbers
    if wrong := [name for key, name in columns.items() if key not in numbers]:
        raise SchemaError(
            f"{where}: expected a row per user, and a column of numbers per metric beside {user}; not "
            f"numbers: {listed(wrong)}. Leave such columns out."
        )
    return columns


def _refuse_no_ids(field: "pa.Field", where: str) -> None:
    """Refuse users that are neither whole numbers nor texts."""
    import pyarrow as pa

    kind = plain_type(field.type)
    if not (pa.types.is_integer(kind) or is_text(kind)):
        raise SchemaError(
            f"{where}: ids must be whole numbers or texts, but the column {field.name} holds {kind}. Write "
            "it as such."
        )


def _texts(opened: Any, column: str) -> tuple[str, ...]:
    """Return the texts in a column, in the order in which they appear."""
    batches = opened.iter_batches(_BATCH, columns=[column])
    return tuple(map(str, distinct(batch.column(0) for batch in batches).to_pylist()))


def _refuse_incomplete(files: Sequence[_File]) -> None:
    """Refuse parts of an evaluation that has not ended, and runs of one name in several folders."""
    folders_of: dict[str, dict[str, list[_File]]] = {}
    for file in files:
        if "part" in file.about:
            folders_of.setdefault(next(iter(file.runs)), {}).setdefault(file.folder, []).append(file)
    for run, folders in folders_of.items():
        if len(folders) > 1:
            raise ConfigError(f"{run}: is in several folders: {listed(folders, most=4)}. Name one of them.")
        ((folder, of_run),) = folders.items()
        finished, needed = {file.about["part"] for file in of_run}, range(of_run[0].about["n_parts"])
        if lacking := [part for part in needed if part not in finished]:
            raise ConfigError(
                f"{folder}: {len(lacking)} of {len(needed)} parts of {run} are not finished. Start the same "
                "recgauge evaluate again, which goes on."
            )


def _protocol(files: Sequence[_File], keys: Collection[str]) -> Protocol:
    """Return what the numbers of a run stand on, as far as its files say so."""
    rules: dict[str, dict[str, None]] = {}
    for file in files:
        for key, text in file.facts("definitions").items():
            if key in keys:
                rules.setdefault(f"definition of {key}", {})[str(text)] = None
        if "truth" in file.about:
            rules.setdefault("relevant items", {})[str(file.about["truth"])[:12]] = None
    return {rule: ", ".join(texts) for rule, texts in rules.items()}


def _runs_in(file: _File, rows: "pa.Table", keys: Collection[str]) -> Iterator[tuple[str, RunValues]]:
    """Yield each run in some rows, with its users and their values."""
    import pyarrow.compute as pc

    if pc.any(pc.is_null(rows.column(file.user))).as_py():
        raise SchemaError(f"{file.where}: a row has no {file.user}. Remove such rows.")
    for run, cell in file.runs.items():
        if not file.is_long:
            users = as_ids(file.where, to_numpy(rows.column(file.user)))
            yield run, RunValues(users, {key: _numbers(rows, file.metrics[key], file, key) for key in keys})
            continue
        of_run, by_metric = rows.filter(pc.equal(rows.column("run"), cell)), {}
        for key in keys:
            of_metric = of_run.filter(pc.equal(of_run.column("metric"), file.metrics[key]))
            users = as_ids(file.where, to_numpy(of_metric.column(file.user)))
            by_metric[key] = RunValues(users, {"value": _numbers(of_metric, "value", file, key)})
        joined = UserValues.paired(by_metric, {"value": True})
        yield run, RunValues(joined.users, dict(zip(keys, joined.values[0], strict=True)))


def _numbers(rows: "pa.Table", name: str, file: _File, key: str) -> DoubleArray:
    """Return a column as numbers, NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = rows.column(name)
    try:
        numbers = pc.fill_null(column.cast(pa.float64()), float("nan"))
    except pa.ArrowException as error:
        raise SchemaError(f"{file.where}: {key} holds {column.type}, expected numbers.") from error
    return to_numpy(numbers)


def _joined(files: Sequence[RunValues], keys: Collection[str]) -> RunValues:
    """Return the rows of several files as one run."""
    filled = [values for values in files if len(values.users)]
    users = np.concatenate([values.users for values in filled]) if filled else np.empty(0, np.int64)
    columns = ([np.empty(0), *(values.values[key] for values in filled)] for key in keys)
    return RunValues(users, dict(zip(keys, map(np.concatenate, columns), strict=True)))
