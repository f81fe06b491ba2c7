"""What the terminal shows while jobs run side by side: how many are done, how long the others will take."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from recgauge.app.sweep.outcome import FILE, read_outcome, read_plan, short_labels, write_outcome
from recgauge.app.sweep.worker import LOG
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import output, print_job_line
from recgauge.app.tracking.tracker import load_record
from recgauge.errors import SchemaError
from recgauge.runs.outcome import JobOutcome

if TYPE_CHECKING:
    from recgauge.app.sweep.launcher import Given


class Watching:
    """Shows a bar over all jobs, and a line for each that ended.

    Parameters
    ----------
    jobs : sequence of Given
    sweep : Path
        Its folder.
    """

    def __init__(self, jobs: Sequence["Given"], sweep: Path) -> None:
        self._folders = [job.folder for job in jobs]
        self._numbers = [job.number for job in jobs]
        self._plan = read_plan(sweep)
        self._labels = short_labels(self._plan.jobs)
        self._failed = 0
        self._console = output(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, *times, console=self._console, transient=True)
        self._task = self._bar.add_task("jobs", total=len(jobs))

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def ended(self, job: int, died: str) -> None:
        """Print how a job ended.

        Parameters
        ----------
        job : int
            Its place.
        died : str
            Why it left no outcome, which it is given now; empty if it left one.
        """
        folder, number = self._folders[job], self._numbers[job]
        outcome = read_outcome(folder / FILE)
        # sweepers other than Hydra's own choose jobs as they go on, so that no plan has their labels
        label = self._labels[number] if number < len(self._labels) else f"job {number}"
        if died or outcome is None or outcome.sweep != self._plan.id:
            said = f"; what it printed is in {folder / LOG}" if (folder / LOG).exists() else ""
            reason = f"{died or 'it left no outcome'}{said}"
            outcome = JobOutcome(number, label, "failed", reason, self._plan.id, folder=folder)
            write_outcome(outcome, folder)
        self._failed += outcome.status == "failed"
        told = f"jobs, {self._failed} failed" if self._failed else "jobs"
        self._bar.update(self._task, advance=1, description=told)
        if outcome.status == "failed":
            print_error(f"{label}: {outcome.reason}")
            return
        try:
            print_job_line(load_record(folder), outcome, label, len(self._folders))
        except (OSError, SchemaError):
            print_error(f"{label}: {outcome.reason}")
