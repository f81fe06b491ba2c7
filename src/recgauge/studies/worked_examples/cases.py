"""The worked cases of five articles: inputs, what is printed, and what the articles' own code computes."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recgauge.errors import MissingDataError, SchemaError

Case = Mapping[str, Any]
"""``article``, ``id``, ``metric``, ``variant``, ``inputs``, ``expected`` (the code's value), and where known
``expected_error`` (the code's crash), ``printed`` (the number in the article), ``note``."""
NEEDED = ("article", "id", "metric", "variant", "inputs", "expected")


@dataclass(frozen=True)
class Computed:
    """What recgauge makes of a case.

    Parameters
    ----------
    values : tuple of float
        One value, or one a user where the article lists them; empty if there is none.
    reason : str
        Why there is no value, or why the case is left out.
    left_out : bool
        Whether recgauge does not compute what the article's code does, on purpose.
    """

    values: tuple[float, ...] = ()
    reason: str = ""
    left_out: bool = False


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read and check cases.json.

    Raises
    ------
    MissingDataError
        If there is no such file.
    SchemaError
        If a case lacks a part.
    """
    if not path.is_file():
        raise MissingDataError(f"{path}: there is no such file. The articles' worked cases stand in it.")
    cases = json.loads(path.read_text(encoding="utf-8"))
    for place, case in enumerate(cases):
        if absent := [name for name in NEEDED if name not in case]:
            raise SchemaError(f"{path}: case {place} has no {', '.join(absent)}.")
    return tuple(cases)


def expected_values(case: Case) -> tuple[float, ...]:
    """Return what the article's code computes; NaN where it gives NaN, nothing where it crashes."""
    if "expected_error" in case:
        return ()
    return tuple(number(value) for value in _flat(case["expected"]))


def _flat(stored: Any) -> list[Any]:
    return [one for part in stored for one in _flat(part)] if isinstance(stored, list) else [stored]


def tolerance(case: Case) -> float:
    """Return how far apart equal numbers may be: the article's code keeps some in float32."""
    return 1e-6 if "float32" in case["variant"] else 1e-9


def number(stored: Any) -> float:
    """Return a stored value as a float; None is NaN too."""
    return math.nan if stored is None or stored == "NaN" else float(stored)


def same(ours: Sequence[float], theirs: Sequence[float], tolerance: float = 1e-9) -> bool:
    """Return whether all are equal within `tolerance`, relative above 1; NaN equals NaN."""
    return len(ours) == len(theirs) and all(
        (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(1.0, abs(b))
        for a, b in zip(ours, theirs, strict=True)
    )
