"""The files of an experiment's folder: results.csv and the page, README.md, with its marked part."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from recgauge.errors import SchemaError

Row = dict[str, str]
"""One row of results.csv: column to text, every row with the same columns."""
BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"


def results_text(rows: Sequence[Row]) -> str:
    """Return the rows as CSV; equal rows give equal text.

    Raises
    ------
    SchemaError
        If rows have different columns.
    """
    if not rows:
        raise SchemaError("results.csv: a study must have at least one row, got none.")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        if row.keys() != rows[0].keys():
            raise SchemaError(
                f"results.csv: every row must have the columns {', '.join(rows[0])}, got {row}."
            )
        writer.writerow(row)
    return text.getvalue()


def read_results(path: Path) -> list[Row]:
    """Return the rows of a results.csv."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def marked_part(readme: str) -> str:
    """Return the text between the markers.

    Raises
    ------
    SchemaError
        If the markers are not there once each, in their order.

    Examples
    --------
    >>> marked_part(f"before {BEGIN} inside {END} after")
    'inside'
    """
    before, begin, rest = readme.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in before + after:
        raise SchemaError(f"README.md: must contain {BEGIN} and {END} once each, in this order.")
    return inside.strip()


def with_marked_part(readme: str, part: str) -> str:
    """Return the README with another text between its markers.

    Examples
    --------
    >>> marked_part(with_marked_part(f"{BEGIN}old{END}", "new"))
    'new'
    """
    marked_part(readme)
    before, _, rest = readme.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"


def without_details(part: str) -> str:
    r"""Return a page's text without figures and without the parts that the page folds away.

    Examples
    --------
    >>> without_details("one\n\n![a figure](a.png)\n\n<details>\ntwo\n</details>")
    'one'
    """
    return re.sub(r"\n*(<details>.*?</details>|!\[[^\]]*\]\([^)]*\))", "", part, flags=re.DOTALL)


def distinct(rows: Sequence[Row], column: str) -> list[str]:
    """Return the different values of a column, in the order of their first rows."""
    return list(dict.fromkeys(row[column] for row in rows))


def label(metric: str) -> str:
    """Return a metric's key as people write it: ``ndcg@10`` for ``ndcg_at_10``."""
    return metric.replace("_at_", "@")
