"""The marks of numbers that mean less than they seem to."""

from collections.abc import Sequence

from rich.table import Table

from recgauge.runs.facts import MetricValue, SanityFacts
from recgauge.runs.record import RunRecord

MARK = "\u2020"  # dagger


def mark_lines(record: RunRecord) -> list[str]:
    """Return one line for each thing that a reader of the numbers must know.

    Parameters
    ----------
    record : RunRecord

    Returns
    -------
    list of str
        The candidates' mark first, then guards from a warning on; notes stay in the record.
    """
    lines = []
    if record.incomparable:
        lines.append(
            f"{MARK} not comparable with full-catalogue numbers: {record.incomparable} "
            f"(candidates={record.names['candidates']})"
        )
    for guard in record.guards:
        if guard.overridden:
            lines.append(f"overridden {guard.name}: {guard.message}")
        elif guard.fired:
            lines.append(f"warning  {guard.name}: {guard.message}")
    return lines


def sanity_table(results: Sequence[MetricValue], sanity: SanityFacts) -> Table:
    """Return metrics by cutoffs, each with the value of chance and the best that can be reached.

    Parameters
    ----------
    results : sequence of MetricValue
        Their order is that of the table.
    sanity : SanityFacts
    """
    chance, oracle = sanity.chance, sanity.oracle
    entries = [entry for entry in results if entry.key in chance]
    cutoffs = list(dict.fromkeys(entry.k for entry in entries))
    table = Table(pad_edge=False, box=None)
    table.add_column("chance/best", no_wrap=True)
    for k in cutoffs:
        table.add_column("value" if k is None else f"@{k}", justify="right", no_wrap=True)
    cells = {}
    for entry in entries:
        best = _short(oracle[entry.key]) if entry.key in oracle else ""
        cells[entry.name, entry.k] = f"{_short(chance[entry.key])}/{best}"
    for name in dict.fromkeys(entry.name for entry in entries):
        table.add_row(name, *(cells.get((name, k), "") for k in cutoffs))
    return table


def _short(value: float) -> str:
    """Four decimals of small values and three of others, so that four cutoffs fit 80 columns."""
    text = f"{value:.4f}"
    return text.removeprefix("0") if text.startswith("0.") else f"{value:.3f}"


def sweep_mark_lines(records: Sequence[tuple[int, RunRecord]]) -> list[str]:
    """Return the notes below a sweep's table: what a reader must know, and the jobs that it concerns.

    A guard's warning that has other numbers in other jobs, such as one per fold, is shown once.

    Parameters
    ----------
    records : sequence of (int, RunRecord)
        Number of the job and its record.
    """
    kinds: dict[str, dict[str, list[int]]] = {}
    for number, record in records:
        for line in mark_lines(record):
            kinds.setdefault(line.partition(":")[0], {}).setdefault(line, []).append(number)
    lines = []
    for kind, jobs_of in kinds.items():
        told = [f"{line} [{_jobs(numbers)}]" for line, numbers in jobs_of.items()]
        if kind.startswith("warning") and len(told) > 1:
            others = sorted(number for numbers in list(jobs_of.values())[1:] for number in numbers)
            told[1:] = [
                f"{kind}: the same with other numbers; guards.json of each job has them [{_jobs(others)}]"
            ]
        lines += told
    return [*lines, *selection_lines(records)]


def selection_lines(records: Sequence[tuple[int, RunRecord]]) -> list[str]:
    """Say which jobs differ in a model's settings alone: choosing the best of them is selection on test."""
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for number, record in records:
        names = [record.names[name] for name in ("model", "dataset", "split", "candidates")]
        group = (*names, str(record.seed), record.split.test.sha256, _remedy(record))
        settings = str(record.settings.get("model"))
        groups.setdefault(group, {}).setdefault(settings, []).append(number)
    jobs_of: dict[str, list[str]] = {}
    for group, by_settings in groups.items():
        if len(by_settings) > 1:
            line = f"settings of {group[0]} differ and this table is of test rows, so choosing the best of it"
            jobs = _jobs(sorted(job for jobs in by_settings.values() for job in jobs))
            jobs_of.setdefault(f"{line} is selection on test; {group[-1]}", []).append(jobs)
    return [f"warning  selection_on_test: {line} [{'; '.join(jobs)}]" for line, jobs in jobs_of.items()]


def _remedy(record: RunRecord) -> str:
    if record.split.validation is not None:
        return "choose by the validation rows."
    return "hold out validation rows (split.validation_size=0.1) and choose by those."


def _jobs(numbers: Sequence[int]) -> str:
    return ("job " if len(numbers) == 1 else "jobs ") + ", ".join(map(str, numbers))
