"""Files of somebody's public repository at one commit that a study reads: from a mirror, or fetched there."""

import gzip
from collections.abc import Sequence
from csv import DictReader
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from recgauge.datasets.archives import find_archive, local_place
from recgauge.datasets.published_files import Locations, PublishedFile
from recgauge.errors import IntegrityError, MissingDataError, SchemaError
from recgauge.report.console import ConsoleProgress
from recgauge.studies import Study
from recgauge.studies.published_table import read_published
from recgauge.utils.messages import print_note
from recgauge.utils.progress import Progress

FILES, PUBLISHED = "files.csv.gz", "published.csv"  # the second may be packed
_COLUMNS = ["file", "path", "size", "sha256", "kept", "kept_size", "kept_sha256"]


@dataclass(frozen=True)
class Repository:
    """A repository at a commit, and where a mirror keeps its files in another form.

    Parameters
    ----------
    name : str
        Owner and name on GitHub.
    commit : str
    kept : str
        The mirror's folder of files in another form, such as packed ones or lists without scores.
    licence : str
        Terms of the files.
    locations : Locations
        Mirrors, cache folder, and whether the network must not be used.
    """

    name: str
    commit: str
    kept: str
    licence: str
    locations: Locations

    @property
    def address(self) -> str:
        """Where the files are shown."""
        return f"https://github.com/{self.name}/tree/{self.commit}"

    @property
    def folder(self) -> str:
        """What a clone's folder is called, below which mirror and cache have the files under their paths."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class RepositoryFiles:
    """Which files are here, and why others are not.

    Parameters
    ----------
    paths : dict of str to Path
        By the study's names of the files; a path that ends in ``.gz`` may be of the mirror's form.
    missing, altered : dict of str to str
        Reasons, by the study's names of the files.
    message : str
        What is missing or altered, where it is to be had, and how it is recognised; empty if nothing is.
    """

    paths: dict[str, Path]
    missing: dict[str, str]
    altered: dict[str, str]
    message: str

    def reason(self, names: Sequence[str]) -> str:
        """Return why what needs these files cannot be computed; empty if they are here."""
        reasons = {**self.missing, **self.altered}
        return next((reasons[name] for name in names if name in reasons), "")


@dataclass(frozen=True)
class RepositoryStudy(Study):
    """Compares numbers that somebody published beside the files they were computed from; needs no runs.

    Its folder has published.csv, and files.csv.gz, which says where the files are and how they are
    recognised.
    """

    needs_runs: ClassVar[bool] = False
    name: str
    repository: str  # owner and name on GitHub
    commit: str
    kept: str  # the folder in which a mirror keeps the files in another form
    licence: str  # terms of the files
    mirror: str | None = None
    cache: str | None = None
    offline: bool = False

    def check(self, source: Path) -> None:
        """Read the published numbers, and find or fetch the files that they were computed from."""
        read_published(source / PUBLISHED)
        self._find(source, offline=self.offline)

    def files(self, source: Path) -> RepositoryFiles:
        """Return the files that are here, of which `check` has fetched what can be had; others are noted."""
        files = self._find(source, offline=True)
        if files.message:
            print_note(files.message)
        return files

    def _find(self, source: Path, *, offline: bool) -> RepositoryFiles:
        """Find all files, or fetch them."""
        locations = Locations(cache=self.cache, mirror=self.mirror, offline=offline)
        repository = Repository(self.repository, self.commit, self.kept, self.licence, locations)
        progress = ConsoleProgress()
        with progress.stage(f"files of {self.repository}"):
            return find_files(source / FILES, repository, progress)


def find_files(table: Path, repository: Repository, progress: Progress) -> RepositoryFiles:
    """Find or fetch all files of a table, and verify them.

    A file is taken in the mirror's form where a mirror or the cache folder has that, else as it is in the
    repository. After a file that nobody gave, the network is left alone.

    Raises
    ------
    MissingDataError
        If no file is here.
    """
    entries = read_files(table)
    paths: dict[str, Path] = {}
    missing: dict[str, str] = {}
    altered: dict[str, str] = {}
    messages: list[str] = []
    locations = repository.locations
    for entry in entries:
        name, where = entry["file"], f"{entry['path']} of {repository.name} at commit {repository.commit[:8]}"
        try:
            paths[name] = _find(entry, repository, locations, progress)
        except MissingDataError as error:
            locations = replace(locations, offline=True)
            missing[name] = f"not here: {where}"
            if not messages:
                messages.append(str(error).partition("\n")[0])
        except IntegrityError as error:
            altered[name] = f"altered: {where}"
            messages.append(str(error))
    message = ""
    if messages:
        first = next(entry for entry in entries if entry["file"] not in paths)
        message = (
            f"{len(entries) - len(paths)} of {len(entries)} files of {repository.name} are missing or "
            f"altered. {messages[0]} They are at {repository.address}: clone it as FOLDER/"
            f"{repository.folder}, check this commit out, and set RECGAUGE_MIRROR=FOLDER. Of the first, "
            f"{first['path']}, {first['size']} bytes with sha256 {first['sha256']} are expected; {FILES} of "
            f"the experiment has all. Terms: {repository.licence}."
        )
    if not paths:
        raise MissingDataError(message)
    return RepositoryFiles(paths, missing, altered, message)


def read_files(table: Path) -> list[dict[str, str]]:
    """Return the rows of a table of files: name, path, size and digest, and those of the mirror's form."""
    if not table.is_file():
        raise MissingDataError(f"{table}: there is no such file. It names the files that the study reads.")
    with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
        reader = DictReader(file)
        if reader.fieldnames != _COLUMNS:
            raise SchemaError(f"{table}: the columns must be {', '.join(_COLUMNS)}, got {reader.fieldnames}.")
        return list(reader)


def _find(entry: dict[str, str], repository: Repository, locations: Locations, progress: Progress) -> Path:
    """Return where one file is, in the mirror's form or as in the repository."""
    page = f"https://github.com/{repository.name}/blob/{repository.commit}/{quote(entry['path'])}"
    if entry["kept"]:
        kept = PublishedFile(
            f"{repository.kept}/{entry['kept']}",
            page,
            int(entry["kept_size"]),
            entry["kept_sha256"],
        )
        if local_place(kept, locations):
            return find_archive(kept, locations, progress).path
    raw = f"https://raw.githubusercontent.com/{repository.name}/{repository.commit}/{quote(entry['path'])}"
    original = PublishedFile(f"{repository.folder}/{entry['path']}", raw, int(entry["size"]), entry["sha256"])
    return find_archive(original, locations, progress).path
