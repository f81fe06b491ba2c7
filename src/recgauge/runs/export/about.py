"""The page about.md that goes with exported files."""

from collections.abc import Mapping

from recgauge._version import __version__
from recgauge.conventions import get_convention
from recgauge.runs.export.formats import Exporter
from recgauge.runs.export.writing import ExportFile
from recgauge.runs.record import RunRecord


def about_page(asked: str, record: RunRecord, files: Mapping[str, ExportFile], exporter: Exporter) -> str:
    """Return about.md: what the files hold, and how to evaluate them."""
    low = record.dataset.relevant_from
    grade = "1 for every row" if low is None else f"the rating if that is at least {low:g}, else 0"
    text = f"""# {record.names["model"]} on {record.dataset.name}

Files of the run {asked}, written by `recgauge export` {__version__}. The run was: `{record.command}`

- Ids are the publisher's. A user without a list has no row among the lists; lists may be short.
- `grade` is what an item counted as in the run: {grade}. Rows with grade 0 are judged and not relevant.
- `rank` is the place in the list, from 1. `score` is the model's, where equal scores may be.
"""
    if any(name.startswith(("lists.trec", "run.parquet")) for name in files):
        told = "falls with the rank" if exporter.scores == "rank" else "is the model's, ties included"
        relevant = "; a relevant item has the grade 1" if exporter.grades == "binary" else ""
        if (factor := exporter.grade_factor) != 1:
            relevant = f"; grades are {factor} times the rating, to be whole numbers"
        text += f"- For TREC and ranx the score {told}{relevant}; a pair that repeats is there once.\n"
    if record.incomparable:
        text += f"- Numbers of these lists are not those of the whole catalogue: {record.incomparable}.\n"
    counts = {name: "" if file.n_rows is None else f"{file.n_rows:,}" for name, file in files.items()}
    rows = "".join(f"| `{name}` | {counts[name]} | {file.about} |\n" for name, file in files.items())
    text += f"\n| file | rows | columns |\n| --- | ---: | --- |\n{rows}"
    usage = _usage(record, files)
    return text + (f"\nIn this folder, the run's numbers again: `{usage}`\n" if usage else "")


def _usage(record: RunRecord, files: Mapping[str, ExportFile]) -> str:
    """Return the command that evaluates the files here again; an empty text if there is nothing to judge."""
    names = {name.removesuffix(".gz"): name for name in files}
    part, convention = record.evaluated_on, get_convention(record.names["conventions"])
    known = convention.known()
    entries = [(entry, known[entry.name]) for entry in record.results if entry.name in known]
    keys = [f"{e.name}@{e.k}" for e, metric in entries if e.k and metric.needs_relevant and not metric.needs]
    rated = [entry.name for entry, metric in entries if metric.kind == "ratings"]
    kinds = (("csv", "csv"), ("trec", "qrels"), ("parquet", "parquet"))
    of_lists = [(f"lists.{kind}", f"{part}.{of_truth}", keys) for kind, of_truth in kinds]
    of_ratings = [(f"predictions.{kind}", f"{part}.{kind}", rated) for kind in ("csv", "parquet")]
    for rows, truth, metrics in of_lists + of_ratings:
        if rows in names and truth in names and metrics:
            words = f"--run {names[rows]} --truth {names[truth]} --metrics {','.join(metrics)}"
            return f"recgauge evaluate {words} --conventions {convention.name}"
    return ""
