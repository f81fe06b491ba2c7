"""Finished runs compared: what a reader of the numbers must know, and the files of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from recgauge.comparison.runs import ComparedRuns, records_of
from recgauge.comparison.series import Series
from recgauge.errors import listed
from recgauge.models.fitting import leak_mark
from recgauge.report.comparison_files import csv_text, json_text, run_rows
from recgauge.report.comparison_tables import latex, markdown
from recgauge.report.run_tables import MARK
from recgauge.report.sweep_tables import sweep_mark_lines
from recgauge.utils.output_files import text_writer, write_files

FORMATS = (".md", ".tex", ".csv", ".json")


def marks_of(found: ComparedRuns) -> tuple[str, ...]:
    """Return what a reader must know: in what marked runs differ, guards, selection on test rows."""
    datasets = dict.fromkeys(dataset for dataset, _ in found.series)
    lines = list(found.different)
    for dataset in datasets:
        named = {name: series for (other, name), series in found.series.items() if other == dataset}
        lines += _warnings(named, f"{dataset}: " if len(datasets) > 1 else "")
    return tuple(lines)


def _warnings(named: Mapping[str, Series], place: str) -> list[str]:
    """Return what a reader of the numbers must know, each line with the runs that it is of."""
    records = [(name, record) for name, series in named.items() for record in records_of(series)]

    def names(numbers: Iterable[int]) -> str:
        return place + listed(list(dict.fromkeys(records[number][0] for number in numbers)), most=3)

    leaks = {record.fit_on: leak_mark(record.fit_on) for _, record in records}
    lines = [
        f"{MARK} {told} [{names(i for i, (_, record) in enumerate(records) if record.fit_on == fit_on)}]"
        for fit_on, told in leaks.items()
        if told
    ]
    return lines + sweep_mark_lines(list(enumerate(record for _, record in records)), names, advise=False)


def write_comparison(found: ComparedRuns, files: Sequence[Path]) -> list[Path]:
    """Write a comparison to files by their suffix; return them and the pairs beside each CSV file.

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    comparison, costs, marks = found.comparison, found.costs, marks_of(found)
    texts: dict[Path, str] = {}
    for file in files:
        if file.suffix == ".csv":
            texts[file] = csv_text(run_rows(comparison, costs))
            texts[file.with_name(f"{file.stem}_pairs.csv")] = csv_text(comparison.records("pairs"))
        elif file.suffix == ".json":
            texts[file] = json_text(comparison, costs, [*marks, *found.notes])
        elif file.suffix == ".tex":
            texts[file] = latex(comparison, costs, marks=marks)
        else:
            texts[file] = f"{markdown(comparison, costs, marks=marks, notes=found.notes)}\n"
    return write_files({file: text_writer(text) for file, text in texts.items()})
