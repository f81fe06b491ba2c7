"""What reading a table has to say: the columns taken, the rows left out. Survives being kept as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from recgauge.data.interactions import Interactions
from recgauge.datasets._table.check import CheckedPart, describe_skipped
from recgauge.datasets._table.files import TableFile
from recgauge.utils.progress import Progress


def facts_of(parts: Sequence[CheckedPart]) -> dict[str, Any]:
    """Return the columns' labels, remarks by the number of their file, and how many rows were left out."""
    remarks: list[list[int | str]] = []
    for number, checked in enumerate(parts):
        if checked.problems:
            remarks.append([number, describe_skipped(checked)])
        if checked.part.remark:
            remarks.append([number, checked.part.remark])
    return {
        "labels": dict(parts[0].part.labels),
        "remarks": remarks,
        "n_bad": sum(checked.n_bad for checked in parts),
    }


def tell(
    facts: Mapping[str, Any], files: Sequence[TableFile], rows: Interactions, name: str, progress: Progress
) -> None:
    """Say which columns were taken, so that a wrong guess is seen, and what was left out."""
    for number, remark in facts["remarks"]:
        progress.note(f"{files[number]}: {remark}.")
    labels = facts["labels"]
    texts = [f"{role} = {label}" for role, label in labels.items()]
    if "rating" in labels:
        texts.append(f"ratings from {rows.value.min():g} to {rows.value.max():g}")
    texts += [f"no {role}" for role in ("rating", "time") if role not in labels]
    progress.note(f"{name}: {', '.join(texts)}.")
