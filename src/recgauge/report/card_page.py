"""A data card as a markdown page, with its figures if there are some."""

import re
from collections.abc import Mapping

from recgauge.errors import printable
from recgauge.report.card_text import CardTable, card_tables
from recgauge.report.data_card import DataCard


def card_markdown(card: DataCard, figures: Mapping[str, str] | None = None) -> str:
    """Return the card as a markdown page.

    Parameters
    ----------
    card : DataCard
    figures : mapping of str to str, optional
        Caption and relative path of each figure, shown at the end.

    Returns
    -------
    str

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> from recgauge.report.card_numbers import data_card
    >>> print(card_markdown(data_card(Demo().load())).splitlines()[0])
    # Data card: demo
    """
    first, *others = card_tables(card)
    parts = [f"# Data card: {_escaped(first.title)}", "", *_rows(first), ""]
    for table in others:
        parts += [f"## {table.title}", "", *_rows(table), ""]
    for caption, path in (figures or {}).items():
        parts += [f"![{caption}]({path})", ""]
    return "\n".join(parts)


def _rows(table: CardTable) -> list[str]:
    numbers = any(table.header)  # a table of names and values reads from the left
    rule = ["---", *("---:" if numbers else "---" for _ in table.header[1:])]
    return [_row(table.header), f"| {' | '.join(rule)} |", *map(_row, table.rows)]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    r"""Return a text of others as markdown shows it: neither as markup, HTML, a link nor another row.

    Examples
    --------
    >>> print(_escaped("a|b\n# <b>`c`"))
    a\|b # &lt;b>\`c\`
    """
    line = printable(" ".join(text.splitlines()))
    return re.sub(r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w))", r"\\\1", line.replace("&", "&amp;")).replace(
        "<", "&lt;"
    )
