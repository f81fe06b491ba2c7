"""Files of an export, and about.md: what they hold, and the command that evaluates them again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recgauge._version import __version__
from recgauge.conventions import get_convention
from recgauge.runs.record import RunRecord


@dataclass(frozen=True, eq=False)
class ExportFile:
    """A file that is to be written: its rows, what they are, and the function that takes its path."""

    n_rows: int | None
    about: str
    write: Callable[[Path], object]


Files = dict[str, ExportFile]
"""By their paths inside the folder of an export."""


def about_page(name: str, record: RunRecord, files: Files, notes: Sequence[str]) -> str:
    """Return about.md: what the files hold, and how to evaluate them."""
    low = record.dataset.relevant_from
    grade = "1 for every row" if low is None else f"the rating if that is at least {low:g}, else 0"
    if low is not None and low <= 0:
        grade = f"the rating, and relevant from {low:g} on"
    judged = "" if low is not None and low <= 0 else " Rows with grade 0 are judged and not relevant."
    text = f"""# {record.names["model"]} on {record.dataset.name}

Files of the run {name}, written by `recgauge export` {__version__}. The run was: `{record.command}`

- Ids are the publisher's. A user without a list has no row among the lists; lists may be short.
- `grade` is what an item counted as in the run: {grade}.{judged}
- `rank` is the place in the list, from 1. `score` is the model's, where equal scores may be.
"""
    text += "".join(f"- {note}.\n" for note in notes)
    if record.incomparable:
        text += f"- Numbers of these lists are not those of the whole catalogue: {record.incomparable}.\n"
    text += "\n| file | rows | columns |\n| --- | ---: | --- |\n"
    for path, file in files.items():
        text += f"| `{path}` | {'' if file.n_rows is None else f'{file.n_rows:,}'} | {file.about} |\n"
    usage = _usage(record, files)
    if (record.settings.get("split") or {}).get("average") == "user" and "queries_evaluated" in record.counts:
        return text + (
            "\nUser ids are those of queries, `u#17` for row 17 of user u; the run's numbers are means over "
            "users of the mean of their queries. `recgauge evaluate` takes means over queries.\n"
        )
    return text + (f"\nIn this folder, the run's numbers again: `{usage}`\n" if usage else "")


def _usage(record: RunRecord, files: Files) -> str:
    """Return the command that evaluates the files here again; an empty text if there is nothing to judge."""
    part, convention = record.evaluated_on, get_convention(record.names["conventions"])
    metrics_of = convention.by_name()
    entries = [(entry, metrics_of[entry.name]) for entry in record.results if entry.name in metrics_of]
    keys = [f"{e.name}@{e.k}" for e, metric in entries if e.k and metric.needs_relevant and not metric.needs]
    rated = [entry.name for entry, metric in entries if metric.kind == "ratings"]
    kinds = (("csv", "csv"), ("trec", "qrels"), ("parquet", "parquet"))
    of_lists = [(f"lists.{kind}", f"{part}.{of_truth}", keys) for kind, of_truth in kinds]
    of_ratings = [(f"predictions.{kind}", f"{part}.{kind}", rated) for kind in ("csv", "parquet")]
    for rows, truth, metrics in of_lists + of_ratings:
        if rows in files and truth in files and metrics:
            words = f"--run {rows} --truth {truth} --metrics {','.join(metrics)}"
            low = record.dataset.relevant_from
            if low is not None and low < 1 and metrics is keys and not truth.endswith("qrels"):
                words += f" --relevant-from {low}"
            return f"recgauge evaluate {words} --conventions {convention.name}"
    return ""
