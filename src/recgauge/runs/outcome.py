"""How one job ended: what is left in memory and on disk for the table of a sweep and for studies."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # the record knows numpy and scipy, which a wrong setting need not wait for
    from recgauge.runs.record import RunRecord

Status = Literal["done", "reused", "not tracked", "not saved", "no data", "stopped", "failed"]
JOBS = "sweep.json"
"""The jobs of a sweep and how they ended; in its folder."""
_LISTED = ("number", "label", "status", "reason", "run_id")


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How one job ended."""

    number: int  # position in the sweep, from 0
    label: str  # the words of the command line that make the job, such as ``model=svd dataset=demo``
    # ``reused``: a finished run of the store was reused for the job; ``not tracked``: the store lacks the
    # results, which are complete in `folder`; ``not saved``: all is there but the model; ``no data``: not
    # begun, since its data are missing; ``stopped``: by Ctrl-C or a signal
    status: Status = "done"
    reason: str | None = None  # why the job is not simply done
    # the chosen options and the resolved configuration, as far as they became known
    names: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    run_id: str | None = None  # id of the stored run
    record: "RunRecord | None" = None  # present if the job has results
    folder: Path = field(default_factory=Path)  # the folder of the job's files
    said: tuple[str, ...] = ()  # what the user should read of the files

    @property
    def short_reason(self) -> str:
        """Why there is no record, in one line."""
        return (self.reason or "no run").splitlines()[0].removesuffix(" Tried:")


def write_jobs(jobs: Sequence[JobOutcome], folder: Path) -> None:
    """Write sweep.json into the folder of a sweep, whole or not at all."""
    listed = [{name: getattr(job, name) for name in _LISTED} | {"folder": str(job.folder)} for job in jobs]
    hidden = folder / f".{JOBS}.unfinished"
    hidden.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    hidden.replace(folder / JOBS)


def read_jobs(folder: Path) -> list[JobOutcome]:
    """Return the jobs of a sweep by its folder, without records; none if it has no sweep.json."""
    try:
        listed = json.loads((folder / JOBS).read_text(encoding="utf-8"))
        places = [Path(job["folder"]) for job in listed]
        places = [at if at.is_dir() else folder / at.name for at in places]  # of a sweep that was moved
        return [JobOutcome(**{**job, "folder": at}) for job, at in zip(listed, places, strict=True)]
    except (OSError, ValueError, TypeError, KeyError):
        return []
