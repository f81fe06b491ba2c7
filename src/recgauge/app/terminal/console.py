"""What the user sees while a run goes on: bars on a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.terminal.streams import plain
from recgauge.errors import printable
from recgauge.utils.progress import Advance

WIDE = 160  # of lines that go to a file or a pipe


def output() -> Console:
    """Return the console for results, on standard output."""
    return _console(stderr=False)


def messages() -> Console:
    """Return the console for progress and errors, on standard error."""
    return _console(stderr=True)


class _SafeConsole(Console):
    """Hides secrets, escapes control characters, and replaces characters that the output cannot show.

    All before lines are wrapped and columns get their widths: a secret that is cut in two would not be
    recognised.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        text = without_secrets(printable(text, keep="\n"))
        return super().render_str(plain(text, self.encoding), **options)


def _console(*, stderr: bool) -> Console:
    console = _SafeConsole(stderr=stderr, highlight=False)
    if console.is_terminal:
        return console
    return _SafeConsole(stderr=stderr, highlight=False, width=WIDE, soft_wrap=True)


def _description() -> TextColumn:
    return TextColumn("{task.description}", markup=False)  # names may hold brackets


class ConsoleProgress:
    """Shows stages, steps and notes on standard error; bars only on a terminal."""

    def __init__(self) -> None:
        self._console = messages()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show the stage with a spinner until a step inside it has a bar to show."""
        if not self._console.is_terminal:
            yield
            return
        self._spinner = self._bar(SpinnerColumn(), _description(), TimeElapsedColumn())
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
        done = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
        columns = (BarColumn(), done, TextColumn(unit), TimeElapsedColumn(), TimeRemainingColumn())
        with self._bar(_description(), *columns) as bar:
            task = bar.add_task(printable(name), total=total)
            yield lambda count: bar.advance(task, count)

    def note(self, text: str) -> None:
        """Print one line."""
        self._console.print(f"note: {text}", markup=False)

    def _bar(self, *columns: object) -> Progress:
        return Progress(*columns, console=self._console, transient=True)  # type: ignore[arg-type]
