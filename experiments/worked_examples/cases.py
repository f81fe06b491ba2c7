"""The worked cases of five articles: inputs, printed numbers, what the articles' own code computes; iris."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Case = Mapping[str, Any]
"""``article``, ``id``, ``metric``, ``variant``, ``inputs``, ``expected`` (the code's value), and where known
``expected_error`` (the code's crash), ``printed`` (the number in the article), ``note``."""
_IRIS_SEED = 0
_IRIS_NOISE = 200  # columns of noise for each column of the flowers, which make the task hard


@dataclass(frozen=True)
class Computed:
    """What recgauge makes of a case.

    Parameters
    ----------
    values : tuple of float
        One value, or one per user where the article lists them; empty if there are none.
    reason : str
        Why there is no value, or why the case is left out.
    left_out : bool
        Whether recgauge does not compute what the article's code does, on purpose.
    """

    values: tuple[float, ...] = ()
    reason: str = ""
    left_out: bool = False


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read cases.json."""
    return tuple(json.loads(path.read_text(encoding="utf-8")))


def expected_values(case: Case) -> tuple[float, ...]:
    """Return what the article's code computes; NaN where it gives NaN, nothing where it crashes."""
    if "expected_error" in case:
        return ()
    return tuple(_number(value) for value in _flat(case["expected"]))


def _flat(stored: Any) -> list[Any]:
    return [one for part in stored for one in _flat(part)] if isinstance(stored, list) else [stored]


def tolerance(case: Case) -> float:
    """Return how far apart equal numbers may be: the article's code keeps some in float32."""
    return 1e-6 if "float32" in case["variant"] else 1e-9


def _number(stored: Any) -> float:
    """Return a stored value as a float; None is NaN too."""
    return math.nan if stored is None or stored == "NaN" else float(stored)


def same(ours: Sequence[float], theirs: Sequence[float], tolerance: float = 1e-9) -> bool:
    """Return whether all are equal within `tolerance`, relative above 1; NaN equals NaN."""
    return len(ours) == len(theirs) and all(
        (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(1.0, abs(b))
        for a, b in zip(ours, theirs, strict=True)
    )


@cache
def iris_labels() -> tuple[list[int], list[int]]:
    """Train on one half of the flowers and return actual and predicted kind, 0 or 1, of each of the other.

    Notes
    -----
    One random state serves noise, split and training in this order, as in the sample that scikit-learn's
    documentation of precision and recall had and the note took over. The data are part of scikit-learn.

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7(2),
       1936.
    """
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    flowers, kind = load_iris(return_X_y=True)
    state = np.random.RandomState(_IRIS_SEED)
    noisy = np.hstack((flowers, state.randn(len(flowers), _IRIS_NOISE * flowers.shape[1])))
    two = kind < 2
    train, test, kind_train, kind_test = train_test_split(
        noisy[two], kind[two], test_size=0.5, random_state=state
    )
    predicted = LinearSVC(random_state=state).fit(train, kind_train).predict(test)
    return kind_test.tolist(), predicted.tolist()
