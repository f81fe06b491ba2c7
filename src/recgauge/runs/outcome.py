"""How one job ended: what is left in memory and on disk for the table of a sweep and for studies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # the record knows numpy and scipy, which a wrong setting need not wait for
    from recgauge.runs.record import RunRecord

Status = Literal["done", "reused", "not tracked", "not saved", "no data", "waiting", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How one job ended.

    Parameters
    ----------
    number : int
        Position in the sweep, from 0.
    label : str
        The words of the command line that make the job, such as ``model=svd dataset=demo``.
    status : {"done", "reused", "not tracked", "not saved", "no data", "waiting", "stopped", "failed"}
        ``reused``: a finished run of the store was reused for the job; ``not tracked``: the store lacks the
        results, which are complete in `folder`; ``not saved``: all is there but the
        model; ``no data``: not begun, since its data are missing;
        ``waiting``: put off, since another process is at the same job in its run `run_id`;
        ``stopped``: by Ctrl-C or a signal.
    reason : str or None
        Why the job is not simply done.
    sweep : str
        Id of the sweep; jobs of an earlier sweep in the same folder have another one.
    names, settings : mapping
        The chosen options and the resolved configuration, as far as they became known.
    run_id : str or None
        Id of the stored run.
    tracking_seconds : float or None
        What tracking took, which the record cannot hold since it is tracked itself.
    record : RunRecord or None
        Present if the job has results.
    folder : Path
        The folder of the job's files.
    """

    number: int
    label: str
    status: Status = "done"
    reason: str | None = None
    sweep: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    tracking_seconds: float | None = None
    record: "RunRecord | None" = None
    folder: Path = field(default_factory=Path)

    @property
    def short_reason(self) -> str:
        """Why there is no record, in one line."""
        return (self.reason or "no run").splitlines()[0].removesuffix(" Tried:")
