"""What the terminal shows: progress while a run goes on, blocks, and the numbers of a run."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import StringIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich import box, progress
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recgauge.errors import printable
from recgauge.report.blocks import Block, Cell, Heading, Lines, TableBlock
from recgauge.report.run_tables import run_blocks
from recgauge.utils.progress import Advance, Progress
from recgauge.utils.secrets import plain, without_secrets

if TYPE_CHECKING:
    from recgauge.runs.finished import FinishedRun

WIDE = 160  # of lines that go to a file or a pipe
_LOOKS = {"faint": "dim", "hit": "bold", "good": "green", "reused": "cyan", "partly": "yellow", "bad": "red"}
"""How a cell's look is drawn; colours say nothing that words do not say."""
_LONGEST_WORDS = 42  # characters of all columns of words together that are not folded


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


class ConsoleProgress(Progress):
    """Shows stages, steps and notes on standard error; bars only on a terminal."""

    def __init__(self) -> None:
        self._console = output(stderr=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show the stage with a spinner until a step inside it has a bar to show."""
        if not self._console.is_terminal:
            yield
            return
        self._spinner = self._bar(progress.SpinnerColumn(), progress.TimeElapsedColumn())
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
        times = (progress.TimeElapsedColumn(), progress.TimeRemainingColumn())
        with self._bar(progress.BarColumn(), done, progress.TextColumn(unit), *times) as bar:
            task = bar.add_task(printable(name), total=total)
            yield lambda count: bar.advance(task, count)

    def note(self, text: str) -> None:
        """Print one line."""
        self._console.print(f"note: {text}")

    def _bar(self, *columns: progress.ProgressColumn) -> progress.Progress:
        name = progress.TextColumn("{task.description}", markup=False)  # names may hold brackets
        return progress.Progress(name, *columns, console=self._console, transient=True)


def render_terminal(blocks: Sequence[Block], console: Console) -> None:
    """Print blocks: best values with a star, tables divided where the console is too narrow."""
    before: Block | None = None
    show = partial(console.print, markup=False, highlight=False)
    for block in blocks:
        match block:
            case Heading(text):
                show(f"\n{text}", style="bold")
            case Lines(texts, look):
                for text in texts:
                    style = "yellow" if look == "marks" else None
                    show(f"note     {text}" if look == "notes" else text, style=style)
            case TableBlock():
                if block.caption or isinstance(before, TableBlock):
                    console.print()
                _print_table(block, console)
        before = block


def as_text(blocks: Sequence[Block]) -> str:
    """Return blocks as a file or a pipe gets them."""
    file = StringIO()
    render_terminal(
        blocks, _SafeConsole(file=file, width=WIDE, soft_wrap=True, highlight=False, markup=False)
    )
    return file.getvalue().strip("\n")


def _print_table(table: TableBlock, console: Console) -> None:
    show, rows = partial(console.print, markup=False, highlight=False), table.cells()
    if table.caption:
        show(table.caption, style="bold")
    note, shown = table.note, set[object]()
    if table.header:
        for number, drawn in enumerate(_drawn(table, console)):
            if number:
                console.print()
            console.print(drawn)
            shown |= {column.header for column in drawn.columns}
    else:
        width = max(len(name.text) for name, *_ in rows)
        for name, *values in rows:
            show(f"{name.text:<{width}}  {' '.join(cell.text for cell in values)}", soft_wrap=True)
    for text in table.legend:
        note = note if text.partition(":")[0] in shown else note.replace(text, "").replace("  ", " ").strip()
    if note:
        best = any(cell.rank == "best" for row in rows for cell in row)
        show(f"*        best. {note}" if best else note)


def _drawn(table: TableBlock, console: Console) -> list[Table]:
    """Return the table as rich draws it, its columns divided among as many tables as the width needs.

    No number is cut and no heading divided, however narrow the console is. Each table has the columns that
    name a row; other columns of words stay in the first one. Of a droppable table there is one, with as many
    columns as fit.
    """
    rows, header = table.cells(), table.header
    columns = [_texts([row[place] for row in rows], console) for place in range(len(header))]
    widths = [
        max(cell_len(line) for text in (name, *(cell.plain for cell in cells)) for line in text.split("\n"))
        for name, cells in zip(header, columns, strict=True)
    ]
    kept = [place for place in range(len(header)) if place < table.names or table.is_words(place)]
    rest = [place for place in range(len(header)) if place not in kept]
    edges, gap = (2, 3) if console.is_terminal else (0, 2)
    tables: list[Table] = []
    while rest or not tables:
        words = [place for place in kept if table.is_words(place)]
        least = {place: min(widths[place], _LONGEST_WORDS // len(words)) for place in words}
        room = console.width - edges - sum(least.get(place, widths[place]) + gap for place in kept) + gap
        fitting = sum(end <= room for end in accumulate(widths[place] + gap for place in rest))
        n = max(fitting, int(len(kept) <= table.names or table.droppable))
        drawn = Table(pad_edge=False, box=box.SIMPLE_HEAD if console.is_terminal else None)
        shown = sorted([*kept, *rest[:n]])
        for place in shown:
            if place in least:  # only words may be folded, since a cut number would be another number
                is_number = any(cell.plain.isdigit() for cell in columns[place])
                side: Literal["left", "right"] = "right" if is_number else "left"
                drawn.add_column(header[place], justify=side, overflow="fold", min_width=least[place])
            else:
                drawn.add_column(header[place], justify="right", no_wrap=True, min_width=widths[place])
        for number, row in enumerate(zip(*(columns[place] for place in shown), strict=True)):
            if table.groups and number and table.groups[number] != table.groups[number - 1]:
                drawn.add_section()
            drawn.add_row(*row)
        tables.append(drawn)
        rest, kept = [] if table.droppable else rest[n:], kept[: table.names]
    return tables


def _texts(cells: Sequence[Cell], console: Console) -> list[Text]:
    """Return the texts of a column, with space for the star and the letters that some of them have."""
    stars = any(cell.rank == "best" for cell in cells)
    letters = max((len(cell.letters) for cell in cells), default=0)
    texts = []
    for cell in cells:
        text = cell.text
        if stars and text:
            text += "*" if cell.rank == "best" else " "
        if letters:
            text += f" {cell.letters:<{max(3, letters)}}"
        style = "bold green" if cell.rank == "best" else _LOOKS.get(cell.look, "")
        below = [f"{line} " if stars and not letters else line for line in cell.small]
        joined = "\n".join([text, *below])
        texts.append(console.render_str(joined, style=style, markup=False, emoji=False, highlight=False))
    return texts


def print_run(
    run: "FinishedRun", address: str | None = None, server: str | None = None, notes: Sequence[str] = ()
) -> None:
    """Print a run's table, notes, and where to find everything.

    `server` is the command that serves the tracking page at `address`, unless that is always there.
    """
    render_terminal(run_blocks(run.record, notes), output())
    print_addresses(run.folder, [address] if address else [], server, run.run_id)


def print_addresses(
    folder: Path, addresses: Sequence[str], server: str | None, run_id: str | None = None
) -> None:
    """Print the tracking pages, the command that serves them, and the output folder."""
    console = output()
    run = f" (run {run_id})" if run_id else ""
    for address in addresses:
        hint = f"; served by `{server}`" if server and address == addresses[-1] else ""
        console.print(f"mlflow   {address}{run}{hint}", soft_wrap=True)
    console.print(f"files    {shown_path(folder)}", soft_wrap=True)


def shown_path(path: Path) -> str:
    """Return a path as it is printed: from the current folder if it is inside."""
    return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path)
