"""Every error that recgauge raises on purpose. This module imports nothing but how texts are shown.

::

    RecgaugeError
    ├─ ConfigError          a setting, name, type or value that cannot be used
    ├─ DataError            interactions or files that cannot be used
    │  ├─ SchemaError       a column, type or value of a table is wrong
    │  ├─ IntegrityError    a file is not the one that was expected
    │  ├─ MissingDataError  a file could not be found or fetched
    │  ├─ EmptySplitError   nobody is left to train on or to evaluate
    │  └─ GuardError        numbers would mean nothing; a guard says why
    ├─ ModelError           a model cannot do what was asked
    │  ├─ NotFittedError    scores were asked for before fit
    │  ├─ FitError          training failed or diverged
    │  └─ ScoreError        scores have a wrong shape, type or value
    ├─ MetricError          a metric cannot be computed from what it was given
    └─ TrackingError        results could not be stored

A message names its subject, the rule, what was found instead and the remedy. The command line shows
these errors without a traceback; anything else is a bug of ours and keeps its traceback. Control
characters are shown as escapes, and the middle of very long messages is left out.
"""

from recgauge._texts import message


class RecgaugeError(Exception):
    """Base of all errors that recgauge raises on purpose."""

    def __str__(self) -> str:
        return message(super().__str__())


class ConfigError(RecgaugeError, ValueError):
    """A setting, name, type or value that cannot be used."""


class DataError(RecgaugeError, ValueError):
    """Interactions or files that cannot be used."""


class SchemaError(DataError):
    """A column, type or value of a table is wrong."""


class IntegrityError(DataError):
    """A file is not the one that was expected."""


class MissingDataError(DataError):
    """A file could not be found or fetched."""


class EmptySplitError(DataError):
    """Nobody is left to train on or to evaluate."""


class GuardError(DataError):
    """Numbers would mean nothing; a guard says why."""


class ModelError(RecgaugeError, RuntimeError):
    """A model cannot do what was asked."""


class NotFittedError(ModelError):
    """Scores were asked for before ``fit``."""


class FitError(ModelError):
    """Training failed or diverged."""


class ScoreError(ModelError):
    """Scores have a wrong shape, type or value."""


class MetricError(RecgaugeError, ValueError):
    """A metric cannot be computed from what it was given."""


class TrackingError(RecgaugeError, RuntimeError):
    """Results could not be stored."""
