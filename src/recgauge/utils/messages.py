"""Notes and errors on standard error."""

import errno
import sys
import traceback

from recgauge.errors import RecgaugeError, message, said
from recgauge.utils.resources import free_memory, in_units

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""How a system says that a disk is full."""


def print_note(text: str) -> None:
    """Print one line on standard error."""
    print(f"note: {message(text)}", file=sys.stderr)  # noqa: T201 - the command line's own output


def print_error(text: str) -> None:
    """Print one message on standard error, without the control characters of what it quotes."""
    print(f"error: {message(text)}", file=sys.stderr)  # noqa: T201 - the command line's own output


def print_traceback(error: BaseException) -> None:
    """Print where an error came from, as a message: a component's error can be of any size and signs."""
    print(message("".join(traceback.format_exception(error)).rstrip()), file=sys.stderr)  # noqa: T201 - ditto


def explain_error(error: BaseException) -> str | None:
    """Return the message of an error that the user can mend, None of a bug."""
    if isinstance(error, RecgaugeError):
        return str(error)
    if isinstance(error, MemoryError):
        return explain_memory_error(error)
    if isinstance(error, RecursionError):
        return "a file of settings or of a run is nested too deeply to be one of recgauge's. Get it again."
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        remedy = "Free some space" if error.errno in FULL else "Make it readable, or writable"
        return (
            f"{name}{error.strerror or said(error)}. {remedy}, or write elsewhere: hydra.run.dir=FOLDER for "
            "the results of a run, --work FOLDER for parts of lists, TMPDIR=FOLDER for temporary files."
        )
    return None


def explain_memory_error(error: MemoryError) -> str:
    """Return where memory ran out, what was asked for, what can be had, and what to do.

    Examples
    --------
    >>> error = MemoryError("Unable to allocate 1.5 GiB for an array")
    >>> error.add_note("in the stage fit, with 1,000 rows")
    >>> explain_memory_error(error).partition(";")[0]
    'memory ran out in the stage fit, with 1,000 rows: Unable to allocate 1.5 GiB for an array'
    """
    free = free_memory()
    where = f" {error.__notes__[0]}" if getattr(error, "__notes__", None) else ""
    cause = f": {said(error)}" if str(error) else ""
    had = "" if free is None else f"; {free:,} bytes ({in_units(free)}) can be had now"
    return (
        f"memory ran out{where}{cause}{had}. Use a machine with more memory, end other programs, take fewer "
        "rows (filters=[sample_users]), or a model or setting that needs less."
    )
