"""Reads the golden data: inputs, and what libraries and articles computed from them.

``inputs/<kind>.json`` maps case ids to inputs; kinds are ranking, rating, correlation, binary, classes; the
random ranking cases have a file of their own. `ask_library.py` made the newer files of libraries.
``libraries/<library>.json`` names the version and holds rows
``[case, metric, [[k, value, per_user, more]]]``:
k None means no cutoff, ``"NaN"`` a NaN, None in per_user a user without a value, ``more`` an error that the
library raised, ``unstable`` where its value is noise, or an argument. The worked cases of five articles,
computed with the articles' own code, are those of ``experiments/worked_examples``.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conftest import REPOSITORY
from recgauge.experiments.worked_examples.cases import read_cases

HERE = Path(__file__).parent


@dataclass(frozen=True)
class GoldenValue:
    """One value of one library, as stored; `more` has error, unstable or arguments."""

    library: str
    version: str
    metric: str
    case: str
    kind: str
    k: int | None
    value: Any
    per_user: list[Any] | None
    more: dict[str, Any]

    @property
    def row(self) -> str:
        return f"{self.library}/{self.metric}"

    @property
    def inputs(self) -> dict[str, Any]:
        return load_inputs(self.kind)[self.case]


@cache
def load_inputs(kind: str) -> dict[str, dict[str, Any]]:
    files = sorted((HERE / "inputs").glob(f"{kind}*.json"))
    return {case: it for file in files for case, it in json.loads(file.read_text(encoding="utf-8")).items()}


@cache
def golden_values(kind: str) -> tuple[GoldenValue, ...]:
    """Every value of every library for the cases of one kind."""
    return tuple(_values(kind))


@cache
def _tables() -> list[dict[str, Any]]:
    return [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "libraries").glob("*.json"))
    ]


def _values(kind: str) -> Iterator[GoldenValue]:
    inputs = load_inputs(kind)
    for table in _tables():
        for case, metric, rows in table["rows"]:
            if case in inputs:
                for k, value, *rest in rows:
                    per_user, more = (*rest, None, None)[:2]
                    yield GoldenValue(
                        table["library"], table["version"], metric, case, kind, k, value, per_user, more or {}
                    )


@cache
def article_cases() -> tuple[dict[str, Any], ...]:
    """The worked cases of the articles."""
    return tuple(dict(case) for case in read_cases(REPOSITORY / "experiments/worked_examples/cases.json"))


def number(stored: Any) -> float:
    """A stored value as a float; None is NaN too."""
    return math.nan if stored is None or stored == "NaN" else float(stored)


def same(actual: float, expected: float, tolerance: float = 1e-9) -> bool:
    """Equal within `tolerance`, relative above 1; NaN equals NaN."""
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    return abs(actual - expected) <= tolerance * max(1.0, abs(expected))
