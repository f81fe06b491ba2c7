"""Folders of the user's own, wherever the program runs. Imports nothing of recgauge."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def user_cache() -> Path | None:
    """Return the folder for what can be made again, None for a user without a home folder."""
    from pooch import os_cache

    # without a home folder the answer begins with a "~" that nobody resolves
    folder = Path(os_cache("recgauge"))
    return folder if folder.is_absolute() else None


def user_temporary() -> Path | None:
    """Return a folder of the user's own below the temporary one, made if missing.

    Its name can be guessed, so someone else may have made it first: None then, or where nothing can be
    written.
    """
    with suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"recgauge-{user_number()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if is_private(folder) and is_writable(folder):
            return folder
    return None


def is_private(folder: Path) -> bool:
    """Whether nobody but this user (and root) can have put files into a folder."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(facts.st_mode):
        return False
    # Windows has no such numbers; its temporary folders are the user's own
    return os.name == "nt" or (facts.st_uid in (user_number(), 0) and not facts.st_mode & 0o022)


def is_writable(folder: Path) -> bool:
    """Whether a file can be made in a folder, tried by making one."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def user_number() -> int:
    """Return the number of the user, which exists even where the name does not."""
    return os.geteuid() if hasattr(os, "geteuid") else 0
