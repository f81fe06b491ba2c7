"""Published numbers: what each is, how it was made, its source, and how near ours is to it, in five words."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from recgauge.errors import ConfigError, MissingDataError, SchemaError
from recgauge.runs.outcome import JobOutcome

REPRODUCED = "reproduced"
CLOSE = "close"
NOT_REPRODUCED = "not reproduced"
UNKNOWN = "protocol unknown"
OPEN = "open"
VERDICTS = (REPRODUCED, CLOSE, NOT_REPRODUCED, UNKNOWN, OPEN)
MEANINGS = {
    REPRODUCED: "differs by at most the tolerance",
    CLOSE: "differs by at most three tolerances",
    NOT_REPRODUCED: "differs by more, although the protocol is fully stated",
    UNKNOWN: "differs by more, and the source leaves open what the number depends on",
    OPEN: "no number yet, for the reason given",
}
CLOSE_TOLERANCES = 3
_ROUNDING = 1e-12  # relative; a difference of exactly the tolerance still counts

REQUIRED = ("key", "definition", "label", "dataset", "value", "tolerance", "why", "source")
_GROUPS = ("dataset", "filters", "split", "candidates", "model", "conventions")


@dataclass(frozen=True)
class PublishedNumber:
    """One row of published.csv; every column is text."""

    key: str  # the run's metric that it is compared with, such as ``rmse``
    definition: str  # the metric in the source's words
    label: str  # the model's name in the source
    dataset: str  # the option that the runs chose
    value: str  # the number as printed
    tolerance: str  # largest difference that still reproduces
    why: str  # why this tolerance
    source: str  # where the number was published
    model: str = ""  # the option that the runs chose; empty if recgauge has no such model yet
    filters: str = ""  # options that the runs chose; empty if it does not matter
    split: str = ""
    candidates: str = ""
    conventions: str = ""
    # resolved settings that the runs must have, such as ``model.n_factors=100 split.fold=0``
    settings: str = ""
    runs: str = ""  # how many runs are averaged, such as the folds; 1 if empty
    unknown: str = ""  # what the source leaves open that the number depends on; empty if nothing
    note: str = ""

    def __post_init__(self) -> None:
        for name in REQUIRED:
            if not getattr(self, name).strip():
                raise SchemaError(f"{name} must not be empty.")
        for name in ("value", "tolerance"):
            if not _is_number(getattr(self, name)):
                raise SchemaError(f"{name} must be a number, got {getattr(self, name)!r}.")
        if float(self.tolerance) <= 0:
            raise SchemaError(f"tolerance must be positive, got {self.tolerance}.")
        if self.runs and not (self.runs.isdecimal() and int(self.runs) > 0):
            raise SchemaError(f"runs must be a whole number >= 1, got {self.runs!r}.")
        if any("=" not in word for word in self.settings.split()):
            raise SchemaError(f"settings must be KEY=VALUE, separated by spaces, got {self.settings!r}.")

    @property
    def n_runs(self) -> int:
        """How many runs are averaged."""
        return int(self.runs or 1)

    def matches(self, run: JobOutcome) -> bool:
        """Whether a run is one of those that the number is compared with."""
        chosen = all(not getattr(self, g) or run.names.get(g) == getattr(self, g) for g in _GROUPS)
        wanted = (word.split("=", 1) for word in self.settings.split())
        return bool(self.model) and chosen and all(_setting(run.settings, k) == v for k, v in wanted)


def read_published(path: Path) -> tuple[PublishedNumber, ...]:
    """Read and check a published.csv."""
    if not path.is_file():
        raise MissingDataError(
            f"{path}: there is no such file. It holds the published numbers of the experiment."
        )
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        _check_columns(path, reader.fieldnames or ())
        numbers = []
        for row in reader:
            if None in row or None in row.values():
                raise SchemaError(f"{path} line {reader.line_num}: the row has too few or too many columns.")
            try:
                numbers.append(PublishedNumber(**row))
            except SchemaError as error:
                raise SchemaError(f"{path} line {reader.line_num}: {error}") from error
    if not numbers:
        raise SchemaError(f"{path}: there must be at least one row, got none.")
    return tuple(numbers)


def _check_columns(path: Path, names: Sequence[str]) -> None:
    known = [field.name for field in fields(PublishedNumber)]
    if unknown := [name for name in names if name not in known]:
        raise SchemaError(f"{path}: unknown column {', '.join(unknown)}; there are {', '.join(known)}.")
    if absent := [name for name in REQUIRED if name not in names]:
        raise SchemaError(f"{path}: column {', '.join(absent)} is missing.")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _setting(settings: Mapping[str, Any], key: str) -> str | None:
    value: Any = settings
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return str(value)


def verdict(ours: float, published: float, tolerance: float, *, protocol_known: bool = True) -> str:
    """Return the word for a pair of numbers; `tolerance` is the largest difference that still reproduces.

    Where the source leaves open what the number depends on, one that differs is "protocol unknown".

    Examples
    --------
    >>> verdict(0.9443, 0.944, 0.001), verdict(0.946, 0.944, 0.001), verdict(0.95, 0.944, 0.001)
    ('reproduced', 'close', 'not reproduced')
    >>> verdict(0.95, 0.944, 0.001, protocol_known=False)
    'protocol unknown'
    """
    if not tolerance > 0:
        raise ConfigError(f"verdict: tolerance must be positive, got {tolerance!r}.")
    rounding = _ROUNDING * max(1.0, abs(published))
    difference = abs(ours - published)
    if difference <= tolerance + rounding:
        return REPRODUCED
    if difference <= CLOSE_TOLERANCES * tolerance + rounding:
        return CLOSE
    return NOT_REPRODUCED if protocol_known else UNKNOWN


def tally(verdicts: Iterable[str]) -> str:
    """Return how often each verdict was given, as a phrase.

    Examples
    --------
    >>> tally(["open", "reproduced", "reproduced"])
    '2 reproduced, 1 open'
    """
    counted = Counter(verdicts)
    return ", ".join(f"{counted[word]} {word}" for word in VERDICTS if counted[word])
