"""A published number: what it is, how it was made, how near is near enough, and where it stands."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from recgauge.errors import MissingDataError, SchemaError
from recgauge.studies import StudyRun

REQUIRED = ("key", "definition", "label", "dataset", "value", "tolerance", "why", "source")
_GROUPS = ("dataset", "filters", "split", "candidates", "model", "conventions")


@dataclass(frozen=True)
class PublishedNumber:
    """One row of published.csv; every column is text.

    Parameters
    ----------
    key : str
        The run's metric that it is compared with, such as ``rmse``.
    definition : str
        The metric in the source's words.
    label : str
        The model's name in the source.
    value : str
        The number as printed.
    tolerance : str
        Largest difference that still reproduces.
    why : str
        Why this tolerance.
    source : str
        Where the number stands.
    dataset : str
        The option that the runs chose.
    model : str
        The option that the runs chose; empty if recgauge has no such model yet.
    filters, split, candidates, conventions : str
        Options that the runs chose; empty if it does not matter.
    settings : str
        Resolved settings that the runs must have, such as ``model.n_factors=100 split.fold=0``.
    runs : str
        How many runs are averaged, such as the folds; 1 if empty.
    unknown : str
        What the source leaves open that the number depends on; empty if nothing.
    note : str
    """

    key: str
    definition: str
    label: str
    dataset: str
    value: str
    tolerance: str
    why: str
    source: str
    model: str = ""
    filters: str = ""
    split: str = ""
    candidates: str = ""
    conventions: str = ""
    settings: str = ""
    runs: str = ""
    unknown: str = ""
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
            raise SchemaError(f"settings must be KEY=VALUE, parted by spaces, got {self.settings!r}.")

    @property
    def n_runs(self) -> int:
        """How many runs are averaged."""
        return int(self.runs or 1)

    def matches(self, run: StudyRun) -> bool:
        """Whether a run is one of those that the number is compared with."""
        chosen = all(not getattr(self, g) or run.names.get(g) == getattr(self, g) for g in _GROUPS)
        wanted = (word.split("=", 1) for word in self.settings.split())
        return bool(self.model) and chosen and all(_setting(run.settings, k) == v for k, v in wanted)


def read_published(path: Path) -> tuple[PublishedNumber, ...]:
    """Read and check a published.csv.

    Raises
    ------
    MissingDataError
        If there is no such file.
    SchemaError
        If a column is unknown or absent, or a row cannot be meant; the message names the row.
    """
    if not path.is_file():
        raise MissingDataError(
            f"{path}: there is no such file. An experiment's published numbers stand in it."
        )
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        _check_columns(path, reader.fieldnames or ())
        found = []
        for row in reader:
            if None in row or None in row.values():
                raise SchemaError(f"{path} line {reader.line_num}: the row has too few or too many columns.")
            try:
                found.append(PublishedNumber(**row))
            except SchemaError as error:
                raise SchemaError(f"{path} line {reader.line_num}: {error}") from error
    if not found:
        raise SchemaError(f"{path}: there must be at least one row, got none.")
    return tuple(found)


def _check_columns(path: Path, names: Sequence[str]) -> None:
    known = [field.name for field in fields(PublishedNumber)]
    if unknown := [name for name in names if name not in known]:
        raise SchemaError(f"{path}: unknown column {', '.join(unknown)}; there are {', '.join(known)}.")
    if absent := [name for name in REQUIRED if name not in names]:
        raise SchemaError(f"{path}: column {', '.join(absent)} is absent.")


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
