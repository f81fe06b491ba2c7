"""What tables and statements are made of, and how they are written as Markdown.

Terminal, Markdown, LaTeX and HTML show the same tables, sentences and headings; figures, code and what is
folded away are of pages alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from recgauge.errors import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rank = Literal["", "best", "second"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table; runs that share one of its letters are not shown to differ."""

    text: str
    small: tuple[str, ...] = ()  # what belongs to it, such as an interval: lines below it where there is room
    rank: Rank = ""
    letters: str = ""
    # where low end, value and high end lie on the common scale of the column, in percent; drawn on pages
    bar: tuple[float, float, float] | None = None
    look: str = ""  # "faint" for a difference that is not shown, "hit", or a colour's word
    order: float | None = None  # what the column is sorted by; the text if not given

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands beside the text in one line: the first small text, letters, the other ones."""
        return tuple(part for part in (*self.small[:1], self.letters, *self.small[1:]) if part)


Row = tuple[str | Cell, ...]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table; its first column names the rows. Without a header it has names and values."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()  # columns that hold words, which are aligned to the left as the first one is
    note: str = ""  # how to read it
    legend: tuple[str, ...] = ()  # sentences of the note that go with a column: "NAME: what it is."
    sortable: bool = False
    look: str = ""  # class of the page's style sheet
    groups: tuple[str, ...] = ()  # of each row; a terminal draws a line between them
    names: int = 1  # how many of the first columns name a row, in each part of a divided table
    droppable: bool = False  # whether a narrow terminal leaves out the last columns instead of dividing it

    def cells(self) -> list[list[Cell]]:
        """Return the rows, every cell as `Cell`."""
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]

    def is_words(self, column: int) -> bool:
        """Whether a column is aligned to the left."""
        return column == 0 or not self.header or self.header[column] in self.words


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, drawn when a page is made; its caption and `shows` are its text for screen readers."""

    name: str  # unique in the report; letters, digits, hyphens, underscores
    draw: "Callable[[], Figure]"
    caption: str
    shows: str  # in a sentence, its main finding


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures beside each other."""

    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """A list of sentences; its look is "claims", "marks" (what makes numbers mean less), "notes" or none."""

    lines: tuple[str, ...]
    look: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text to copy."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows after a click; `printed`: on paper in any case."""

    title: str
    blocks: "tuple[PageBlock, ...]"
    printed: bool = False


Block = TableBlock | Lines | Heading
PageBlock = Block | Pictures | Text | Code | Folded


def lines(texts: Iterable[str], look: str = "") -> list[Block]:
    """Return a list of sentences as blocks; none if there are none."""
    sentences = tuple(texts)
    return [Lines(sentences, look)] if sentences else []


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading of its own, and one sentence that says what is seen.

    `folded`: a page shows it after a click; it is on paper in any case.
    """

    title: str
    lead: str
    blocks: tuple[PageBlock, ...] = ()
    folded: bool = False

    @property
    def anchor(self) -> str:
        """The section's id in the page."""
        return slug(self.title)


def slug(text: str) -> str:
    """Return a text as an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def render_markdown(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown: best values in bold, second ones in italics."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Heading(text):
                parts.append(f"### {escaped(text)}")
            case Lines(texts, look):
                note = "Note: " if look == "notes" else ""
                parts.append("\n".join(f"- {note}{escaped(text)}" for text in texts))
            case TableBlock():
                parts += [f"**{escaped(block.caption)}**"] if block.caption else []
                parts += [_table(block)]
                parts += [escaped(block.note)] if block.note else []
    return "\n\n".join(parts)


def _table(table: TableBlock) -> str:
    header = table.header or ("",) * max(map(len, table.rows), default=0)
    right = [escaped(name) for place, name in enumerate(header) if not table.is_words(place)]
    signs: dict[Rank, str] = {"best": "**", "second": "_", "": ""}
    rows = [
        [
            " ".join([f"{signs[cell.rank]}{escaped(cell.text)}{signs[cell.rank]}", *map(escaped, cell.parts)])
            for cell in row
        ]
        for row in table.cells()
    ]
    return markdown_table(rows, list(map(escaped, header)), right)


def escaped(text: str) -> str:
    r"""Return a text as Markdown shows it: on one line, no markup, HTML or link, and nothing hidden.

    Examples
    --------
    >>> print(escaped("a*b\n# <b>`c` [0, 1]* p < .05"))
    a\*b # &lt;b>\`c\` [0, 1]* p < .05
    """
    line = markdown_line(re.sub(r"&(?=#?\w+;)", "&amp;", text))
    marks = r"[\\`]|\*(?=\S)|^\*|~(?=~)|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)|\](?=[(\[:])"
    return re.sub(f"({marks})", r"\\\1", line)


def markdown_table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[str] = ()) -> str:
    """Return a table in Markdown; columns named in `right` are aligned to the right.

    Cells may hold Markdown. Texts of users, such as names of runs, can neither end a cell nor a line, nor
    begin HTML.

    Examples
    --------
    >>> print(markdown_table([["svd", "0.93"]], ["model", "RMSE"], right=["RMSE"]))
    | model | RMSE |
    | --- | ---: |
    | svd | 0.93 |
    """
    bar = "\\|"
    lines = [header, ["---:" if name in right else "---" for name in header], *rows]
    return "\n".join(
        f"| {' | '.join(markdown_line(text).replace('|', bar) for text in line)} |" for line in lines
    )


def markdown_line(text: str) -> str:
    r"""Return a text for Markdown that ends no line, begins no HTML and hides nothing.

    Examples
    --------
    >>> print(markdown_line("<b>svd\n\x1b[31m"))
    &lt;b>svd \x1b[31m
    """
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", printable(" ".join(text.splitlines())))
