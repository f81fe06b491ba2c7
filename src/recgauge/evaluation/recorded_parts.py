"""Lists that do not fit into memory, measured part by part: finished parts are kept, so that work goes on."""

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recgauge._version import NUMERIC_VERSION
from recgauge.errors import DataError, RecgaugeError, said
from recgauge.evaluation import described
from recgauge.evaluation.parts import Part, PartTask
from recgauge.files.stored import StoredTable
from recgauge.recorded import rows_of_table
from recgauge.recorded.dividing import DividedTable, Division
from recgauge.utils.files import exclusive, written_whole
from recgauge.utils.progress import NoProgress, Progress

if TYPE_CHECKING:
    import pyarrow as pa

Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class StoredRuns:
    """Runs and the relevance that they are measured on, judged part by part.

    Parameters
    ----------
    runs : sequence of StoredTable
        Lists.
    truth : StoredTable
    task : PartTask
        Without items, which are found where metrics need them.
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
    def division(self) -> Division:
        """How users are divided."""
        return Division.of([self.truth, *self.runs], self.memory_mib)

    @cached_property
    def folder(self) -> Path:
        """The folder of this work: of these files, this division and this task."""
        known = [table.digest() for table in (self.truth, *self.runs)]
        known += [self.division.text, self.task.digest, str(NUMERIC_VERSION)]
        return self.work / sha256("\n".join(known).encode()).hexdigest()[:16]

    @cached_property
    def _divided(self) -> tuple[DividedTable, ...]:
        """The truth, then the lists."""
        tables = (self.truth, *self.runs)
        return tuple(
            DividedTable(table, self.division, self.folder / f"spread-{place}")
            for place, table in enumerate(tables)
        )

    def judge(
        self,
        progress: Progress | None = None,
        workers: Sequence[Executor] = (),
        call: Callable[..., object] | None = None,
    ) -> tuple[PartTask, dict[str, list[Path]]]:
        """Judge all parts that are not finished.

        Parameters
        ----------
        progress : Progress, optional
        workers : sequence of concurrent.futures.Executor
            Each judges one part at a time, wherever it sees the same folders; this process does if there are
            none.
        call : callable, optional
            What a worker calls with a function and its argument, where it must get ready first.

        Returns
        -------
        PartTask
            Which merges them.
        dict of str to list of pathlib.Path
            Where each run's parts are; beside each, the users' values, if the task asks for them.

        Raises
        ------
        DataError
            If rows cannot be read or used, or the folder cannot be written; finished parts are kept.
        """
        progress = progress or NoProgress()
        slugs = [re.sub(r"[^\w.-]+", "_", run.name) for run in self.runs]
        folders = {
            run.name: self.folder / (slug if slugs.count(slug) == 1 else f"{slug}-{at}")
            for at, (run, slug) in enumerate(zip(self.runs, slugs, strict=True))
        }
        files = {
            name: [folder / f"part-{part}.arrow" for part in range(self.division.n_parts)]
            for name, folder in folders.items()
        }
        try:
            for folder in folders.values():
                folder.mkdir(parents=True, exist_ok=True)
            waiting = partial(progress.note, "another command is at the same work; waiting for it")
            with exclusive(self.folder / "lock", waiting):
                task = self._with_items(progress)
                if not all(file.exists() for some in files.values() for file in some):
                    self._judge(task, files, progress, partial(in_turn, workers=workers, call=call))
                for table in self._divided:
                    table.forget()
        except OSError as error:
            raise DataError(
                f"{self.folder}: {said(error)}. Finished parts are kept; mend this and start again, or "
                "choose another folder: --work FOLDER."
            ) from error
        return task, files

    def _judge(
        self,
        task: PartTask,
        files: Mapping[str, Sequence[Path]],
        progress: Progress,
        each: Callable[..., Iterator[int]],
    ) -> None:
        for unfinished in self.folder.rglob(".unfinished-*.*"):  # of a command that was killed
            unfinished.unlink(missing_ok=True)
        for table in self._divided:
            table.prepare(progress, each)
        n_parts, n_rows = self.division.n_parts, sum(run.n_rows for run in self.runs)
        missing = [part for part in range(n_parts) if not all(some[part].exists() for some in files.values())]
        with progress.step("judge", n_rows, "rows") as advance:
            advance(n_rows * (n_parts - len(missing)) // n_parts)
            for _ in each(partial(self.judge_part, task, files), missing):
                advance(n_rows // n_parts)

    def judge_part(self, task: PartTask, files: Mapping[str, Sequence[Path]], part: int) -> None:
        """Judge the lists of a part's users in all runs where that has not been done."""
        import pyarrow as pa

        truth, *runs = self._divided
        relevant = truth.read(part)
        for run in runs:
            file = files[run.table.name][part]
            if not file.exists():
                judged = task.judge_rows(
                    rows_of_table(run.read(part), "lists", self._called(run, part), run.table.wanted),
                    rows_of_table(relevant, "relevant", self._called(truth, part), self.truth.wanted),
                )
                about = {"run": run.table.name, "truth": self.truth.digest(), **task.about()}
                about |= {"part": part, "n_parts": self.division.n_parts, "division": self.division.text}
                _write(file, judged, about)
        pa.default_memory_pool().release_unused()

    def _called(self, table: DividedTable, part: int) -> str:
        """Return what messages call the rows of a part."""
        n_parts = self.division.n_parts
        return table.table.name + ("" if n_parts == 1 else f" (users of part {part + 1} of {n_parts})")

    def _with_items(self, progress: Progress) -> PartTask:
        """Return the task, with the ids of all items if a metric or the order of equal scores needs them."""
        if not self.task.needs_items:
            return self.task
        import pyarrow as pa
        import pyarrow.compute as pc

        file = self.folder / "items.arrow"
        if not file.exists():
            found = None
            tables = (self.truth, *self.runs)
            with progress.step("items", sum(table.n_rows for table in tables), "rows") as advance:
                for items in (items for table in tables for items in table.cells("item")):
                    new = pc.unique(items)
                    if found is not None and found.type != new.type:
                        found, new = found.cast(pa.large_string()), new.cast(pa.large_string())
                    found = new if found is None else pc.unique(pa.chunked_array([found, new]))
                    advance(len(items))
            if found is None:
                raise DataError(f"{self.truth.name}: no row names an item. Name a truth with items.")
            _store(file, pa.table({"item": found.drop_null()}))
        return replace(self.task, items=_read_stored(file, lambda table: table.column("item")))


def in_turn(
    work: Callable[[int], None],
    parts: Sequence[int],
    workers: Sequence[Executor],
    call: Callable[..., object] | None = None,
) -> Iterator[int]:
    """Do the work of parts, one at a time on each worker, here if there are none; yield what is done.

    A part whose worker dies is given out once more.
    """
    if not workers:
        for part in parts:
            work(part)
            yield part
        return
    waiting, idle, died = list(reversed(parts)), list(workers[: len(parts)]), set[int]()
    running: dict[Future[Exception | None], tuple[Executor, int]] = {}
    while waiting or running:
        while waiting and idle:
            worker, part = idle.pop(), waiting.pop()
            function = work if call is None else partial(call, work)
            running[worker.submit(_attempt, function, part)] = worker, part
        for done in wait(running, return_when=FIRST_COMPLETED).done:
            worker, part = running.pop(done)
            idle.append(worker)
            if _is_done(done, part, again=part in died):
                yield part
            else:
                died.add(part)
                waiting.append(part)


def _attempt(function: Callable[[int], object], part: int) -> Exception | None:
    """Do the work of a part and return what went wrong, which engines would change if it were raised."""
    try:
        function(part)
    except Exception as error:
        if not isinstance(error, (RecgaugeError, OSError)):
            error.add_note(traceback.format_exc())
        return error
    return None


def _is_done(done: "Future[Exception | None]", part: int, *, again: bool) -> bool:
    """Raise what went wrong; return False if the worker died for the first time."""
    try:
        failed = done.result()
    except Exception as error:  # in whatever way an engine says that a worker has died
        if again or isinstance(error, BrokenExecutor):
            raise DataError(
                f"part {part + 1}: its worker has ended, as it does where memory runs out: {said(error)}. "
                "Finished parts are kept; start again with fewer --jobs or less --memory-mib."
            ) from error
        return False
    if failed is not None:
        raise failed
    return True


def stored_parts(files: Sequence[Path]) -> Iterator[Part]:
    """Yield parts, one at a time.

    Raises
    ------
    DataError
        If a file is missing or damaged.
    """
    for file in files:
        yield _read_stored(file, Part.from_arrow)


def _read_stored(file: Path, convert: "Callable[[pa.Table], Read]") -> Read:
    """Read what `_store` has written."""
    import pyarrow as pa

    try:
        with pa.ipc.open_file(str(file)) as reader:
            return convert(reader.read_all())
    except Exception as error:  # whatever reading a damaged file raises
        raise DataError(
            f"{file} cannot be read: {said(error)}. Remove it and start again; --work must be a folder "
            "that all machines see."
        ) from error


def values_of(file: Path) -> Path:
    """Return where the users' values of a part are."""
    return file.with_suffix(".parquet")


def _write(file: Path, part: Part, about: Mapping[str, Any]) -> None:
    """Write a part after the values of its users: whoever finds it finds them, too."""
    from pyarrow import parquet

    if part.values is not None:
        values = part.values.cast(described(part.values.schema, about))
        with written_whole(values_of(file)) as hidden:
            parquet.write_table(values, hidden, compression="zstd")
    _store(file, part.to_arrow())


def _store(file: Path, table: "pa.Table") -> None:
    """Write a table whole or not at all."""
    from pyarrow import ipc

    options = ipc.IpcWriteOptions(compression="zstd")
    with written_whole(file) as hidden, ipc.new_file(str(hidden), table.schema, options=options) as writer:
        writer.write_table(table)
