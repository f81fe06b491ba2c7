"""Results that show themselves: as text, as Markdown, and in notebooks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from recgauge.report.blocks import Block, render_markdown


class Shown(ABC):
    """A result that says by its blocks what it shows."""

    __slots__ = ()

    @abstractmethod
    def blocks(self, *, brief: bool = False) -> Sequence[Block]:
        """Return tables, sentences and headings; `brief`: not more than a screen has room for."""

    def __str__(self) -> str:
        from recgauge.report.console import as_text

        return as_text(self.blocks(brief=True))

    def to_markdown(self) -> str:
        """Return the tables and sentences in Markdown."""
        return render_markdown(self.blocks())

    def _repr_html_(self) -> str:
        from recgauge.report.html import render_html

        return render_html(self.blocks(brief=True))
