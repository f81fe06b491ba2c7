"""How the command line speaks of errors."""

import sys


def print_note(message: str) -> None:
    """Print one line on standard error."""
    print(f"note: {message}", file=sys.stderr)  # noqa: T201 - the command line's own output


def print_error(message: str) -> None:
    """Print one message on standard error."""
    print(f"error: {message}", file=sys.stderr)  # noqa: T201 - the command line's own output
