"""The small files that jobs and sweeps leave: what was planned, and how each job ended."""

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from recgauge.app.terminal.secrets import without_secrets
from recgauge.runs.outcome import JobOutcome

FILE = "outcome.json"
PLAN = "sweep.json"
_STORED = [one.name for one in fields(JobOutcome) if one.name not in ("record", "folder")]


@dataclass(frozen=True)
class SweepPlan:
    """The jobs that a sweep sets out to do; written before the first one.

    Parameters
    ----------
    jobs : list of str
        Label of every job; empty if they are chosen while the sweep goes on.
    seconds, peak_bytes : list
        What is expected of every job, None where nothing is known.
    id : str
        Tells this sweep from earlier ones in the same folder.
    """

    jobs: list[str] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    peak_bytes: list[int | None] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid4().hex)

    def peak_of(self, number: int) -> int | None:
        """Return the bytes that a job may need, None where nothing is known."""
        return self.peak_bytes[number] if number < len(self.peak_bytes) else None

    def write(self, folder: Path) -> None:
        """Write the plan into the sweep's folder."""
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / PLAN, asdict(self))


def read_plan(folder: Path) -> SweepPlan:
    """Return the plan of the sweep that a folder belongs to; without a plan one with an empty id."""
    try:
        return SweepPlan(**json.loads((folder / PLAN).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return SweepPlan(id="")


def write_outcome(outcome: JobOutcome, folder: Path) -> None:
    """Write outcome.json, whole or not at all; the record is a file of its own.

    The folder is made where the job has not come to it, such as one whose worker died before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / FILE, {name: getattr(outcome, name) for name in _STORED})


def is_settled(folder: Path, plan: SweepPlan) -> bool:
    """Whether it is known how the job with this output folder ended, in this sweep."""
    outcome = read_outcome(folder / FILE) if plan.id else None
    # one that was interrupted alone, with its worker, is done anew
    return outcome is not None and outcome.sweep == plan.id and outcome.status not in ("stopped", "waiting")


def has_failed(folder: Path, plan: SweepPlan) -> bool:
    """Whether the job with this output folder has failed, in this sweep."""
    outcome = read_outcome(folder / FILE)
    return outcome is not None and outcome.sweep == plan.id and outcome.status == "failed"


def read_outcomes(folder: Path, plan: SweepPlan, *, stopped: bool = False) -> list[JobOutcome]:
    """Return how each job of a sweep ended, in the order of the jobs, without records.

    Parameters
    ----------
    folder : Path
        Of the sweep. Jobs that earlier sweeps left there are passed over.
    plan : SweepPlan
        Jobs without an outcome are there, too, with a reason that says so.
    stopped : bool
        Whether the sweep was stopped before all jobs had begun.
    """
    outcomes = [read_outcome(path) for path in folder.rglob(FILE)]
    found = {one.number: one for one in outcomes if one is not None and one.sweep == plan.id}
    for number, label in enumerate(plan.jobs):
        missing = JobOutcome(number, label, "failed", f"left no {FILE}; its process may have been killed")
        if stopped:
            missing = replace(missing, status="stopped", reason="not begun")
        found.setdefault(number, replace(missing, folder=folder / str(number)))
    return [found[number] for number in sorted(found)]


def short_labels(labels: list[str]) -> list[str]:
    """Leave out of labels what all of them share, and name an experiment's own parts without its name.

    Examples
    --------
    >>> short_labels(["model=svd seed=1", "model=random seed=1"])
    ['model=svd', 'model=random']
    """
    words = [label.split(" ") for label in labels]
    shared = set.intersection(*map(set, words)) if len(labels) > 1 else set()
    return [
        " ".join(_short(word) for word in own if word not in shared) or label
        for label, own in zip(labels, words, strict=True)
    ]


def _short(word: str) -> str:
    return word.partition("=")[2] if word.startswith("+experiment/") else word


def read_outcome(path: Path) -> JobOutcome | None:
    """Return the outcome in a file, None if it holds none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return JobOutcome(**content, folder=path.parent) if set(content) <= set(_STORED) else None
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file without secrets, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(json.dumps(without_secrets(content), default=str), encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
