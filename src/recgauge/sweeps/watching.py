"""What the terminal shows while jobs run: how many have ended, how long the others will take."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import monotonic

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from recgauge.report.console import output, print_job_line
from recgauge.runs.outcome import JobOutcome
from recgauge.sweeps.engines import Engine
from recgauge.sweeps.jobs import LOG, labels_of
from recgauge.utils.messages import print_error


class Watching:
    """Shows a line for each job that ended, and a bar over all where they run elsewhere."""

    def __init__(self, jobs: Sequence[JobOutcome], n_todo: int, engine: Engine, *, alone: bool) -> None:
        self._alone, self._n_jobs, self._n_todo = alone, len(jobs), n_todo
        self._labels = dict(zip((job.number for job in jobs), labels_of(jobs), strict=True))
        self._running = self._ended = self._failed = 0
        self._began, self._said = monotonic(), set[str]()
        console = output(stderr=True)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
        self._task = self._bar.add_task("", total=n_todo)
        self._shown = console.is_terminal and not engine.in_this_process and bool(n_todo)
        for job in jobs:
            if job.status == "reused":
                self._line(job)

    def bar(self) -> AbstractContextManager[object]:
        """Return the bar if there is one to show: rich would end another one with an empty line."""
        return self._bar if self._shown else nullcontext()

    def begun(self) -> None:
        """Take note that a job begins."""
        self._running += 1
        self._describe()

    def ended(self, outcome: JobOutcome) -> None:
        """Print how a job ended; many may fail for one reason, which is said once."""
        self._running = max(0, self._running - 1)
        self._ended += 1
        self._failed += outcome.status == "failed"
        self._bar.advance(self._task)
        self._describe()
        if outcome.record is not None:
            self._line(outcome)
        elif (reason := str(outcome.reason)) not in self._said:
            self._said.add(reason)
            label = "" if self._alone else f"{self._labels[outcome.number]}: "
            print_error(f"{label}{reason}{_traceback_in(outcome.folder / LOG)}")

    def _line(self, outcome: JobOutcome) -> None:
        assert outcome.record is not None
        if self._alone:
            return
        told = "" if self._shown or outcome.status == "reused" else f"({self})"
        print_job_line(outcome.record, outcome, self._labels[outcome.number], self._n_jobs, told)

    def __str__(self) -> str:
        parts = [f"{self._ended} of {self._n_todo} jobs done"]
        parts += [f"{self._failed} failed"] if self._failed else []
        if self._ended < self._n_todo:
            left = (monotonic() - self._began) / self._ended * (self._n_todo - self._ended)
            parts.append(f"about {in_words(left)} left")
        return ", ".join(parts)

    def _describe(self) -> None:
        failed = f", {self._failed} failed" if self._failed else ""
        self._bar.update(self._task, description=f"{self._running} running{failed}")


def in_words(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (0.4, 42, 100, 8000, 200_000)]
    ['1 s', '42 s', '1 min 40 s', '2 h 13 min', '2 days 7 h']
    """
    whole = max(1, round(seconds))
    if whole >= 48 * 3600:
        return f"{whole // 86400} days {whole % 86400 // 3600} h"
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def _traceback_in(log: Path) -> str:
    """Say that a job's log ends with a traceback, if it does."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - (1 << 16)))
            return f"; its traceback is in {log}" if b"Traceback (most recent" in file.read() else ""
    except OSError:
        return ""
