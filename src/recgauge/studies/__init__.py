"""Studies: how the runs of an experiment become a result, such as a table of published and own numbers.

A study turns finished runs into rows of text; the table, text and figures of the experiment's page are made
from those rows alone, so a committed page can be checked against the committed rows. Knows neither Hydra nor
MLflow.
"""

import csv
import gzip
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TextIO, cast

from recgauge.errors import MissingDataError, SchemaError
from recgauge.metrics.names import label as label
from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import MetricValue, RunRecord

Row = dict[str, str]
"""One row of results.csv: column to text, every row with the same columns."""
RESULTS = "results.csv"
BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"


class Study(ABC):
    """Concludes an experiment."""

    needs_runs: ClassVar[bool] = True
    """False: everything the study needs is in its own folder; no model is trained."""
    artifacts: ClassVar[tuple[str, ...]] = ()
    """Names of files that every run must have stored, in addition to its record."""
    measured: ClassVar[tuple[str, ...]] = ()
    """Columns of results.csv that no two runs share, such as seconds; see `publish`."""
    compressed: ClassVar[bool] = False
    """Whether the rows are so many that they are kept as results.csv.gz."""
    columns: ClassVar[tuple[str, ...]] = ()
    """All columns of results.csv, of a study whose rows are each of one run."""
    name: str
    """Name of the experiment and of its folder."""

    def check(self, source: Path) -> None:  # noqa: B027 - most studies have inputs, none must
        """Read what the study needs from its folder, so that mistakes show before any work is done."""

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:  # noqa: ARG002 - contract
        """Return the rows of results.csv, always in the same order, from the runs in the order of the jobs.

        `source` is the experiment's folder as it was published, with its inputs. By default a run has the
        rows of `numbers`, or without results one with the reason.
        """
        rows = []
        for run in runs:
            about = dict.fromkeys(self.columns, "") | self.about(run)
            numbers = [{"reason": run.short_reason}] if run.record is None else self.numbers(run, run.record)
            rows += [about | number for number in numbers]
        return rows

    def about(self, run: JobOutcome) -> Row:
        """Return what all rows of a run have in common; by default data set and model."""
        return {name: run.names.get(name, "") for name in ("dataset", "model")}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:
        """Return what the rows of a run with results have each."""
        raise NotImplementedError

    @abstractmethod
    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the text between the markers of the experiment's README, made from the rows alone."""

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":  # noqa: ARG002 - contract
        """Return ``{file name without ending: figure}``, made from the rows alone; none by default."""
        return {}


def results_text(rows: Sequence[Row]) -> str:
    """Return the rows as CSV; equal rows give equal text."""
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
    """Return the rows of a results.csv, which may be packed as results.csv.gz."""
    with open_text(path) as file:
        return list(csv.DictReader(file))


def open_text(path: Path) -> TextIO:
    """Open a text for reading, or where it is not there the one that is packed beside it."""
    if path.suffix != ".gz" and not path.is_file():
        path = path.with_name(f"{path.name}.gz")
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "rt", newline="", encoding="utf-8"))
    return path.open(newline="", encoding="utf-8")


def results_file(folder: Path) -> Path:
    """Return the results of an experiment's folder, packed or not; they may not be there."""
    packed = folder / f"{RESULTS}.gz"
    return packed if packed.is_file() else folder / RESULTS


def publish(study: Study, rows: Sequence[Row], folder: Path) -> None:
    """Write results.csv, figures and page of an experiment into its folder.

    Rows that differ from those in the folder by nothing but what was measured leave these as they are: the
    same numbers never change a committed file.
    """
    results = results_file(folder)
    stored = read_results(results) if results.is_file() else []
    unmeasured = [[{**row, **dict.fromkeys(study.measured)} for row in each] for each in (stored, rows)]
    shown = stored if unmeasured[0] == unmeasured[1] else rows
    write_results(folder, shown, study.figures(shown), compressed=study.compressed)
    write_page(folder, folder, study.markdown(shown))


def write_results(
    folder: Path, rows: Sequence[Row], figures: "Mapping[str, Figure]", *, compressed: bool = False
) -> list[Path]:
    """Write results.csv, packed or not, and the figures; return the files. Equal rows give equal bytes."""
    from recgauge.report.figures.style import save_png

    folder.mkdir(parents=True, exist_ok=True)
    results, text = folder / RESULTS, results_text(rows)
    if compressed:
        results = folder / f"{RESULTS}.gz"
        if not results.is_file() or read_results(results) != list(rows):  # another zlib packs otherwise
            results.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        results.write_text(text, encoding="utf-8")
    return [results, *(save_png(figure, folder / f"{name}.png") for name, figure in figures.items())]


def write_page(folder: Path, source: Path, part: str) -> None:
    """Write the page of the folder `source` into `folder`, with another text between its markers."""
    page = source / "README.md"
    if not page.is_file():
        raise MissingDataError(f"{page}: there is no such file. An experiment's page is made from it.")
    text = with_marked_part(page.read_text(encoding="utf-8"), part)
    (folder / "README.md").write_text(text, encoding="utf-8")


def marked_part(readme: str) -> str:
    """Return the text between the markers.

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


def where(rows: Sequence[Row], **cells: str) -> list[Row]:
    """Return the rows with these texts in their columns."""
    return [row for row in rows if all(row[column] == text for column, text in cells.items())]


def table(rows: Sequence[Row], titles: Mapping[str, str], right: Sequence[str] = ()) -> str:
    """Return columns of the rows, each with its title, as a table in Markdown.

    Examples
    --------
    >>> print(table([{"model": "svd", "ours": "0.93"}], {"model": "model", "ours": "RMSE"}, right=["RMSE"]))
    | model | RMSE |
    | --- | ---: |
    | svd | 0.93 |
    """
    return markdown_table([[row[name] for name in titles] for row in rows], [*titles.values()], right)


def plain_table(rows: Sequence[Row], n_left: int = 1) -> str:
    """Return rows as a table whose titles are their columns; numbers begin after `n_left` columns of text.

    Examples
    --------
    >>> print(plain_table([{"model": "svd", "rank": "1.5"}]))
    | model | rank |
    | --- | ---: |
    | svd | 1.5 |
    """
    titles = list(rows[0])
    return table(rows, {title: title for title in titles}, right=titles[n_left:])


def number_row(entry: "MetricValue", column: str = "value") -> Row:
    """Return what a row tells of a run's number, the number itself in a column of this name."""
    return {
        "metric": entry.key,
        column: f"{entry.value:.8g}",
        "stderr": "" if entry.stderr is None else f"{entry.stderr:.3g}",
        "definition": entry.definition,
    }


def missing_runs(rows: Sequence[Row], form: str) -> list[str]:
    """Return one part of a page that lists the runs without numbers and why; none if there are no such.

    Examples
    --------
    >>> missing_runs([{"metric": "", "model": "svd", "reason": "no data"}], "{model}")
    ['- open: svd: no data']
    """
    missing = [f"- open: {form.format_map(row)}: {row['reason']}" for row in where(rows, metric="")]
    return ["\n".join(dict.fromkeys(missing))] if missing else []


def folded(title: str, text: str) -> str:
    """Return a part of a page that is shown after a click on its title."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
