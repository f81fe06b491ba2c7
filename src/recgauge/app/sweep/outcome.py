"""What a job leaves for the end of its sweep: how it ended, in a small file beside its results."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any
from uuid import uuid4

from recgauge.app.terminal.secrets import without_secrets

FILE = "outcome.json"
PLAN = "sweep.json"


@dataclass
class Outcome:
    """How a job ended; filled while it goes on.

    Parameters
    ----------
    label : str
        The command line's words for the job.
    number : int
        Position in the sweep, from 0.
    sweep : str
        Id of the sweep; jobs of an earlier sweep in the same folder have another one.
    names : dict of str to str
        The chosen options, as far as they became known.
    settings : dict of str to Any
        The resolved configuration, likewise.
    error : str or None
        Why the job has no record.
    reused : str or None
        Id of the finished run that stands for the job.
    no_data : bool
        Whether the job was not begun because its data are missing.
    untracked : str or None
        Why the tracking store lacks the results, which lie complete in the job's folder.
    stopped : bool
        Whether Ctrl-C or a signal ended the job, or the sweep before the job began.
    """

    label: str
    number: int = 0
    sweep: str = ""
    names: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    reused: str | None = None
    no_data: bool = False
    untracked: str | None = None
    stopped: bool = False

    def write(self, folder: Path) -> None:
        """Write the file, whole or not at all."""
        _write(folder / FILE, asdict(self))


@dataclass(frozen=True)
class SweepPlan:
    """The jobs that a sweep sets out to do; written before the first one.

    Parameters
    ----------
    jobs : list of str
        Label of every job; empty if they are chosen while the sweep goes on.
    id : str
        Tells this sweep from earlier ones in the same folder.
    """

    jobs: list[str]
    id: str = field(default_factory=lambda: uuid4().hex)

    def write(self, folder: Path) -> None:
        """Write the plan into the sweep's folder."""
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / PLAN, asdict(self))


def sweep_id(folder: Path) -> str:
    """Return the id of the sweep that a folder belongs to, empty if it has no plan."""
    try:
        return str(json.loads((folder / PLAN).read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def read_outcomes(folder: Path, plan: SweepPlan, *, stopped: bool = False) -> list[tuple[Path, Outcome]]:
    """Return folder and outcome of each job of a sweep, in the order of the jobs.

    Parameters
    ----------
    folder : Path
        Of the sweep. Jobs that earlier sweeps left there are passed over.
    plan : SweepPlan
        Jobs without an outcome are there, too, with an error that says so.
    stopped : bool
        Whether the sweep was stopped before all jobs had begun.
    """
    found = {}
    for path in folder.rglob(FILE):
        outcome = _read(path)
        if outcome is not None and outcome.sweep == plan.id:
            found[outcome.number] = (path.parent, outcome)
    reason = "not begun" if stopped else f"left no {FILE}; its process may have been killed"
    for number, label in enumerate(plan.jobs):
        missing = Outcome(label, number, plan.id, error=reason, stopped=stopped)
        found.setdefault(number, (folder / str(number), missing))
    return [found[number] for number in sorted(found)]


def _read(path: Path) -> Outcome | None:
    """Return an outcome, None if the file holds none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Outcome(**content) if set(content) <= {one.name for one in fields(Outcome)} else None
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
