"""What a tracker is: it opens a log around a run; and how a finished run is found again and reused."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recgauge.app.files.artifacts import CHECKSUMS, file_digest, finish, read_checksums, unfinished
from recgauge.app.files.list_files import holds
from recgauge.app.tracking.addresses import serving
from recgauge.app.tracking.alive import why_dead
from recgauge.app.tracking.once import DELIVERY_TAG as DELIVERY_TAG
from recgauge.errors import SchemaError
from recgauge.runs.facts import SearchFacts
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import registers_model, stores_model
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    from recgauge.app.tracking.claims import Claim
    from recgauge.app.tracking.stored_runs import StoredRun

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

    @property
    def run_id(self) -> str | None:
        """The run's id in the store, None without one."""
        return None

    def check(self) -> None:
        """Raise a `TrackingError` if it is known by now that the store could not open the run."""

    def conclude(self, note: str, values: Mapping[str, float], files: Sequence[Path]) -> None:
        """Store what an experiment ends with: a note in Markdown, a few numbers, files."""
        del note, values, files

    def finish(self, record: RunRecord, files: Sequence[Path]) -> float:
        """Store the record's numbers and the files; return the seconds spent on tracking."""
        del record, files
        return 0.0


class Tracker:
    """Opens a run log around everything that a job does; this one, of ``tracking=off``, keeps nothing."""

    uri: str = ""
    """Address of the store; empty: there is none."""
    experiment: str = ""
    """The MLflow experiment."""

    @property
    def server(self) -> str | None:
        """The command that serves the pages of the store, None if they need none."""
        return serving(self.uri) if self.uri and not self.uri.startswith("http") else None

    def prepare(self) -> None:
        """Create or migrate the store, once, before jobs that may run in parallel."""

    def check(self, *, write: bool = True) -> None:
        """Refuse what can be seen to be wrong without asking a server; without `write` nothing is made."""

    def check_there(self) -> None:
        """Refuse a store that `prepare` opened and that is gone, rather than begin a new one.

        Raises
        ------
        TrackingError
            If it is gone.
        """

    @contextmanager
    def start(self, run: RunStart) -> Iterator[RunLog]:  # noqa: ARG002 - contract
        """Open a run; leaving the context ends it, with its error if there was one.

        Raises
        ------
        ElsewhereError
            If its tags claim a job that is another process's, or done; see `recgauge.app.tracking.claims`.
        """
        yield RunLog()

    def running(self) -> "list[Claim]":
        """Return the runs that the store calls RUNNING."""
        return []

    def close(self, run: "Claim", reason: str) -> bool:  # noqa: ARG002 - contract
        """Mark a run of a dead process as killed; return False if it has ended or is alive by now."""
        return False

    def close_dead(self) -> list[str]:
        """Mark runs as killed whose processes ended without a word; return a line for each."""
        dead = [(one, reason) for one in self.running() if (reason := why_dead(one.tags)) is not None]
        return [f"run {one.run_id} ({one.name}): {reason}" for one, reason in dead if self.close(one, reason)]

    def deliver(self, run: RunStart, record: RunRecord, files: Sequence[Path]) -> str:
        """Store a run that is complete on disk, once however often it is tried, and return its id.

        Parameters
        ----------
        run : RunStart
            Has `DELIVERY_TAG`.
        record : RunRecord
        files : sequence of Path
        """
        raise NotImplementedError

    def store_search(self, names: Mapping[str, str], facts: SearchFacts) -> None:
        """Store the trials of a search apart from final runs, those that are not stored yet; here: nothing.

        Parameters
        ----------
        names : mapping of str to str
            The chosen option of each group.
        facts : SearchFacts
        """

    def find(self, fingerprint: str) -> list[str]:  # noqa: ARG002 - contract
        """Return the ids of the newest finished runs with this fingerprint, newest first."""
        return []

    def finished(self, most: int | None = None) -> "list[StoredRun]":  # noqa: ARG002 - contract
        """Return finished runs, or so many of the newest, without making a store where there is none."""
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


def load_record(folder: Path) -> RunRecord:
    """Read the record of a run's folder."""
    return RunRecord.from_json((folder / "record.json").read_text(encoding="utf-8"))


def find_finished(
    settings: Mapping[str, Any],
    wanted: str,
    run_ids: Sequence[str] | None = None,
    *,
    tracker: Tracker,
    artifacts: Sequence[str],
    folder: Path,
    progress: Progress,
) -> tuple[str, RunRecord] | None:
    """Return id and record of a finished run with the same fingerprint, its files copied to the job's folder.

    Parameters
    ----------
    settings : mapping of str to Any
        The resolved configuration.
    wanted : str
        Its fingerprint.
    run_ids : sequence of str, optional
        Finished runs with this fingerprint, newest first; the store is asked for them if they are not given.
    tracker : Tracker
        The store to search; runs that failed, were killed or are running do not count.
    artifacts : sequence of str
        Files that the run must have in addition to its record.
    folder : Path
        The job's output folder.
    progress : Progress
        Receives the reason why a run that was found is not used.

    Raises
    ------
    TrackingError
        If the store cannot be searched.
    """
    names = ("record.json", *artifacts)
    for run_id in tracker.find(wanted) if run_ids is None else run_ids:
        with unfinished(folder) as temporary:
            tracker.download(run_id, (CHECKSUMS, *names), temporary)
            problem = _damage(temporary, names, tracker.tag(run_id, FILES_TAG))
            if problem is None:
                try:
                    record = load_record(temporary)
                except SchemaError:
                    problem = "its record.json is no record of this version of recgauge"
                else:
                    problem = _difference(record, wanted, settings)
            if problem is None:
                finish([temporary / name for name in (*names, CHECKSUMS)], temporary, folder)
                return run_id, record
        progress.note(f"run {run_id} is the same but cannot be reused: {problem}.")
    return None


def _difference(record: RunRecord, wanted: str, settings: Mapping[str, Any]) -> str | None:
    """Return why an undamaged record is not that of the job, None if it is."""
    if record.fingerprint() != wanted or record.seed != settings["seed"]:
        return "its record is that of another configuration"
    lists = settings.get("artifacts", {}).get("lists", True)
    if not holds(record.settings, lists):
        return f"it did not store the lists that artifacts.lists={str(lists).lower()} asks for"
    for wants, words in (
        (stores_model, "did not store its model, which save_model=true asks for"),
        (registers_model, "did not register its model, which tracking.log_model=true asks for"),
    ):
        if wants(settings) and not wants(record.settings):
            return f"it {words}"
    return None


def _damage(folder: Path, names: Sequence[str], digest: str | None) -> str | None:
    """Return what is wrong with a run's files, None if they are as they were stored."""
    if digest is None:
        return "it was stored without a digest of its files"
    sums = folder / CHECKSUMS
    missing = [name for name in (CHECKSUMS, *names) if not (folder / name).is_file()]
    if missing:
        return f"it has no {', '.join(missing)}"
    if file_digest(sums) != digest:
        return f"its {CHECKSUMS} has been changed"
    expected = read_checksums(sums)
    changed = [name for name in names if file_digest(folder / name) != expected.get(name)]
    return f"{', '.join(changed)} has been changed" if changed else None
