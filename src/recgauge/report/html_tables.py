"""Results as HTML tables, for notebooks: no style and no script of our own, every text escaped."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recgauge.evaluation import Evaluation, MetricResult


def html_table(rows: Sequence[Sequence[str]], header: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Return a table, and sentences below it.

    Examples
    --------
    >>> html_table([["a<b"]], ["run"], ["one"])
    '<table><thead><tr><th>run</th></tr></thead><tbody><tr><td>a&lt;b</td></tr></tbody></table><p>one</p>'
    """
    head = "".join(f"<th>{html.escape(text)}</th>" for text in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(one)}</td>" for one in row) + "</tr>" for row in rows)
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def evaluation_html(evaluation: "Evaluation") -> str:
    """Return a row for each metric and a column for each cutoff: the mean over users ± its standard error."""
    cutoffs = sorted({one.k for one in evaluation.results if one.k is not None})
    columns: list[int | None] = [*cutoffs]
    if any(one.k is None for one in evaluation.results):
        columns.append(None)
    cells: dict[str, dict[int | None, str]] = {}
    for one in evaluation.results:
        cells.setdefault(one.name, {})[one.k] = _value(one)
    header = ["metric", *("value" if k is None else f"@{k}" for k in columns)]
    rows = [[name, *(values.get(k, "") for k in columns)] for name, values in cells.items()]
    n_left_out = evaluation.counts.get("users_left_out", 0)
    users = f"{evaluation.counts.get('users_evaluated', len(evaluation.users)):,} users"
    left_out = f", {n_left_out:,} left out" if n_left_out else ""
    return html_table(rows, header, [f"Mean over {users}{left_out} ± its standard error."])


def _value(one: "MetricResult") -> str:
    return f"{one.value:.4f}" if one.stderr is None else f"{one.value:.4f} ± {one.stderr:.4f}"
