"""How a job ended, and its folder: complete or absent, with the digests of its files."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp
from typing import Any, Literal

from recgauge.errors import SchemaError, printable
from recgauge.models.saved import ABOUT, ARRAYS
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import JobFacts, RunRecord
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS
from recgauge.runs.stored import RECORD as RECORD
from recgauge.utils.files import digest_of, irregular, read_own, written_whole
from recgauge.utils.plain import from_plain

CHECKSUMS = "SHA256SUMS"
FAILURE, SUMMARY = "failure.json", "summary.json"
"""What says what a folder is of: a run, a job that failed, what a sweep or a study ends with."""
MODEL = "model"
"""The folder of the fitted model."""
MODEL_FILES = (f"{MODEL}/{ABOUT}", f"{MODEL}/{ARRAYS}")
_OF_ONE_RUN = (RECORD, PER_USER, PREDICTIONS, LISTS, *MODEL_FILES, FAILURE, SUMMARY)
Status = Literal["done", "reused", "not tracked", "not saved", "no data", "stopped", "failed"]
JOBS = "sweep.json"
"""The jobs of a sweep and how they ended; in its folder."""
_LISTED = ("number", "label", "status", "reason", "run_id")


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that failed or was stopped."""

    job: JobFacts
    error: str
    names: dict[str, str] = field(default_factory=dict)  # the chosen option of each group
    seed: int = 0
    command: str = ""  # gives the job again
    settings: dict[str, Any] = field(default_factory=dict)  # as of a `RunRecord`, without secrets
    environment: dict[str, Any] = field(default_factory=dict)
    status: Literal["FAILED", "KILLED"] = "FAILED"  # ``KILLED``: by Ctrl-C or a signal


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep or a study ends with: a note, a few numbers, files."""

    job: JobFacts
    subject: str  # the study, or ``comparison``
    fingerprint: str  # digest of the content; a store keeps each content once
    note: str = ""  # in Markdown
    values: dict[str, float] = field(default_factory=dict)
    text: str = ""  # in Markdown, what the experiment's description is to say; empty: it stays as it is


def write_folder(content: Failure | Summary, folder: Path, files: Sequence[Path] = ()) -> None:
    """Write the folder of a failed job or of a summary, with copies of `files`, whole or not at all."""
    if not content.job.ended:
        content = replace(content, job=replace(content.job, ended=time.time()))
    text = json.dumps(asdict(content), indent=2, ensure_ascii=False, default=str) + "\n"
    with unfinished(folder) as hidden:
        for file in files:
            copyfile(file, hidden / file.name)
        (hidden / (FAILURE if isinstance(content, Failure) else SUMMARY)).write_text(text, encoding="utf-8")


def read_folder(folder: Path) -> RunRecord | Failure | Summary:
    """Return what a complete folder is of."""
    names = read_checksums(folder / CHECKSUMS)
    if RECORD in names:
        return FinishedRun.read(folder).record
    kinds: dict[str, Any] = {FAILURE: Failure, SUMMARY: Summary}
    for name in kinds.keys() & names.keys():
        try:
            plain = json.loads(read_own(folder / name))
            content: Failure | Summary = from_plain(kinds[name], plain, name)
        except (OSError, ValueError, RecursionError) as error:
            raise SchemaError(f"{folder / name}: cannot be read: {error}") from error
        return content
    raise SchemaError(f"{folder}: is not the complete folder of a job: its {CHECKSUMS} names no {RECORD}.")


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield a new hidden folder in `folder` to write files in, which are moved to `folder` at the end.

    SHA256SUMS, with the digests of the others, comes last, so that a folder that has it is complete. It is
    made here unless it was written, too. An error moves nothing, and leaves no half-written file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    hidden = Path(mkdtemp(prefix=".unfinished-", dir=folder))
    try:
        yield hidden
        files = sorted(path for path in hidden.rglob("*") if path.is_file())
        if hidden / CHECKSUMS not in files:
            files.append(write_checksums(files, hidden))
        sums = read_checksums(hidden / CHECKSUMS)
        (folder / CHECKSUMS).unlink(missing_ok=True)  # it would speak of files that change now
        for name in _OF_ONE_RUN:  # another run's lists must not look like those of this one
            old = folder / name
            if old.is_file() and file_digest(old) != sums.get(name):
                old.unlink()
        for file in sorted(files, key=lambda file: file.name == CHECKSUMS):
            target = folder / file.relative_to(hidden)
            target.parent.mkdir(exist_ok=True)
            file.replace(target)
    finally:
        rmtree(hidden, ignore_errors=True)


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a complete run with results."""
    return RECORD in read_checksums(folder / CHECKSUMS)


def write_checksums(files: Sequence[Path], folder: Path) -> Path:
    """Write SHA256SUMS, a line per file as ``sha256sum`` writes and checks it."""
    lines = (f"{file_digest(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)
    path = folder / CHECKSUMS
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read_checksums(path: Path) -> dict[str, str]:
    """Return ``{name: digest}`` as `write_checksums` wrote it; of a damaged or missing file, what is left."""
    try:
        lines = read_own(path).splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def file_digest(path: Path) -> str:
    """Return the sha256 of a file; SchemaError if it is no regular one."""
    if kind := irregular(path):
        raise SchemaError(f"{printable(str(path))} is not a regular file but a {kind}. Remove it.")
    with path.open("rb") as stream:
        return digest_of(stream)


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
    record: RunRecord | None = None  # present if the job has results
    folder: Path = field(default_factory=Path)  # the folder of the job's files

    @property
    def run(self) -> FinishedRun | None:
        """The finished run, of a job that has results."""
        return None if self.record is None else FinishedRun(self.record, self.folder, self.run_id, self.label)

    @property
    def short_reason(self) -> str:
        """Why there is no record, in one line."""
        return (self.reason or "no run").splitlines()[0]


def write_jobs(jobs: Sequence[JobOutcome], folder: Path) -> None:
    """Write sweep.json into the folder of a sweep, whole or not at all."""
    listed = [{name: getattr(job, name) for name in _LISTED} | {"folder": str(job.folder)} for job in jobs]
    with written_whole(folder / JOBS) as hidden:
        hidden.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_jobs(folder: Path) -> list[JobOutcome]:
    """Return the jobs of a sweep by its folder, without records; none if it has no sweep.json."""
    try:
        listed = json.loads(read_own(folder / JOBS))
        folders = [Path(job["folder"]) for job in listed]
        folders = [at if at.is_dir() else folder / at.name for at in folders]  # of a sweep that was moved
        return [JobOutcome(**{**job, "folder": at}) for job, at in zip(listed, folders, strict=True)]
    except SchemaError:  # it is no file
        raise
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []
