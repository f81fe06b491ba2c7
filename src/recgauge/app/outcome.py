"""What a job leaves for the end of its sweep: how it ended, in a small file beside its results."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from recgauge.app.secrets import without_secrets

FILE = "outcome.json"


@dataclass
class Outcome:
    """How a job ended; filled while it goes on.

    Parameters
    ----------
    label : str
        The command line's words for the job.
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
    """

    label: str
    names: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    reused: str | None = None
    no_data: bool = False

    def write(self, folder: Path) -> None:
        """Write the file."""
        (folder / FILE).write_text(json.dumps(without_secrets(asdict(self)), default=str), encoding="utf-8")


def read_outcomes(sweep: Path) -> dict[Path, Outcome]:
    """Return the outcomes of a sweep by the folder of each job, in the order of the jobs."""
    found = sorted(sweep.glob(f"*/{FILE}"), key=lambda path: int(path.parent.name))
    return {path.parent: Outcome(**json.loads(path.read_text(encoding="utf-8"))) for path in found}
