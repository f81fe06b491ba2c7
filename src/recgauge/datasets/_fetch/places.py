"""Where a published file may lie, as the user set it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recgauge.datasets._fetch.verify import Pin
from recgauge.errors import ConfigError, MissingDataError
from recgauge.utils.checks import check_bool
from recgauge.utils.files import user_cache, user_path, user_temporary


@dataclass(frozen=True)
class Places:
    """The places that are asked for a published file, in this order.

    Parameters
    ----------
    archive : str or None
        A local file that the user names; no other place is asked then.
    cache : str or None
        Folder that keeps downloads; None is the user's own cache folder.
    mirror : str, sequence of str, or None
        Folders or http(s) addresses that hold the publisher's archives under their names, asked in this
        order; one text may name several, parted by ``|``.
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
    mirror: str | Sequence[str] | None = None
    offline: bool = False
    sha256: str | None = None

    def __post_init__(self) -> None:
        for name in ("archive", "cache"):
            value = getattr(self, name)
            if value is not None and not _is_text(value):
                raise ConfigError(f"{name} must be a path (or null), got {value!r}.")
        for mirror in self.mirrors:
            if "://" in mirror and not is_address(mirror):
                raise ConfigError(f"mirror must be a folder or an http(s) address, got {mirror!r}.")
        check_bool("offline", self.offline)
        pin = self.sha256
        if pin is not None and not (isinstance(pin, str) and re.fullmatch("[0-9a-fA-F]{64}", pin)):
            raise ConfigError(f"sha256 must be 64 hexadecimal digits (or null), got {pin!r}.")

    @property
    def cache_folder(self) -> Path:
        """The folder that keeps downloads."""
        return cache_folder(self.cache)

    @property
    def mirrors(self) -> tuple[str, ...]:
        """Folders and addresses, in the order in which they are asked."""
        if self.mirror is None:
            return ()
        listed = str(self.mirror).split("|") if isinstance(self.mirror, (str, Path)) else self.mirror
        if not isinstance(listed, Sequence) or not all(map(_is_text, listed)):
            raise ConfigError(
                f"mirror must be a folder or address, a list of them, or null; got {self.mirror!r}."
            )
        return tuple(str(mirror).strip() for mirror in listed)

    @property
    def pin(self) -> Pin | None:
        """The digest that the user vouches for."""
        return None if self.sha256 is None else Pin(self.sha256.lower(), "dataset.sha256", strict=True)


def cache_folder(cache: str | None) -> Path:
    """Return the folder that keeps downloads and prepared data: as set, else the user's own."""
    if cache is not None:
        return user_path(cache)
    folder = user_cache() or user_temporary()
    if folder is None:
        raise MissingDataError(
            "data.cache: neither a home folder nor a temporary one can hold downloads. Name a folder: "
            "data.cache=FOLDER or RECGAUGE_CACHE."
        )
    return folder


def is_address(mirror: str) -> bool:
    """Whether a mirror is asked over the network."""
    return mirror.startswith(("http://", "https://"))


def _is_text(value: object) -> bool:
    return isinstance(value, (str, Path)) and bool(str(value).strip())
