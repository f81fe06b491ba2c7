"""The tables that a run and a sweep end with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from recgauge.fit_rows import leak_mark
from recgauge.records import RunRecord
from recgauge.report.marks import MARK
from recgauge.report.steps import dropped_lines, filter_lines


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How one job of a sweep ended.

    Parameters
    ----------
    number : int
        Place in the sweep, from 0.
    label : str
        What sets the job apart, such as ``model=svd dataset=demo``.
    record : RunRecord or None
        Present if the job finished.
    error : str or None
        Why it failed.
    reused : str or None
        Id of the finished run that stands for the job, if there was one.
    no_data : bool
        Whether the job was not begun because its data are missing.
    """

    number: int
    label: str
    record: RunRecord | None
    error: str | None
    reused: str | None = None
    no_data: bool = False

    @property
    def status(self) -> str:
        """One word or two for how the job ended."""
        if self.record is not None:
            return "reused" if self.reused else "done"
        return "no data" if self.no_data else "failed"


def result_table(record: RunRecord, *, stderr: bool = True) -> Table:
    """Return metrics by cutoffs, each value with its standard error unless there is no room for it."""
    cutoffs = list(dict.fromkeys(entry["k"] for entry in record.results))
    table = Table(pad_edge=False, box=None)
    table.add_column("metric", no_wrap=True)
    for k in cutoffs:
        table.add_column("value" if k is None else f"@{k}", justify="right", no_wrap=True)
    cells = {(entry["name"], entry["k"]): _value(entry, stderr) for entry in record.results}
    for name in dict.fromkeys(entry["name"] for entry in record.results):
        table.add_row(name, *(cells.get((name, k), "") for k in cutoffs))
    return table


def run_lines(record: RunRecord) -> list[str]:
    """Return what stands around the table: data, what was dropped and skipped, seconds."""
    data, split, counts = record.dataset, record.split, record.counts
    lines = [
        *filter_lines(record),
        f"data     {record.names['dataset']}: {data['n_rows']:,} rows, {data['n_users']:,} users, "
        f"{data['n_items']:,} items ({data['provenance']})",
        f"split    {record.names['split']}: "
        + ", ".join(
            f"{part} {split[f'{part}_rows']:,} rows"
            for part in ("train", "fold_in", "validation", "test")
            if f"{part}_rows" in split
        ),
        *dropped_lines(record),
    ]
    if mark := leak_mark(record.fit_on):
        lines.append(f"marked   {mark}")
    if "users_left_out" in counts:
        lines.append(_users_line(data["relevant_from"], counts))
    if "ratings_predicted" in counts:
        lines.append(
            f"ratings  {counts['ratings_predicted']:,} predicted, {counts['ratings_impossible']:,} "
            "impossible (the mean stands in), "
            f"{counts['ratings_partly_unknown']:,} of an unknown user or item"
        )
    lines.extend(f"refused  {name}: {reason}" for name, reason in record.refused.items())
    lines.append("seconds  " + ", ".join(f"{name} {value:.2f}" for name, value in record.seconds.items()))
    return lines


def _users_line(relevant_from: float | None, counts: dict[str, int]) -> str:
    relevant = "every row" if relevant_from is None else f"value >= {relevant_from:g}"
    n_without = counts["users_without_relevant_items"]
    # all of them or none, since every user of a run has test rows; older records do not say it
    skipped = n_without - counts.get("users_evaluated_without_relevant_items", 0)
    said = "skipped" if skipped else "of them"
    return (
        f"users    {counts['users_evaluated']:,} evaluated, "
        f"{n_without:,} {said} without a relevant test item ({relevant}), "
        f"{counts['users_without_test_rows']:,} without a test row"
    )


def sweep_table(jobs: Sequence[JobOutcome]) -> Table:
    """Return one row a job, with the best value of each metric among comparable jobs marked."""
    keys = headline_keys([job.record for job in jobs if job.record is not None])
    best = _best_values([job.record for job in jobs if job.record is not None], keys)
    table = Table(pad_edge=False, box=None)
    table.add_column("job", justify="right")
    table.add_column("settings", overflow="fold")
    table.add_column("status")
    for key in keys:
        table.add_column(key.replace("_at_", "@"), justify="right")
    previous = None
    for job in sorted(jobs, key=lambda job: (_group(job.record), job.number)):
        if previous is not None and _group(job.record) != previous:
            table.add_section()
        previous = _group(job.record)
        table.add_row(str(job.number), Text(_label(job)), _status(job), *_cells(job.record, keys, best))
    return table


def headline_keys(records: Sequence[RunRecord]) -> list[str]:
    """Return the keys of every metric at one cutoff that all records share: 10, else the largest."""
    if not records:
        return []
    entries = [entry for entry in records[0].results if all(entry["key"] in r.values() for r in records)]
    ks = [entry["k"] for entry in entries if entry["k"] is not None]
    headline = 10 if 10 in ks else max(ks, default=None)
    return [entry["key"] for entry in entries if entry["k"] in (headline, None)]


def _group(record: RunRecord | None) -> tuple[str, ...]:
    """Return what runs share whose numbers can be compared."""
    if record is None:
        return ("~",)  # failed jobs come last
    names = (record.names[name] for name in ("dataset", "split", "candidates", "conventions"))
    rows = (record.split["train_sha256"], record.split["test_sha256"], str(record.dataset["relevant_from"]))
    candidates = (str(record.settings.get("candidates")), record.candidates_sha256)
    return (*names, *rows, *candidates, record.fit_on)


def has_rivals(records: Sequence[RunRecord]) -> bool:
    """Whether at least two runs can be compared, so that one of them is the best."""
    return bool(_rivals(records))


def _rivals(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs that another can be compared with: alone, any number is the best."""
    sizes = Counter(_group(record) for record in records)
    return [record for record in records if sizes[_group(record)] > 1]


def _best_values(records: Sequence[RunRecord], keys: Sequence[str]) -> dict[tuple[Any, str], float]:
    best: dict[tuple[Any, str], float] = {}
    for record in _rivals(records):
        direction = {entry["key"]: entry["higher_is_better"] for entry in record.results}
        for key in keys:
            value, place = record.values()[key], (_group(record), key)
            choose = max if direction[key] else min
            best[place] = choose(best.get(place, value), value)
    return best


def _cells(record: RunRecord | None, keys: Sequence[str], best: dict[tuple[Any, str], float]) -> list[Text]:
    if record is None:
        return [Text("")] * len(keys)
    cells = []
    for key in keys:
        value = record.values()[key]
        is_best = value == best.get((_group(record), key))
        cells.append(Text(f"{value:.4f}{'*' if is_best else ' '}", style="bold green" if is_best else ""))
    return cells


def _label(job: JobOutcome) -> str:
    leaks = job.record is not None and leak_mark(job.record.fit_on) is not None
    return f"{job.label} (saw the test rows)" if leaks else job.label


def _status(job: JobOutcome) -> Text:
    colours = {"done": "green", "reused": "cyan", "no data": "yellow", "failed": "red"}
    # sampled numbers look like others in a table: the mark stands in the row, its reason below
    marked = job.record is not None and job.record.incomparable
    return Text(f"{job.status} {MARK}" if marked else job.status, style=colours[job.status])


def _value(entry: dict[str, Any], stderr: bool) -> str:
    if not stderr or entry["stderr"] is None:
        return f"{entry['value']:.4f}"
    error = f"{entry['stderr']:.4f}"
    return f"{entry['value']:.4f} ± {error.removeprefix('0')}"  # short, so that four cutoffs fit 80 columns
