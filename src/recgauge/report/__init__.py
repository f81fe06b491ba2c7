"""Tables of results for people; formatting and rounding live here and nowhere else."""

import re
from collections.abc import Sequence


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
    line = " ".join(text.splitlines()).replace("|", "\\|")
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", line)
