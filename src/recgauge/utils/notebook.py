"""How values show themselves in Jupyter: as a small HTML table."""

import html
from collections.abc import Sequence


def html_table(rows: Sequence[Sequence[str]], header: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Return a table, and sentences below it.

    Examples
    --------
    >>> html_table([["a<b"]], ["run"], ["one"])
    '<table><thead><tr><th>run</th></tr></thead><tbody><tr><td>a&lt;b</td></tr></tbody></table><p>one</p>'
    """
    head = "".join(f"<th>{html.escape(text)}</th>" for text in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
