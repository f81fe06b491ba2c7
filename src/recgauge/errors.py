"""Every error that recgauge raises on purpose. This module imports nothing of recgauge.

::

    RecgaugeError
    ├─ ConfigError          a setting, name, type or value that cannot be used
    │  └─ MissingLibraryError  a model's library is not installed
    ├─ DataError            interactions or files that cannot be used
    │  ├─ SchemaError       a column, type or value of a table is wrong
    │  │  ├─ QuestionError  a column may mean several things; the message has the words that say which
    │  │  └─ ColumnsError   nobody says which columns are the user and the item
    │  ├─ IntegrityError    a file is not the one that was expected
    │  ├─ MissingDataError  a file could not be found or fetched
    │  ├─ EmptySplitError   nobody is left to train on or to evaluate
    │  └─ GuardError        numbers would mean nothing; a guard says why
    ├─ ModelError           a model cannot do what was requested
    │  ├─ NotFittedError    scores were requested before fit
    │  ├─ FitError          training failed or diverged
    │  └─ ScoreError        scores have a wrong shape, type or value
    ├─ MetricError          a metric cannot be computed from what it was given
    └─ TrackingError        results could not be stored

A message names its subject, the rule, what was found instead and the remedy. The command line shows
these errors without a traceback; anything else is a bug of ours and keeps its traceback. Control
characters are shown as escapes, and the middle of very long messages is left out.
"""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

_LONGEST_MESSAGE = 5_000


def printable(text: str, *, keep: str = "") -> str:
    r"""Return `text` with its control characters, and halves of characters, written as escapes.

    A terminal obeys some of them: a file's name could clear the screen, or hide the text before it.

    Parameters
    ----------
    text : str
    keep : str
        Characters that stay.

    Examples
    --------
    >>> print(printable("red\x1b[31m.csv\n"))
    red\x1b[31m.csv\n
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign in keep else sign.encode("unicode_escape").decode()
        for sign in text
    )


def shortened(text: str, longest: int = 100) -> str:
    """Return `text` if it has at most `longest` characters, else its beginning and how many there are.

    Examples
    --------
    >>> shortened("x" * 20_000, 5)
    'xxxxx... (20,000 characters)'
    """
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


def listed(names: Iterable[object], most: int = 20) -> str:
    """Return names with commas between them; of many the first, and how many there are more.

    Examples
    --------
    >>> listed(["a.csv", "b.csv"]), listed(range(50_000), most=3)
    ('a.csv, b.csv', '0, 1, 2 and 49,997 more')
    """
    every: Collection[object] = names if isinstance(names, (list, tuple)) else list(names)
    first = ", ".join(printable(shortened(str(name))) for name, _ in zip(every, range(most), strict=False))
    return first if len(every) <= most else f"{first} and {len(every) - most:,} more"


def quantity(number: int, noun: str) -> str:
    """Return a number with what it counts: ``1 run``, ``2,000 runs``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def nearest(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, None if none is near; case, ``_`` and ``-`` do not count.

    A name that is the end of another, as ``nmf`` of ``surprise_nmf``, is near it.

    Examples
    --------
    >>> nearest("ML-100K", ["demo", "ml_1m", "ml_100k"]), nearest("svdd", ["svd"]), nearest("bag", ["svd"])
    ('ml_100k', 'svd', None)
    """
    known = list(names)
    close = get_close_matches(_plain(wrong), map(_plain, known), n=1)
    alike = [name for name in known if _plain(name) in close or name.endswith(f"_{wrong}")]
    return next(iter(get_close_matches(wrong, alike, n=1, cutoff=0.0)), None)


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """Return a question with a space behind it, for a message that lists all names next.

    Examples
    --------
    >>> did_you_mean("SVD", ["svd", "ease"]), did_you_mean("bag", ["svd"])
    ('Did you mean svd? ', '')
    """
    near = nearest(wrong, names)
    return "" if near is None else f"Did you mean {near}? "


def said(error: BaseException) -> str:
    """Return what an error of another library says, on one line."""
    return shortened(printable(" ".join(str(error).split())), 500).rstrip(".")


def message(text: str) -> str:
    """Return a message that may be printed: escaped, and without its middle if it is very long."""
    if len(text) > _LONGEST_MESSAGE:
        cut = len(text) - _LONGEST_MESSAGE
        text = f"{text[: _LONGEST_MESSAGE - 1000]} [... {cut:,} characters ...] {text[-1000:]}"
    return printable(text, keep="\n")


class RecgaugeError(Exception):
    """Base of all errors that recgauge raises on purpose."""

    def __str__(self) -> str:
        return message(super().__str__())


class ConfigError(RecgaugeError, ValueError):
    """A setting, name, type or value that cannot be used."""


class MissingLibraryError(ConfigError):
    """The library that a model needs is not installed; the message has the command that installs it."""


class DataError(RecgaugeError, ValueError):
    """Interactions or files that cannot be used."""


class SchemaError(DataError):
    """A column, type or value of a table is wrong."""


class QuestionError(SchemaError):
    """A column may mean several things; `answers` are words to type, each of which says one.

    `column` may also stay unused; it is empty where it may not.
    """

    def __init__(self, message: str, column: str = "", answers: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.column = column
        self.answers = tuple(answers)


class ColumnsError(SchemaError):
    """Nobody says which columns of a file have which role.

    Parameters
    ----------
    message : str
    choices : mapping of str to str
        By role that must be chosen a column that may be it: its name, or its position from 0 where the first
        row may not name the columns.
    header : bool
        Whether the first row names the columns.
    """

    def __init__(self, message: str, choices: Mapping[str, str], *, header: bool) -> None:
        super().__init__(message)
        self.choices = dict(choices)
        self.header = header


class IntegrityError(DataError):
    """A file is not the one that was expected."""


class MissingDataError(DataError):
    """A file could not be found or fetched."""


class EmptySplitError(DataError):
    """Nobody is left to train on or to evaluate."""


class GuardError(DataError):
    """Numbers would mean nothing; a guard says why."""


class ModelError(RecgaugeError, RuntimeError):
    """A model cannot do what was requested."""


class NotFittedError(ModelError):
    """Scores were requested before ``fit``."""


class FitError(ModelError):
    """Training failed or diverged."""


class ScoreError(ModelError):
    """Scores have a wrong shape, type or value."""


class MetricError(RecgaugeError, ValueError):
    """A metric cannot be computed from what it was given."""


class TrackingError(RecgaugeError, RuntimeError):
    """Results could not be stored."""


class SearchError(RecgaugeError, RuntimeError):
    """A search for a model's settings has no result, or its file cannot be read."""
