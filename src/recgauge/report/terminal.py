"""Blocks on a terminal, drawn by rich: no number is cut and no heading divided, however narrow it is."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text as Styled

from recgauge.report.blocks import Block, Cell, Heading, Lines, TableBlock

LOOKS = {"faint": "dim", "hit": "bold", "good": "green", "reused": "cyan", "partly": "yellow", "bad": "red"}
"""How a cell's look is drawn; colours say nothing that words do not say."""
LONGEST_NAME, LONGEST_NAMES = 32, 42  # characters of a row's name, or names, that are not folded


def render_terminal(blocks: Sequence[Block], console: Console) -> None:
    """Print blocks: best values with a star, tables divided where the console is too narrow."""
    before: Block | None = None
    for block in blocks:
        match block:
            case Heading(text):
                console.print(f"\n{text}", style="bold", markup=False, highlight=False)
            case Lines(texts, look):
                for text in texts:
                    _line(console, f"{'note     ' if look == 'notes' else ''}{text}", warns=look == "marks")
            case TableBlock():
                if block.caption or isinstance(before, TableBlock):
                    console.print()
                _table(console, block)
        before = block


def _line(console: Console, text: str, *, warns: bool = False) -> None:
    console.print(text, style="yellow" if warns else None, markup=False, highlight=False)


def _table(console: Console, table: TableBlock) -> None:
    if table.caption:
        console.print(table.caption, style="bold", markup=False, highlight=False)
    if table.header:
        for number, drawn in enumerate(fitting(table, console)):
            if number:
                console.print()
            console.print(drawn)
    else:
        width = max(len(row[0].text) for row in table.cells())
        for name, *texts in table.cells():
            told = " ".join(cell.text for cell in texts)
            console.print(f"{name.text:<{width}}  {told}", soft_wrap=True, markup=False, highlight=False)
    if table.note:
        best = any(cell.rank == "best" for row in table.cells() for cell in row)
        _line(console, f"{'*        best. ' if best else ''}{table.note}")


def fitting(table: TableBlock, console: Console) -> list[Drawn]:
    """Return the table as rich draws it, its columns divided among as many tables as the width needs.

    Each has the columns that name a row; other columns of words stay in the first one. Of a droppable table
    there is one, with as many columns as fit.
    """
    columns = range(len(table.header))
    kept = [place for place in columns if place < table.names or table.is_words(place)]
    rest = [place for place in columns if place not in kept]
    drawn: list[Drawn] = []
    while rest or not drawn:
        n = max(_n_fitting(table, console, kept, rest), int(len(kept) <= table.names or table.droppable))
        drawn.append(_draw(table, console, sorted([*kept, *rest[:n]])))
        rest, kept = [] if table.droppable else rest[n:], kept[: table.names]
    return drawn


def _n_fitting(table: TableBlock, console: Console, kept: Sequence[int], rest: Sequence[int]) -> int:
    """Return how many of the next columns fit beside those that stay."""
    options = console.options.update(width=10_000)

    def is_too_wide(n: int) -> bool:
        drawn = _draw(table, console, sorted([*kept, *rest[:n]]))
        return console.measure(drawn, options=options).minimum > console.width

    return bisect_left(range(1, len(rest) + 1), True, key=is_too_wide)


def _draw(table: TableBlock, console: Console, places: Sequence[int]) -> Drawn:
    """Return chosen columns; only words may be folded, since a cut number would be another number."""
    rows = table.cells()
    drawn = Drawn(pad_edge=False, box=box.SIMPLE_HEAD if console.is_terminal else None)
    columns = {place: _column([row[place] for row in rows], console) for place in places}
    widths = {
        place: max(
            len(line)
            for text in (table.header[place], *(cell.plain for cell in cells))
            for line in text.split("\n")
        )
        for place, cells in columns.items()
    }
    least = _least({place: width for place, width in widths.items() if table.is_words(place)})
    for place, cells in columns.items():
        if place in least:
            is_number = any(cell.plain.isdigit() for cell in cells)
            side: Literal["left", "right"] = "right" if is_number else "left"
            drawn.add_column(table.header[place], justify=side, overflow="fold", min_width=least[place])
        else:
            drawn.add_column(table.header[place], justify="right", no_wrap=True, min_width=widths[place])
    for place, row in enumerate(zip(*columns.values(), strict=True)):
        if table.groups and place and table.groups[place] != table.groups[place - 1]:
            drawn.add_section()
        drawn.add_row(*row)
    return drawn


def _least(widths: Mapping[int, int]) -> dict[int, int]:
    """Return how narrow columns of words may become: short ones stay whole, long ones share what is left."""
    room, least = LONGEST_NAME if len(widths) == 1 else LONGEST_NAMES, {}
    for done, (place, width) in enumerate(sorted(widths.items(), key=lambda each: each[1])):
        least[place] = min(width, room // (len(widths) - done))
        room -= least[place]
    return least


def _column(cells: Sequence[Cell], console: Console) -> list[Styled]:
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
        style = "bold green" if cell.rank == "best" else LOOKS.get(cell.look, "")
        below = [f"{line} " if stars and not letters else line for line in cell.small]
        joined = "\n".join([text, *below])
        texts.append(console.render_str(joined, style=style, markup=False, emoji=False, highlight=False))
    return texts
