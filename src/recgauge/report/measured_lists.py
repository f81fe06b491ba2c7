"""Measured lists of `recgauge evaluate` as lines of text and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recgauge._version import __version__
from recgauge.data.coverage import FEW_EVALUATED, FEW_USERS
from recgauge.data.meeting import Meeting
from recgauge.errors import listed, quantity
from recgauge.evaluation.measured import MeasuredRuns
from recgauge.files.stored import StoredTable
from recgauge.metrics.names import label
from recgauge.recorded.findings import describe

if TYPE_CHECKING:
    from recgauge.comparison.results import Comparison


def reading_lines(
    warnings: Sequence[str], understood: Sequence[str], meetings: Mapping[str, Sequence[Meeting]]
) -> list[str]:
    """Return warnings, how files were read, and the shares of ids in common."""
    return [
        *(f"warning  {warning}" for warning in warnings),
        *(f"read     {line}" for line in understood),
        *(
            f"met      {name}: {'; '.join(meeting.sentence for meeting in of_run)}"
            for name, of_run in meetings.items()
            if of_run
        ),
    ]


def table_line(table: StoredTable) -> str:
    """Return how a table of Parquet files was read."""
    labels = ", ".join(f"{role}={label}" for role, label in table.labels.items())
    labels += f", not used: {listed(table.layout.unused, most=10)}" if table.layout.unused else ""
    files, rows = quantity(len(table.files), "file"), quantity(table.n_rows, "row")
    return f"read     {table.address}: {files}, {rows}; {labels}"


def grade_lines(measured: MeasuredRuns) -> list[str]:
    """Return the sentence on relevant rows of the truth, where it has grades."""
    grades = next(iter(measured.results.values())).grades
    if grades is None:
        return []
    return [*([f"warning  {grades.warning}"] if grades.warning else []), f"relevant {grades.sentence}"]


def result_lines(measured: MeasuredRuns, conventions: str) -> list[str]:
    """Return the sentence on relevant rows, and the numbers and findings of each run."""
    lines, unmet = grade_lines(measured), "unmet"  # which the first lines say
    findings = {
        name: describe([finding for finding in measured.lists[name].findings if finding.name != unmet])
        for name in measured.results
    }
    shared = set.intersection(*map(set, findings.values())) if len(findings) > 1 else set()
    lines += [f"found    all runs: {line}" for line in next(iter(findings.values())) if line in shared]
    for name, evaluation in measured.results.items():
        counts = evaluation.counts
        n_users = quantity(counts["users_evaluated"], "user")
        size = f"{quantity(measured.lists[name].n_lists, 'list')}, {n_users} evaluated"
        if "ratings_evaluated" in counts:
            size = f"{quantity(counts['ratings_evaluated'], 'rating')} of {n_users} evaluated"
        left_out = f", {counts['users_left_out']:,} left out" if "users_left_out" in counts else ""
        has_errors = any(result.stderr is not None for result in evaluation.results)
        error = "; ± is the standard error of a mean over users" * has_errors
        lines.append(f"{name}: {size}{left_out}; conventions={conventions}{error}")
        lines += [f"    warning  {warning}" for warning in _warnings(counts)]
        width = max(len(result.key) for result in evaluation.results)
        for result in evaluation.results:
            error = "" if result.stderr is None else f" ± {result.stderr:.4f}"
            lines.append(f"    {label(result.key):<{width}}  {result.value:.4f}{error}")
        if evaluation.ineligible is not None:
            lines.append(f"    lists  {evaluation.ineligible.sentence}")
        lines += [f"    found  {line}" for line in findings[name] if line not in shared]
    return lines


def _warnings(counts: Mapping[str, int]) -> list[str]:
    """Return warnings where numbers are of few users, or of few of those there are."""
    n_users = counts["users_evaluated"]
    n_all = n_users + counts.get("users_left_out", 0)
    warnings = []
    if n_users < FEW_EVALUATED * n_all:
        warnings.append(
            f"coverage: {n_users:,} of {n_all:,} users are evaluated; the others have no relevant item, or "
            "no list"
        )
    if n_users < FEW_USERS:
        warnings.append(f"few_users: fewer than {FEW_USERS}, so intervals and ± are too narrow")
    return warnings


def measured_json(
    measured: MeasuredRuns,
    conventions: str,
    files: Mapping[str, Sequence[str]],
    comparison: "Comparison | None",
) -> str:
    """Return everything, not rounded."""
    runs = {
        name: {
            "values": evaluation.values(),
            "stderrs": evaluation.stderrs(),
            "definitions": evaluation.definitions(),
            "counts": dict(evaluation.counts),
            "policies": evaluation.policies,
            "ineligible": None if evaluation.ineligible is None else asdict(evaluation.ineligible),
            "met": [asdict(meeting) | {"share": meeting.share} for meeting in measured.lists[name].meetings],
            "found": [
                {"name": finding.name, "count": finding.count, "first": finding.first}
                for finding in measured.lists[name].findings
            ],
        }
        for name, evaluation in measured.results.items()
    }
    content: dict[str, Any] = {"recgauge": __version__, "conventions": conventions, "files": dict(files)}
    content["runs"] = runs
    if comparison is not None:
        from recgauge.report.comparison_tables import json_text

        content["comparison"] = json.loads(json_text(comparison))
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
