"""What tables and statements are made of; terminal, Markdown, LaTeX and HTML show the same blocks."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Item = TypeVar("Item")
Rank = Literal["", "best", "second"]


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a value and its interval lie on the common scale of a column, in percent."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Parameters
    ----------
    text : str
    small : tuple of str
        What belongs to it, such as an interval: lines below it where there is room.
    rank : {"", "best", "second"}
    letters : str
        Runs that share one are not shown to differ.
    bar : Bar or None
        Drawn on a page alone.
    look : str
        "shown" for a difference that is shown, "faint" for one that is not, "hit", or the colour of a word.
    order : float or None
        What the column is sorted by; the text if not given.
    """

    text: str
    small: tuple[str, ...] = ()
    rank: Rank = ""
    letters: str = ""
    bar: Bar | None = None
    look: str = ""
    order: float | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands beside the text in one line: the first small text, letters, the other ones."""
        return tuple(part for part in (*self.small[:1], self.letters, *self.small[1:]) if part)


Row = tuple[str | Cell, ...]


@dataclass(frozen=True, slots=True)
class Column(Generic[Item]):
    """A column of a table: its name, and the cell of each thing that has a row."""

    name: str
    cell: Callable[[Item], str | Cell]


def filled(columns: Iterable[Column[Item]], items: Sequence[Item]) -> list[Column[Item]]:
    """Return the columns in which at least one row has something."""
    return [column for column in columns if any(as_cell(column.cell(item)).text for item in items)]


def as_cell(content: str | Cell) -> Cell:
    """Return what stands in a table as a cell."""
    return content if isinstance(content, Cell) else Cell(content)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table; its first column names the rows.

    Parameters
    ----------
    caption : str
    header : tuple of str
        Empty: the table has names and values.
    rows : tuple of tuple of str or Cell
    words : tuple of str
        Columns that hold words, which are aligned to the left; the first one always is.
    note : str
        How to read it.
    sortable : bool
        On a page.
    look : str
        Class of the page's style sheet.
    groups : tuple of str
        Of each row; empty: there are none.
    chooser : str
        What a reader of a page chooses groups by, such as "metric".
    names : int
        How many of the first columns name a row; where a table is divided, each part has them.
    droppable : bool
        Whether a narrow terminal may leave out the last columns, instead of dividing the table.
    """

    kind: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()
    note: str = ""
    sortable: bool = False
    look: str = ""
    groups: tuple[str, ...] = ()
    chooser: str = ""
    names: int = 1
    droppable: bool = False

    def cells(self) -> list[list[Cell]]:
        """Return the rows, every cell as `Cell`."""
        return [list(map(as_cell, row)) for row in self.rows]

    def is_words(self, column: int) -> bool:
        """Whether a column is aligned to the left."""
        return column == 0 or not self.header or self.header[column] in self.words


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, drawn when a page is made.

    Parameters
    ----------
    name : str
        Unique in the report; letters, digits, underscores.
    draw : callable
        Returns the figure.
    alt : str
        What it shows, for readers who cannot see it.
    caption : str
    group : str
        What a chooser of figures chooses by.
    wide : bool
        Whether it takes the whole width of the page.
    """

    name: str
    draw: "Callable[[], Figure]"
    alt: str
    caption: str
    group: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures beside each other; `chooser` is what is chosen among them, such as "metric"."""

    kind: ClassVar[str] = "pictures"
    pictures: tuple[Picture, ...]
    chooser: str = ""


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
    blocks: "tuple[Block, ...]"
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """Tables beside each other, such as the lists of several users."""

    kind: ClassVar[str] = "beside"
    tables: tuple[TableBlock, ...]


Block = TableBlock | Pictures | Text | Lines | Heading | Code | Folded | Beside


def lines(texts: Iterable[str], look: str = "") -> list[Block]:
    """Return a list of sentences as blocks; none if there are none."""
    known = tuple(texts)
    return [Lines(known, look)] if known else []


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading of its own.

    Parameters
    ----------
    title : str
    lead : str
        One sentence: what is seen.
    blocks : tuple of Block
    folded : bool
        Whether a page shows it after a click.
    printed : bool
        Whether it is on paper even if nobody has clicked.
    """

    title: str
    lead: str
    blocks: tuple[Block, ...] = field(default=())
    folded: bool = False
    printed: bool = False

    @property
    def anchor(self) -> str:
        """The section's id in the page."""
        return slug(self.title)


def pictures_of(blocks: Sequence[Block]) -> list[Picture]:
    """Return all figures, in their order."""
    found: list[Picture] = []
    for block in blocks:
        if isinstance(block, Pictures):
            found += block.pictures
        elif isinstance(block, Folded):
            found += pictures_of(block.blocks)
    return found


def slug(text: str) -> str:
    """Return a text as an id.

    Examples
    --------
    >>> slug("Quality against cost")
    'quality-against-cost'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
