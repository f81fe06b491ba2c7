"""What tables and statements are made of.

Terminal, Markdown, LaTeX and HTML show the same tables, sentences and headings; figures, code and what is
folded away are of pages alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

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
    look: str = ""  # "shown" or "faint" for a difference that is or is not shown, "hit", or a colour's word
    order: float | None = None  # what the column is sorted by; the text if not given

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands beside the text in one line: the first small text, letters, the other ones."""
        return tuple(part for part in (*self.small[:1], self.letters, *self.small[1:]) if part)


Row = tuple[str | Cell, ...]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table; its first column names the rows. Without a header it has names and values."""

    kind: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()  # columns that hold words, which are aligned to the left as the first one is
    note: str = ""  # how to read it
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
    """A figure, drawn when a page is made; who cannot see it is told its caption and what it shows."""

    name: str  # unique in the report; letters, digits, hyphens, underscores
    draw: "Callable[[], Figure]"
    caption: str
    shows: str  # in a sentence, its main finding
    wide: bool = False  # whether it takes the whole width of the page


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures beside each other."""

    kind: ClassVar[str] = "pictures"
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """A list of sentences; its look is "claims", "marks" (what makes numbers mean less), "notes" or none."""

    kind: ClassVar[str] = "lines"
    lines: tuple[str, ...]
    look: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text to copy."""

    kind: ClassVar[str] = "code"
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows after a click; `printed`: on paper even if nobody has clicked."""

    kind: ClassVar[str] = "folded"
    title: str
    blocks: "tuple[PageBlock, ...]"
    printed: bool = False


Block = TableBlock | Lines | Heading
PageBlock = Block | Pictures | Text | Code | Folded


def lines(texts: Iterable[str], look: str = "") -> list[Block]:
    """Return a list of sentences as blocks; none if there are none."""
    known = tuple(texts)
    return [Lines(known, look)] if known else []


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading of its own, and one sentence that says what is seen.

    `folded`: a page shows it after a click; `printed`: it is on paper even if nobody has clicked.
    """

    title: str
    lead: str
    blocks: tuple[PageBlock, ...] = ()
    folded: bool = False
    printed: bool = False

    @property
    def anchor(self) -> str:
        """The section's id in the page."""
        return slug(self.title)


def pictures_of(blocks: Sequence[PageBlock]) -> list[Picture]:
    """Return all figures, in their order."""
    pictures: list[Picture] = []
    for block in blocks:
        if isinstance(block, Pictures):
            pictures += block.pictures
        elif isinstance(block, Folded):
            pictures += pictures_of(block.blocks)
    return pictures


def slug(text: str) -> str:
    """Return a text as an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
