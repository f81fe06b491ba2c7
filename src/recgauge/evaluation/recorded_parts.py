"""Lists that do not fit into memory, measured part by part: finished parts are kept, so that work goes on."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from recgauge._version import NUMERIC_VERSION
from recgauge.errors import DataError, RecgaugeError, said
from recgauge.evaluation.parts import Part, PartTask
from recgauge.files.columns import CellFormat, Choice, Role
from recgauge.files.plausible import check_unused
from recgauge.files.stored import StoredTable, distinct, find_stored
from recgauge.recorded import refuse_unused, roles_of, rows_of_table
from recgauge.recorded.partition import Partition, PartitionedTable
from recgauge.utils.files import exclusive, written_whole
from recgauge.utils.progress import Progress
from recgauge.utils.resources import in_units


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
    def partition(self) -> Partition:
        """How users are divided."""
        return Partition.of([self.truth, *self.runs], self.memory_mib)

    @cached_property
    def folder(self) -> Path:
        """The folder of this work: of these files, this partition and this task."""
        texts = [table.digest() for table in (self.truth, *self.runs)]
        texts += [self.partition.text, self.task.digest, str(NUMERIC_VERSION)]
        return self.work / sha256("\n".join(texts).encode()).hexdigest()[:16]

    @cached_property
    def files(self) -> Mapping[str, Sequence[Path]]:
        """The files of each run's parts, finished or not."""
        return {
            run.name: [
                self.folder / f"run-{at}" / f"part-{part}.arrow" for part in range(self.partition.n_parts)
            ]
            for at, run in enumerate(self.runs)
        }

    @cached_property
    def _tables(self) -> tuple[PartitionedTable, ...]:
        """The truth, then the lists."""
        return tuple(
            PartitionedTable(table, self.partition, self.folder / f"divided-{at}")
            for at, table in enumerate((self.truth, *self.runs))
        )

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
            If rows cannot be read or used, or the folder cannot be written; finished parts are kept.
        """
        n_parts, n_rows = self.partition.n_parts, sum(run.n_rows for run in self.runs)
        divided = [rows for rows in self._tables if not rows.in_place]
        try:
            for first, *_ in self.files.values():
                first.parent.mkdir(parents=True, exist_ok=True)
            with exclusive(self.folder / "lock"), ExitStack() as stack:
                task = self._with_items(progress)
                parts = [part for part in range(n_parts) if self._unfinished(part)]
                for rows in divided:
                    stack.callback(rmtree, rows.folder, ignore_errors=True)
                    if parts:
                        rows.write(progress)
                with progress.step("judge", n_rows, "rows") as advance:
                    advance(n_rows * (n_parts - len(parts)) // n_parts)
                    for _ in each_part(partial(call, self.judge_part, task), parts, workers):
                        advance(n_rows // n_parts)
        except OSError as error:
            needed = in_units(24 * sum(rows.table.n_rows for rows in divided))
            room = f" Rows that are not sorted by users need about {needed} there." if divided else ""
            raise DataError(
                f"{self.folder}: {said(error)}.{room} Finished parts are kept; mend this and start again, or "
                "choose another folder: --work FOLDER."
            ) from error
        return task

    def _unfinished(self, part: int) -> list[PartitionedTable]:
        """Return the runs in which a part has not been judged."""
        return [run for run in self._tables[1:] if not self.files[run.table.name][part].exists()]

    def judge_part(self, task: PartTask, part: int) -> None:
        """Judge the lists of a part's users in all runs where that has not been done."""
        import pyarrow as pa

        truth, n_parts = self._tables[0], self.partition.n_parts
        location = "" if n_parts == 1 else f" (users of part {part + 1} of {n_parts})"
        relevant = truth.read(part)
        for run in self._unfinished(part):
            name = run.table.name
            judged = task.judge_rows(
                rows_of_table(run.read(part), "lists", name + location, run.table.roles),
                rows_of_table(relevant, "relevant", truth.table.name + location, truth.table.roles),
            )
            with written_whole(self.files[name][part]) as hidden:
                hidden.write_bytes(judged.to_bytes())
        pa.default_memory_pool().release_unused()

    def _with_items(self, progress: Progress) -> PartTask:
        """Return the task, with the ids of all items if a metric or the order of equal scores needs them."""
        if not self.task.needs_items:
            return self.task
        import pyarrow as pa
        from pyarrow import parquet

        file, tables = self.folder / "items.parquet", (self.truth, *self.runs)
        if not file.exists():
            with progress.step("items", None, "rows"):
                items = distinct(
                    cells
                    for table in tables
                    for cells in table.cells(table.labels.get("item") or table.labels["items"])
                )
            with written_whole(file) as hidden:
                parquet.write_table(pa.table({"item": items.drop_null()}), hidden)
        return replace(self.task, items=parquet.read_table(file).column("item"))


def each_part(
    work: Callable[[int], object], parts: Sequence[int], workers: Sequence[Executor]
) -> Iterator[int]:
    """Do the work of parts, one at a time on each worker; yield finished parts."""
    waiting, idle = list(reversed(parts)), list(workers)
    running: dict[Future[Exception | None], tuple[Executor, int]] = {}
    while waiting or running:
        while waiting and idle:
            worker, part = idle.pop(), waiting.pop()
            running[worker.submit(_attempt, work, part)] = worker, part
        for done in wait(running, return_when=FIRST_COMPLETED).done:
            worker, part = running.pop(done)
            idle.append(worker)
            try:
                failure = done.result()
            except Exception as error:  # in whatever way an engine says that a worker has died
                raise DataError(
                    f"part {part + 1}: its worker has ended, as it does where memory runs out: "
                    f"{said(error)}. Finished parts are kept; start again, with fewer --jobs or less "
                    "--memory-mib."
                ) from error
            if failure is not None:
                raise failure
            yield part


def _attempt(work: Callable[[int], object], part: int) -> Exception | None:
    """Do the work of a part and return what went wrong, which engines would change if it were raised."""
    try:
        work(part)
    except Exception as error:
        if not isinstance(error, (RecgaugeError, OSError)):
            error.add_note(traceback.format_exc())
        return error
    return None


def stored_parts(files: Sequence[Path]) -> Iterator[Part]:
    """Yield parts, one at a time.

    Raises
    ------
    DataError
        If a file is missing or damaged.
    """
    for file in files:
        try:
            yield Part.from_bytes(file.read_bytes())
        except (OSError, DataError) as error:
            raise DataError(
                f"{file} cannot be read: {said(error)}. Remove it and start again; --work must be a folder "
                "that all machines see."
            ) from error
