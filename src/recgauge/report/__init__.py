"""Tables of results for people; formatting and rounding live here and nowhere else."""

import re
from collections.abc import Sequence

from recgauge.errors import printable


def markdown_table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[str] = ()) -> str:
    """Return a table in Markdown; columns named in `right` are aligned to the right.

    Texts of users, such as names of runs, can neither end a cell nor a line, nor begin HTML.

    Examples
    --------
    >>> print(markdown_table([["svd", "0.93"]], ["model", "RMSE"], right=["RMSE"]))
    | model | RMSE |
    | --- | ---: |
    | svd | 0.93 |
    """
    lines = [header, ["---:" if name in right else "---" for name in header], *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return markdown_line(text).replace("|", "\\|")


def markdown_line(text: str) -> str:
    r"""Return a text for Markdown that ends no line, begins no HTML and hides nothing.

    Examples
    --------
    >>> print(markdown_line("<b>svd\nis < ease"))
    &lt;b>svd is < ease
    """
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", one_line(text))


def one_line(text: str) -> str:
    r"""Return a text on one line, its control characters and those that turn text round as escapes.

    Examples
    --------
    >>> print(one_line("svd\n\x1b[31m"))
    svd \x1b[31m
    """
    return printable(" ".join(text.splitlines()))
