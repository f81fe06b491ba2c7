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
class RepositoryFiles:
    """Which files are here, and why others are not.

    Parameters
    ----------
    paths : dict of str to Path
        By the study's names of the files; a path that ends in ``.gz`` may be of the mirror's form.
    reasons : dict of str to str
        Of the files that are missing or altered, by the study's names.
    message : str
        What is missing or altered, where it is to be had, and how it is recognised; empty if nothing is.
    """

    paths: dict[str, Path]
    reasons: dict[str, str]
    message: str

    def reason(self, names: Sequence[str]) -> str:
        """Return why what needs these files cannot be computed; empty if they are here."""
        return next((self.reasons[name] for name in names if name in self.reasons), "")


@dataclass(frozen=True)
class RepositoryStudy(Study):
    """Compares numbers that somebody published beside the files they were computed from; needs no runs.

    Its folder has published.csv, and files.csv.gz, which says where the files are and how they are
    recognised. Below the folder of a clone, mirror and cache have them under their paths.
    """

    needs_runs: ClassVar[bool] = False
    name: str
    repository: str  # owner and name on GitHub
    commit: str
    kept: str  # the folder in which a mirror keeps files in another form: packed, or lists without scores
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
        """Find or fetch all files, verified; after one that nobody gave, the network is left alone.

        A file is taken in the mirror's form where a mirror or the cache folder has that, else as it is in the
        repository. MissingDataError: no file is here.
        """
        entries, progress = _read_files(source / FILES), ConsoleProgress()
        locations = Locations(cache=self.cache, mirror=self.mirror, offline=offline)
        paths: dict[str, Path] = {}
        reasons: dict[str, str] = {}
        problems: list[str] = []
        with progress.stage(f"files of {self.repository}"):
            for entry in entries:
                where = f"{entry['path']} of {self.repository} at commit {self.commit[:8]}"
                try:
                    paths[entry["file"]] = self._find_file(entry, locations, progress)
                except MissingDataError as error:
                    locations = replace(locations, offline=True)
                    reasons[entry["file"]] = f"not here: {where}"
                    problems.append(str(error).partition("\n")[0])
                except IntegrityError as error:
                    reasons[entry["file"]] = f"altered: {where}"
                    problems.append(str(error))
        message = ""
        if problems:
            folder, first = self.repository.rpartition("/")[2], next(iter(reasons))
            facts = next(entry for entry in entries if entry["file"] == first)
            message = (
                f"{len(reasons)} of {len(entries)} files of {self.repository} are missing or altered. "
                f"{problems[0]} They are at https://github.com/{self.repository}/tree/{self.commit}: clone "
                f"it as FOLDER/{folder}, check this commit out, set RECGAUGE_MIRROR=FOLDER. Of the first, "
                f"{facts['path']}, {facts['size']} bytes with sha256 {facts['sha256']} are expected; {FILES} "
                f"of the experiment has all. Terms: {self.licence}."
            )
        if not paths:
            raise MissingDataError(message)
        return RepositoryFiles(paths, reasons, message)

    def _find_file(self, entry: dict[str, str], locations: Locations, progress: Progress) -> Path:
        """Return where one file is, in the mirror's form or as in the repository."""
        path = f"{self.commit}/{quote(entry['path'])}"
        if entry["kept"]:
            page = f"https://github.com/{self.repository}/blob/{path}"
            facts = int(entry["kept_size"]), entry["kept_sha256"]
            kept = PublishedFile(f"{self.kept}/{entry['kept']}", page, *facts)
            if local_place(kept, locations):
                return find_archive(kept, locations, progress).path
        raw = f"https://raw.githubusercontent.com/{self.repository}/{path}"
        name = f"{self.repository.rpartition('/')[2]}/{entry['path']}"
        original = PublishedFile(name, raw, int(entry["size"]), entry["sha256"])
        return find_archive(original, locations, progress).path


def _read_files(table: Path) -> list[dict[str, str]]:
    """Return the rows of a table of files: name, path, size and digest, and those of the mirror's form."""
    if not table.is_file():
        raise MissingDataError(f"{table}: there is no such file. It names the files that the study reads.")
    with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
        reader = DictReader(file)
        if reader.fieldnames != _COLUMNS:
            raise SchemaError(f"{table}: the columns must be {', '.join(_COLUMNS)}, got {reader.fieldnames}.")
        return list(reader)
