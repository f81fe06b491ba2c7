"""What the terminal shows: progress while a run goes on, and what a run and a sweep end with."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich import progress
from rich.console import Console
from rich.text import Text

from recgauge.comparison.series import headline_keys
from recgauge.errors import printable
from recgauge.report.run_tables import MARK, run_blocks, run_title
from recgauge.report.sweep_tables import sweep_blocks
from recgauge.report.terminal import render_terminal
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.record import RunRecord
from recgauge.utils.messages import plain
from recgauge.utils.progress import Advance
from recgauge.utils.secrets import without_secrets

WIDE = 160  # of lines that go to a file or a pipe
_MOST_NAMED = 4  # folders of runs that are not tracked
IN_A_LINE = 7  # numbers in the line of a job; its table and files have all


class _SafeConsole(Console):
    """Hides secrets, escapes control characters, and replaces characters that the output cannot show.

    All before lines are wrapped and columns get their widths: a secret that is cut in two would not be
    recognised.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        text = without_secrets(printable(text, keep="\n"))
        return super().render_str(plain(text, self.encoding), **options)


def output(*, stderr: bool = False) -> Console:
    """Return the console for results, or that for progress on standard error; brackets are no markup."""
    make = partial(_SafeConsole, stderr=stderr, highlight=False, markup=False)
    console = make()
    return console if console.is_terminal else make(width=WIDE, soft_wrap=True)


_NAME = progress.TextColumn("{task.description}", markup=False)  # names may hold brackets


class _Rate(progress.ProgressColumn):
    """How many units a second are done."""

    def render(self, task: progress.Task) -> Text:
        """Return the rate, nothing before there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


class ConsoleProgress:
    """Shows stages, steps and notes on standard error; bars only on a terminal."""

    def __init__(self) -> None:
        self._console = output(stderr=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show the stage with a spinner until a step inside it has a bar to show."""
        if not self._console.is_terminal:
            yield
            return
        self._spinner = self._bar(progress.SpinnerColumn(), _NAME, progress.TimeElapsedColumn())
        with self._spinner:
            self._spinner.add_task(name, total=None)
            yield

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        """Show a bar with units done, the time passed and the time left."""
        if not self._console.is_terminal:
            yield lambda _done: None
            return
        self._spinner.stop()  # a terminal shows one live display at a time
        done = progress.DownloadColumn() if unit == "bytes" else progress.MofNCompleteColumn()
        rate: list[progress.ProgressColumn] = [_Rate()] if unit == "rows" else []
        times = (*rate, progress.TimeElapsedColumn(), progress.TimeRemainingColumn())
        with self._bar(_NAME, progress.BarColumn(), done, progress.TextColumn(unit), *times) as bar:
            task = bar.add_task(printable(name), total=total)
            yield lambda count: bar.advance(task, count)

    def note(self, text: str) -> None:
        """Print one line."""
        self._console.print(f"note: {text}")

    def _bar(self, *columns: progress.ProgressColumn) -> progress.Progress:
        return progress.Progress(*columns, console=self._console, transient=True)


def print_run(
    record: RunRecord,
    outcome: JobOutcome,
    *,
    address: str | None,
    server: str | None = None,
    folder: Path,
    said: Sequence[str] = (),
) -> None:
    """Print a run's table, further lines, and where to find everything.

    `server` is the command that serves the tracking page at `address`, unless that is always there.
    """
    console = output()
    render_terminal(run_blocks(record, said), console)
    _print_reused(console, outcome)
    print_addresses(address, server, folder, outcome.run_id)


def print_job_line(record: RunRecord, outcome: JobOutcome, label: str, n_jobs: int, told: str = "") -> None:
    """Print one line for a finished job of a sweep: what sets it apart, its first numbers, what is `told`."""
    console = output()
    words = [word for word in label.split(" ") if not word.startswith(("model=", "dataset="))]
    title = ", ".join(filter(None, [run_title(record), " ".join(words)]))
    values, keys = record.values(), headline_keys([record])
    parts = [f"{key.replace('_at_', '@')} {values[key]:.4f}" for key in keys[:IN_A_LINE]]
    parts.append(f"({len(keys) - IN_A_LINE} more)" if len(keys) > IN_A_LINE else "")
    parts += [MARK if record.incomparable else "", told]
    number = f"[{outcome.number + 1}/{max(n_jobs, outcome.number + 1)}]"
    console.print(f"{number} {title}: {'  '.join(filter(None, parts))}")
    _print_reused(console, outcome)


def _print_reused(console: Console, outcome: JobOutcome) -> None:
    if outcome.status == "reused":
        run = f"run {outcome.run_id}" if outcome.run_id else f"the run in {outcome.folder}"
        console.print(f"reused {run} (force=true repeats)")


def print_sweep(
    jobs: Sequence[JobOutcome],
    *,
    address: str | None,
    server: str | None = None,
    folder: Path,
    said: Sequence[str] = (),
) -> None:
    """Print one table over all jobs of a sweep, divided where the terminal is too narrow; see `print_run`."""
    untracked = [os.path.relpath(job.folder) for job in jobs if job.status == "not tracked"]
    places = []
    if untracked:
        more = f" and {len(untracked) - _MOST_NAMED} more" if len(untracked) > _MOST_NAMED else ""
        named = ", ".join(untracked[:_MOST_NAMED])
        places = [
            f"         complete results are in {named}{more}",
            "         when the store works again: `recgauge sync`, or the next run, tracks them",
        ]
    render_terminal(sweep_blocks(jobs, [*places, *said]), output())
    print_addresses(address, server, folder, None)


def print_addresses(address: str | None, server: str | None, folder: Path, run_id: str | None) -> None:
    """Print the tracking page, the command that serves it, and the output folder."""
    console = output()
    if address is not None:
        run = f" (run {run_id})" if run_id else ""
        hint = f"; start the server with `{server}`" if server else ""
        console.print(f"mlflow   {address}{run}{hint}", soft_wrap=True)
    console.print(f"files    {shown_path(folder)}", soft_wrap=True)


def shown_path(path: Path) -> str:
    """Return a path as it is printed: from the current folder if it is inside."""
    return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path)
