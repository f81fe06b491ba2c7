"""Run records for tests, made without a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recgauge.runs.folder import JobOutcome
from recgauge.runs.record import DatasetFacts, MetricValue, PartFacts, RunRecord, SplitFacts

NAMES = {"dataset": "d", "split": "s", "candidates": "all", "model": "m", "conventions": "standard"}


def metric(name: str, k: int | None, value: float, **changes: Any) -> MetricValue:
    """Return a number of a run, such as ``ndcg_at_10``."""
    key, definition = (name, name) if k is None else (f"{name}_at_{k}", f"{name}@{k}")
    facts: dict[str, Any] = {"key": key, "name": name, "k": k, "value": value, "stderr": None}
    return MetricValue(**facts | {"definition": definition, "higher_is_better": True} | changes)


def record_with(*results: MetricValue, **changes: Any) -> RunRecord:
    """Return the record of a small run, with other values for the fields that are named."""
    facts: dict[str, Any] = {
        "names": NAMES,
        "seed": 0,
        "command": "python run.py",
        "settings": {},
        "dataset": DatasetFacts("d", "0", "p", "src", "", "explicit", 4.0, 1, 1, 1),
        "split": SplitFacts(PartFacts(1, 1, "a"), PartFacts(1, 1, "b")),
        "results": results,
        "refused": {},
        "policies": "",
        "counts": {},
        "seconds": {},
        "environment": {},
    }
    return RunRecord(**facts | changes)


def ended(
    names: Mapping[str, str],
    settings: Mapping[str, Any],
    record: RunRecord | None,
    folder: Path,
    problem: str | None = None,
) -> JobOutcome:
    """Return how a job of an experiment ended, as its study sees it."""
    status: Any = "done" if problem is None else "failed"
    return JobOutcome(0, "", status, problem, names=names, settings=settings, record=record, folder=folder)
