"""The files of an experiment's folder: results.csv and the README with its marked part."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from recgauge.errors import SchemaError
from recgauge.studies import Row

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
    """Return what stands between the markers.

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
        raise SchemaError(f"README.md: {BEGIN} and {END} must stand in it once each, in this order.")
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


def markdown_table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[str] = ()) -> str:
    """Return a table in Markdown; columns named in `right` are aligned to the right.

    Examples
    --------
    >>> print(markdown_table([["svd", "0.93"]], ["model", "RMSE"], right=["RMSE"]))
    | model | RMSE |
    | --- | ---: |
    | svd | 0.93 |
    """
    lines = [header, ["---:" if name in right else "---" for name in header], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
