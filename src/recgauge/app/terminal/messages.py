"""How the command line speaks of errors."""

import errno
import sys
from pathlib import Path

from recgauge.errors import message, said

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def print_note(text: str) -> None:
    """Print one line on standard error."""
    print(f"note: {message(text)}", file=sys.stderr)  # noqa: T201 - the command line's own output


def print_error(text: str) -> None:
    """Print one message on standard error, without the control characters of what it quotes."""
    print(f"error: {message(text)}", file=sys.stderr)  # noqa: T201 - the command line's own output


def explain_os_error(error: OSError, folder: Path) -> str:
    """Return what the system refused, and what to do about it.

    Parameters
    ----------
    error : OSError
    folder : Path
        Where results go.

    Examples
    --------
    >>> explain_os_error(OSError(errno.ENOSPC, "No space left on device"), Path("outputs"))
    'No space left on device. Free some space, or write elsewhere: hydra.run.dir=FOLDER (now outputs).'
    """
    name = "" if error.filename is None else f"{error.filename}: "
    problem = f"{name}{error.strerror or said(error)}"
    if error.errno in _FULL:
        return f"{problem}. Free some space, or write elsewhere: hydra.run.dir=FOLDER (now {folder})."
    if error.errno in _FORBIDDEN:
        return (
            f"{problem}. Make it readable, or writable if it belongs to the results; these go to {folder}, "
            "see hydra.run.dir."
        )
    return f"{problem}. Results go to {folder}; hydra.run.dir=FOLDER chooses another folder."
