"""Where a published file may lie, and the order in which those places are asked."""

import re
from dataclasses import dataclass
from pathlib import Path

from recgauge._checks import check_bool
from recgauge.datasets._download import DownloadError, download
from recgauge.datasets._published import PublishedFile
from recgauge.datasets._verify import Pin, VerifiedFile, verify
from recgauge.errors import ConfigError, MissingDataError
from recgauge.progress import Progress


@dataclass(frozen=True)
class Places:
    """The places that are asked for a published file, in this order.

    Parameters
    ----------
    archive : str or None
        A local file that the user names; no other place is asked then.
    cache : str or None
        Folder that keeps downloads; None is the user's own cache folder.
    mirror : str or None
        A folder or an http(s) address that holds the publisher's archives under their names.
    offline : bool
        Whether the network must not be used.
    sha256 : str or None
        Digest that the user pins the archive to.

    Raises
    ------
    ConfigError
        If a value cannot be meant.
    """

    archive: str | None = None
    cache: str | None = None
    mirror: str | None = None
    offline: bool = False
    sha256: str | None = None

    def __post_init__(self) -> None:
        for name in ("archive", "cache", "mirror"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (str, Path)) and str(value).strip()):
                raise ConfigError(f"{name} must be a path (or null), got {value!r}.")
        if self.mirror is not None and "://" in str(self.mirror) and not _is_address(self.mirror):
            raise ConfigError(f"mirror must be a folder or an http(s) address, got {str(self.mirror)!r}.")
        check_bool("offline", self.offline)
        pin = self.sha256
        if pin is not None and not (isinstance(pin, str) and re.fullmatch("[0-9a-fA-F]{64}", pin)):
            raise ConfigError(f"sha256 must be 64 hexadecimal digits (or null), got {pin!r}.")

    @property
    def cache_folder(self) -> Path:
        """The folder that keeps downloads."""
        if self.cache is not None:
            return Path(self.cache).expanduser()
        from pooch import os_cache

        return Path(os_cache("recgauge"))

    def find(self, published: PublishedFile, progress: Progress) -> VerifiedFile:
        """Return the file from the first place that has it, verified.

        Raises
        ------
        IntegrityError
            If the file that was found is not what it should be.
        MissingDataError
            If no place has it.
        """
        if self.archive is not None:
            path = Path(self.archive).expanduser()
            if not path.is_file():
                raise MissingDataError(f"archive={path}: there is no such file. Correct the path.")
            return verify(path, published, self._user_pin())
        tried: list[str] = []
        for ask in (self._ask_cache, self._ask_mirror, self._ask_publisher):
            found = ask(published, tried, progress)
            if found is not None:
                return found
        raise MissingDataError(self._all_failed(published, tried))

    def _ask_cache(
        self, published: PublishedFile, tried: list[str], _progress: Progress
    ) -> VerifiedFile | None:
        path = self.cache_folder / published.filename
        if path.is_file():
            return verify(path, published, self._user_pin())
        tried.append(f"cache folder {path.parent}: has no {published.filename}")
        return None

    def _ask_mirror(
        self, published: PublishedFile, tried: list[str], progress: Progress
    ) -> VerifiedFile | None:
        if self.mirror is None:
            return None
        if _is_address(self.mirror):
            address = f"{self.mirror.rstrip('/')}/{published.filename}"
            return self._fetch("mirror", address, published, tried, progress)
        folder = Path(self.mirror).expanduser()
        if not folder.is_dir():
            # A mistyped setting must not turn into a download from elsewhere.
            raise MissingDataError(
                f"mirror={folder}: there is no such folder. Correct data.mirror or RECGAUGE_MIRROR, "
                "or unset it."
            )
        path = folder / published.filename
        if path.is_file():
            return verify(path, published, self._user_pin() or _listed(folder, published))
        tried.append(f"mirror {folder}: has no {published.filename}")
        return None

    def _ask_publisher(
        self, published: PublishedFile, tried: list[str], progress: Progress
    ) -> VerifiedFile | None:
        return self._fetch("publisher", published.address, published, tried, progress)

    def _fetch(
        self, owner: str, address: str, published: PublishedFile, tried: list[str], progress: Progress
    ) -> VerifiedFile | None:
        if self.offline:
            tried.append(f"{owner} {address}: not asked, since offline is set")
            return None
        path = self.cache_folder / published.filename
        try:
            download(address, path, published.size, lambda part: self._check(part, published), progress)
        except DownloadError as error:
            tried.append(f"{owner} {address}: {error}")
            return None
        return verify(path, published, self._user_pin())

    def _check(self, path: Path, published: PublishedFile) -> None:
        verify(path, published, self._user_pin())

    def _user_pin(self) -> Pin | None:
        return None if self.sha256 is None else Pin(self.sha256.lower(), "dataset.sha256", strict=True)

    def _all_failed(self, published: PublishedFile, tried: list[str]) -> str:
        places = "\n".join(f"  - {place}" for place in tried)
        return (
            f"{published.filename} could not be found or fetched. Tried:\n{places}\n"
            f"Download {published.address} by hand (on another machine if need be) and put it at "
            f"{self.cache_folder / published.filename}, name it with dataset.archive=FILE, or point "
            "data.mirror or RECGAUGE_MIRROR at a folder or address that has it."
        )


def _is_address(mirror: str) -> bool:
    return str(mirror).startswith(("http://", "https://"))


def _listed(folder: Path, published: PublishedFile) -> Pin | None:
    """Return the digest that the mirror folder's SHA256SUMS lists for the file."""
    sums = folder / "SHA256SUMS"
    if not sums.is_file():
        return None
    for line in sums.read_text(encoding="utf-8").splitlines():
        digest, _, name = line.strip().partition(" ")
        if name.lstrip(" *").removeprefix("./") == published.filename and len(digest) == 64:
            return Pin(digest.lower(), "the mirror's SHA256SUMS", strict=False)
    return None
