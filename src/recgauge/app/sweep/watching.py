"""What the terminal shows while jobs of a sweep run: how many are done, how long the others will take."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeElapsedColumn
from rich.text import Text

from recgauge.app.sweep.estimates import Forecast, in_words
from recgauge.app.sweep.outcome import FILE, SweepPlan, read_outcome, read_plan, short_labels, write_outcome
from recgauge.app.sweep.side_by_side import Room
from recgauge.app.sweep.worker import LOG
from recgauge.app.terminal.explain import explain_os_error
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import output, print_job_line
from recgauge.app.tracking.tracker import load_record
from recgauge.errors import SchemaError
from recgauge.runs.outcome import JobOutcome
from recgauge.utils.memory import in_units

if TYPE_CHECKING:
    from recgauge.app.sweep.launcher import Given


class Tally:
    """How many jobs of a sweep are done, are running, have failed, and how long the others will take.

    Parameters
    ----------
    jobs : sequence of Given
        Those that will run.
    plan : SweepPlan
    n_workers : int
    """

    def __init__(self, jobs: Sequence["Given"], plan: SweepPlan, n_workers: int = 1) -> None:
        known = [plan.seconds[job.number] if job.number < len(plan.seconds) else None for job in jobs]
        self.forecast = Forecast(known, n_workers, [job.kind for job in jobs])
        self.n_jobs, self.ended, self.failed = len(jobs), 0, 0

    def __str__(self) -> str:
        parts = [f"{self.ended} of {self.n_jobs} jobs done"]
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.forecast.running} running"] if self.forecast.running > 1 else []
        return ", ".join([*parts, *([self.left] if self.left else [])])

    @property
    def left(self) -> str:
        """How long the rest takes, in words; empty where nothing is known, or nothing is left."""
        seconds = self.forecast.left() if self.ended < self.n_jobs else None
        return "" if seconds is None else f"about {in_words(seconds)} left"

    def end(self, job: int, *, failed: bool) -> None:
        """Take note of how the job at a place has ended."""
        self.forecast.end(job)
        self.ended += 1
        self.failed += failed


class _Counts(ProgressColumn):
    """Shows a tally, whose time passes, beside the bar."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._tally = tally

    def render(self, task: Task) -> Text:  # noqa: ARG002 - contract
        return Text(str(self._tally))


class Watching:
    """Shows a bar over all jobs, and a line for each that ended.

    Parameters
    ----------
    jobs : sequence of Given
    sweep : Path
        Its folder.
    n_workers : int
    """

    def __init__(self, jobs: Sequence["Given"], sweep: Path, n_workers: int = 1) -> None:
        self.sweep = sweep
        self.folders = [job.folder for job in jobs]
        self._numbers = [job.number for job in jobs]
        self.plan = read_plan(sweep)
        self._labels = short_labels(self.plan.jobs)
        self._tally = Tally(jobs, self.plan, n_workers)
        self.room = Room([self.plan.peak_of(job.number) for job in jobs])
        self._waited: tuple[int, int] | None = None
        self._console = output(stderr=True)
        columns = (BarColumn(), _Counts(self._tally), TimeElapsedColumn())
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task("jobs", total=len(jobs))

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begun(self, job: int) -> None:
        """Take note that the job at a place begins."""
        self._tally.forecast.begin(job)

    def urgent(self) -> set[int]:
        """Return the places of jobs that should begin now; see `Forecast`."""
        return self._tally.forecast.urgent()

    def put_off(self, job: int) -> None:
        """Take note that the job at a place will be tried again later."""
        self._tally.forecast.put_off(job)

    def waits(self, job: int) -> None:
        """Say, once until something changes, that a job waits for memory."""
        if self._waited != (job, self._tally.ended):
            self._waited = job, self._tally.ended
            need, left = in_units(self.room.needs[job]), in_units(max(0, self.room.had))
            self._console.print(
                f"waiting  {self._label(job)} may need {need} of memory, {left} is left beside the jobs that "
                "run: it begins when one of them has ended"
            )

    def _label(self, job: int) -> str:
        # sweepers other than Hydra's own choose jobs as they go on, so that no plan has their labels
        number = self._numbers[job]
        return self._labels[number] if number < len(self._labels) else f"job {number}"

    def say(self, line: str) -> None:
        """Print one line beside the bar."""
        self._console.print(f"note: {line}")

    def ended(self, job: int, died: str) -> None:
        """Print how a job ended.

        Parameters
        ----------
        job : int
            Its place.
        died : str
            Why it left no outcome, which it is given now; empty if it left one.
        """
        folder, number = self.folders[job], self._numbers[job]
        outcome = read_outcome(folder / FILE)
        label = self._label(job)
        if died or outcome is None or outcome.sweep != self.plan.id:
            said = f"; what it printed is in {folder / LOG}" if (folder / LOG).exists() else ""
            reason = f"{died or 'it left no outcome'}{said}"
            whole = self.plan.jobs[number] if number < len(self.plan.jobs) else label
            outcome = JobOutcome(number, whole, "failed", reason, self.plan.id, folder=folder)
            try:
                write_outcome(outcome, folder)
            except OSError as error:  # which is why the job left none
                outcome = replace(outcome, reason=explain_os_error(error, folder))
        self._tally.end(job, failed=outcome.status == "failed")
        self._bar.advance(self._task)
        if outcome.status == "failed":
            print_error(f"{label}: {outcome.reason}{'' if died else _traceback_in(folder / LOG)}")
            return
        try:
            told = "" if self._console.is_terminal else f"({self._tally})"
            n_jobs = len(self.plan.jobs) or len(self.folders)
            print_job_line(load_record(folder), outcome, label, n_jobs, told)
        except (OSError, SchemaError):
            print_error(f"{label}: {outcome.reason}")


def _traceback_in(log: Path) -> str:
    """Say that a job's log ends with a traceback, if it does."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - (1 << 16)))
            return f"; its traceback is in {log}" if b"Traceback (most recent" in file.read() else ""
    except OSError:
        return ""
