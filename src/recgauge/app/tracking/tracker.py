"""What a tracker is: it opens a log around a run, and finds finished runs again."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from recgauge.runs.record import RunRecord

FILES_TAG = "recgauge.files_sha256"
"""Tag of a stored run with the digest of its SHA256SUMS, which has those of all its files."""


def experiment_tag(experiment: str) -> str:
    """Return the tag of an experiment's runs; one each, since experiments may share a run."""
    return f"recgauge.experiment.{experiment}"


@dataclass(frozen=True)
class RunStart:
    """What is known of a run before it does anything.

    Parameters
    ----------
    name : str
        Shown in the table of runs.
    params, tags : mapping of str to str
    """

    name: str
    params: Mapping[str, str]
    tags: Mapping[str, str]


class RunLog:
    """Where a run puts its results; this one drops them."""

    run_id: str | None = None

    def conclude(self, note: str, values: Mapping[str, float], files: Sequence[Path]) -> None:
        """Store what an experiment ends with: a note in Markdown, a few numbers, files."""
        del note, values, files

    def finish(self, record: RunRecord, files: Sequence[Path]) -> float:
        """Store the record's numbers and the files; return the seconds spent on tracking."""
        del record, files
        return 0.0


class Tracker(ABC):
    """Opens a run log around everything that a job does."""

    @abstractmethod
    def prepare(self) -> None:
        """Create or migrate the store, once, before jobs that may run in parallel."""

    def check_there(self) -> None:  # noqa: B027 - most trackers have nothing that could go
        """Refuse a store that `prepare` opened and that is gone, rather than begin a new one.

        Raises
        ------
        TrackingError
            If it is gone.
        """

    @abstractmethod
    def start(self, run: RunStart) -> AbstractContextManager[RunLog]:
        """Open a run; leaving the context ends it, with its error if there was one."""

    def find(self, fingerprint: str) -> list[str]:  # noqa: ARG002 - contract
        """Return the ids of the newest finished runs with this fingerprint, newest first."""
        return []

    def download(self, run_id: str, names: Sequence[str], folder: Path) -> None:
        """Copy those of a run's artifacts that exist into a folder; only for runs that were found."""
        raise NotImplementedError

    def tag(self, run_id: str, name: str) -> str | None:
        """Return a tag of a stored run, or None; only for runs that were found."""
        raise NotImplementedError

    def mark(self, run_id: str, tag: str) -> None:
        """Give a stored run a tag with the value "true"."""
        raise NotImplementedError

    def address(self, tag: str | None = None, value: str = "true") -> str | None:  # noqa: ARG002 - contract
        """Return where the results, or those with one tag, can be looked at side by side, or None."""
        return None

    def run_address(self, run_id: str) -> str | None:  # noqa: ARG002 - contract
        """Return where one run can be looked at, or None."""
        return None


@dataclass(frozen=True)
class NoTracker(Tracker):
    """Tracks nothing; results stay in the output folder."""

    def prepare(self) -> None:
        """Do nothing."""

    @contextmanager
    def start(self, run: RunStart) -> Iterator[RunLog]:  # noqa: ARG002 - contract
        """Yield a log that drops everything."""
        yield RunLog()
