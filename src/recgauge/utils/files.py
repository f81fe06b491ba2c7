"""What stands where a file should be: reading a pipe or a device would wait, or go on, for ever."""

import stat
from pathlib import Path

from recgauge.errors import MissingDataError, printable

_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def user_path(text: str) -> Path:
    """Return the path that a user wrote, ``~`` expanded; of a user that nobody knows it stays."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def irregular(path: Path) -> str:
    """Return what `path` is if it is no regular file: folder, pipe, socket or device; else an empty text."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there, or nothing can be: opening it says why
        return ""
    return next((word for is_kind, word in _KINDS if is_kind(mode)), "")


def refuse_irregular(path: Path, subject: str) -> None:
    """Refuse a folder, pipe, socket or device in place of a file.

    Parameters
    ----------
    path : Path
        Need not exist.
    subject : str
        What names it, for the message.

    Raises
    ------
    MissingDataError
        If it is one.
    """
    if kind := irregular(path):
        remedy = "save what comes out of it to a file and name that" if kind == "pipe" else "name a file"
        raise MissingDataError(
            f"{subject}: {printable(str(path))} is not a regular file but a {kind}; {remedy}."
        )
