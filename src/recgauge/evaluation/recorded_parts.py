"""Lists that do not fit into memory, measured part by part: finished parts are kept, so that work goes on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from recgauge._version import NUMERIC_VERSION
from recgauge.errors import DataError, RecgaugeError, SchemaError, said
from recgauge.evaluation.parts import Part, PartTask
from recgauge.files.columns import CellFormat, Choice, Role
from recgauge.files.plausible import check_unused
from recgauge.files.rows import Rows
from recgauge.files.stored import StoredTable, find_stored
from recgauge.recorded import Kind, refuse_unused, roles_of, rows_of_table
from recgauge.recorded.partition import Partition
from recgauge.utils.files import exclusive, written_whole
from recgauge.utils.progress import Progress


def find_tables(
    runs: Sequence[str], truth: str, columns: Mapping[Role, Choice], cells: CellFormat
) -> tuple[list[StoredTable], StoredTable]:
    """Return the tables of lists and of the truth in folders, at addresses or in files of Parquet."""
    tables = [find_stored(text, roles_of("lists", columns, cells), "--run") for text in runs]
    if len({table.name for table in tables}) < len(tables):
        tables = [replace(table, name=table.address) for table in tables]
    relevant = find_stored(truth, roles_of("relevant", columns, cells), "--truth")
    refuse_unused(columns, [*tables, relevant], "--")
    for table in (*tables, relevant):
        check_unused(table, table.roles)
    return tables, relevant


@dataclass(frozen=True, eq=False)
class StoredRuns:
    """Runs and the relevance that they are measured on, judged part by part.

    Parameters
    ----------
    runs : sequence of StoredTable
        Lists.
    truth : StoredTable
    task : PartTask
        Without items, which are read where metrics need them.
    work : pathlib.Path
        The folder that finished parts are kept in, each command's in one of its own.
    memory_mib : int
        What a part may take, beside the program itself.
    """

    runs: Sequence[StoredTable]
    truth: StoredTable
    task: PartTask
    work: Path
    memory_mib: int = 1024

    @cached_property
    def _tables(self) -> Sequence[StoredTable]:
        return self.truth, *self.runs

    @cached_property
    def _partition(self) -> Partition:
        return Partition.of(self._tables, self.memory_mib)

    @cached_property
    def folder(self) -> Path:
        """The folder of this work: of these files, this partition and this task."""
        texts = [table.state() for table in self._tables]
        texts += [str(self._partition), self.task.digest, str(NUMERIC_VERSION)]
        return self.work / sha256("\n".join(texts).encode()).hexdigest()[:16]

    @property
    def files(self) -> Mapping[str, Sequence[Path]]:
        """The files of each run's parts, finished or not."""
        return {
            run.name: [self.folder / f"run-{at}-part-{part}.npz" for part in range(self._partition.n_parts)]
            for at, run in enumerate(self.runs)
        }

    def judge(self, workers: Sequence[Executor], call: Callable[..., object], progress: Progress) -> PartTask:
        """Judge all parts that are not finished.

        Parameters
        ----------
        workers : sequence of concurrent.futures.Executor
            Each judges one part at a time, wherever it sees the same folders.
        call : callable
            What a worker calls with a function and its arguments, where it must get ready first.
        progress : Progress

        Returns
        -------
        PartTask
            Which merges the parts, that are now in `files`.

        Raises
        ------
        DataError
            If rows cannot be read or used; finished parts are kept.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with exclusive(self.folder / "lock"):
            task = self._with_items(progress)
            parts = [part for part in range(self._partition.n_parts) if self._unfinished(part)]
            try:
                for table in self._tables if parts else ():
                    if not self._partition.reads_in_place(table):
                        self._partition.write(table, self._divided(table), progress)
                with progress.step("judge", len(parts), "parts") as advance:
                    for _ in each_part(partial(call, self.judge_part, task), parts, workers):
                        advance(1)
            finally:
                rmtree(self.folder / "divided", ignore_errors=True)
        return task

    def _divided(self, table: StoredTable) -> Path:
        return self.folder / "divided" / str(self._tables.index(table))

    def _unfinished(self, part: int) -> list[StoredTable]:
        """Return the runs in which a part has not been judged."""
        return [run for run in self.runs if not self.files[run.name][part].exists()]

    def judge_part(self, task: PartTask, part: int) -> None:
        """Judge the lists of a part's users in all runs where that has not been done."""
        import pyarrow as pa

        n_parts = self._partition.n_parts
        location = "" if n_parts == 1 else f" (users of part {part + 1} of {n_parts})"

        def rows_of(table: StoredTable, kind: Kind) -> Rows:
            rows = self._partition.read(table, self._divided(table), part)
            return rows_of_table(rows, kind, table.name + location, table.roles)

        truth = rows_of(self.truth, "relevant")
        for run in self._unfinished(part):
            with written_whole(self.files[run.name][part]) as hidden:
                hidden.write_bytes(task.judge_rows(rows_of(run, "lists"), truth).to_bytes())
        pa.default_memory_pool().release_unused()

    def _with_items(self, progress: Progress) -> PartTask:
        """Return the task, with the ids of all items if a metric or the order of equal scores needs them."""
        if not self.task.needs_items:
            return self.task
        import pyarrow as pa
        from pyarrow import parquet

        file = self.folder / "items.parquet"
        if not file.exists():
            with progress.step("items", None, "rows"):
                items = [
                    table.distinct(table.labels.get("item") or table.labels["items"])
                    for table in self._tables
                ]
                if len({each.type for each in items}) > 1:
                    items = [each.cast(pa.large_string()) for each in items]
                distinct = pa.chunked_array(items).unique().drop_null()
            with written_whole(file) as hidden:
                parquet.write_table(pa.table({"item": distinct}), hidden)
        return replace(self.task, items=parquet.read_table(file).column("item").combine_chunks())


def each_part(
    work: Callable[[int], object], parts: Sequence[int], workers: Sequence[Executor]
) -> Iterator[None]:
    """Do the work of parts, one at a time on each worker; yield after each part."""
    waiting, idle = list(reversed(parts)), list(workers)
    running: dict[Future[Exception | None], Executor] = {}
    while waiting or running:
        while waiting and idle:
            worker = idle.pop()
            running[worker.submit(_attempt, work, waiting.pop())] = worker
        for done in wait(running, return_when=FIRST_COMPLETED).done:
            idle.append(running.pop(done))
            try:
                failure = done.result()
            except Exception as error:  # in whatever way an engine says that a worker has died
                raise DataError(
                    f"a worker has ended, as it does where memory runs out: {said(error)}. Finished parts "
                    "are kept; start again, with fewer --jobs or less --memory-mib."
                ) from error
            if failure is not None:
                raise failure
            yield


def _attempt(work: Callable[[int], object], part: int) -> Exception | None:
    """Do the work of a part and return what went wrong, which engines would change if it were raised."""
    try:
        work(part)
    except (RecgaugeError, OSError) as error:
        return error
    return None


def stored_parts(files: Sequence[Path]) -> Iterator[Part]:
    """Yield parts, one at a time; DataError if a file is damaged."""
    for file in files:
        try:
            yield Part.from_bytes(file.read_bytes())
        except SchemaError as error:
            raise DataError(f"{file} is damaged. Remove it and start again.") from error
