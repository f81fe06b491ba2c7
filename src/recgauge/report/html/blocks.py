"""What a report is made of: sections of tables, figures, sentences and code, which the templates show."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rank = Literal["", "best", "second"]


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a value and its interval lie on the common scale of a column, in percent."""

    low: float
    middle: float
    high: float

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Parameters
    ----------
    text : str
    small : tuple of str
        Lines below, such as an interval.
    rank : {"", "best", "second"}
        Best is bold, second underlined.
    letters : str
        Runs that share one are not shown to differ.
    bar : Bar or None
    look : str
        Class of the style sheet: "shown" for a difference that is shown, "hit", "faint".
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


Row = tuple[str | Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; cells are texts or `Cell`.

    Parameters
    ----------
    caption : str
    header : tuple of str
        Empty: the table has names and values.
    rows : tuple of tuple of str or Cell
        The first cell of a row names it.
    words : tuple of str
        Columns that hold words, which are aligned to the left; the first one always is.
    sortable : bool
    look : str
        Class of the style sheet.
    groups : tuple of str
        Of each row, what a chooser of rows chooses by; empty: there is no chooser.
    chooser : str
        What is chosen, such as "metric".
    """

    kind: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()
    sortable: bool = False
    look: str = ""
    groups: tuple[str, ...] = ()
    chooser: str = ""

    def cells(self) -> list[list[Cell]]:
        """Return the rows, every cell as `Cell`."""
        return [[one if isinstance(one, Cell) else Cell(one) for one in row] for row in self.rows]

    def is_words(self, column: int) -> bool:
        """Whether a column is aligned to the left."""
        return column == 0 or not self.header or self.header[column] in self.words


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, drawn when the page is made.

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
    """Figures beside each other.

    Parameters
    ----------
    pictures : tuple of Picture
    chooser : str
        What is chosen among them, such as "metric"; empty: nothing.
    """

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
    """A list of sentences."""

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
    """Blocks that are shown after a click.

    Parameters
    ----------
    title : str
    blocks : tuple of Block
    printed : bool
        Whether they are on paper even if nobody has clicked.
    """

    kind: ClassVar[str] = "folded"
    title: str
    blocks: "tuple[Block, ...]"
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A user: what there was in training, and the lists."""

    history: str
    lists: Table


@dataclass(frozen=True, slots=True)
class Examples:
    """Users beside each other."""

    kind: ClassVar[str] = "examples"
    examples: tuple[Example, ...]


Block = Examples | Table | Pictures | Text | Lines | Heading | Code | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading of its own.

    Parameters
    ----------
    title : str
    lead : str
        One sentence: what is seen.
    blocks : tuple of Block
    """

    title: str
    lead: str
    blocks: tuple[Block, ...] = field(default=())

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
