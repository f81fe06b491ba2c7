"""Notes and errors on standard error, and texts as a terminal can show them."""

import errno
import sys
import traceback
from pathlib import Path

from recgauge.errors import RecgaugeError, message, said
from recgauge.utils.memory import explain_memory_error

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_PLAIN = {"±": "+-", "→": "->", "–": "-", "…": "...", "×": "x", "†": "+", "τ": "tau", "─": "-", "│": "|"}


def print_note(text: str) -> None:
    """Print one line on standard error."""
    print(f"note: {message(text)}", file=sys.stderr)  # noqa: T201 - the command line's own output


def print_error(text: str) -> None:
    """Print one message on standard error, without the control characters of what it quotes."""
    print(f"error: {message(text)}", file=sys.stderr)  # noqa: T201 - the command line's own output


def print_traceback(error: BaseException) -> None:
    """Print where an error came from, as a message: a component's error can be of any size and signs."""
    print(message("".join(traceback.format_exception(error)).rstrip()), file=sys.stderr)  # noqa: T201 - ditto


def explain_error(error: BaseException, folder: Path) -> str | None:
    """Return the message of an error that the user can mend, None of a bug."""
    if isinstance(error, RecgaugeError):
        return str(error)
    if isinstance(error, MemoryError):
        return explain_memory_error(error)
    return explain_os_error(error, folder) if isinstance(error, OSError) else None


def explain_os_error(error: OSError, folder: Path) -> str:
    """Return what the system refused, and what to do about it.

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


def plain(text: str, encoding: str) -> str:
    """Return a text as an encoding can show it.

    Examples
    --------
    >>> plain("0.21 ± .01", "ascii"), plain("0.21 ± .01", "utf-8"), plain("Ó", "ascii")
    ('0.21 +- .01', '0.21 ± .01', '?')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        known = "".join(_PLAIN.get(sign, sign) for sign in text)
        return known.encode(encoding, "replace").decode(encoding)
    return text
