"""A comparison as tables: Markdown, LaTeX, HTML."""

from recgauge.comparison import Comparison
from recgauge.report import markdown_table


def markdown(comparison: Comparison) -> str:
    """Return the leaderboards in Markdown."""
    rows = [
        [one.metric, row.run, f"{row.mean:.4f}", f"[{row.low:.4f}, {row.high:.4f}]", row.letters]
        for one in comparison.results
        for row in one.rows
    ]
    return markdown_table(rows, ["metric", "run", "mean", "interval", "letters"], right=["mean"])


def latex(comparison: Comparison) -> str:
    """Return the leaderboards in LaTeX."""
    raise NotImplementedError


def html(comparison: Comparison) -> str:
    """Return the leaderboards in HTML."""
    return f"<pre>{markdown(comparison)}</pre>"
