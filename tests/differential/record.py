"""Writes tests/golden/edge_cases.json with the libraries' own values; from the folder tests, run
``python -m differential.record`` in the environment of `make differential-metrics`.
"""

import json
import warnings
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from differential import libraries
from differential.cases import ITEMS, Case, full_case, list_case

PAGE = Path(__file__).parents[1] / "golden" / "edge_cases.json"
FALLING = [float(-place) for place in range(20)]
ONLY_ZEROS = Case(
    {"1": ["d1", "d2"], "2": ["d1", "d2"], "4": ["d1"]},
    {"1": [2.0, 1.0], "2": [2.0, 1.0], "4": [1.0]},
    {"1": {"d2": 2}, "2": {"d1": 0, "d3": 0}, "3": {"d1": 0}},
)
"""User 2 has judged items of grade 0 only, user 3 so and no list, user 4 a list and no judged item."""
REPEATS = Case(
    {"1": ["d1", "d1", "d2", "d3", "d1"], "2": ["d4", "d4", "d5"]},
    {"1": FALLING[:5], "2": FALLING[:3]},
    {"1": {"d1": 1, "d3": 1, "d9": 1}, "2": {"d5": 1}},
    {"1": ["d1", "d6"], "2": ["d1"]},
)
LAST_OF_20 = Case({"1": list(ITEMS[:20])}, {"1": FALLING}, {"1": {"d19": 1}})
"""ERR@20 is 1 / 16 / 20 = 0.003125."""
ALMOST_TIED = Case({"1": ["d1", "d2"]}, {"1": [1.0 + 1e-9, 1.0]}, {"1": {"d1": 1}})
ALL_ZERO_ROW = Case(
    {"1": ["d0", "d1", "d2"], "2": ["d2", "d1", "d0"]},
    {"1": [3.0, 2.0, 2.0], "2": [2.0, 1.0, 0.0]},
    {"1": {"d0": 0, "d1": 1, "d2": 0}, "2": {"d0": 0, "d1": 0, "d2": 0}},
)
SOURCES = {
    "ranx": ("ranx", libraries.ranx_means, (ONLY_ZEROS,), list_case),
    "trec": ("ir-measures", libraries.ir_measures_means, (ONLY_ZEROS, LAST_OF_20, ALMOST_TIED), list_case),
    "rectools": (
        "rectools",
        libraries.rectools_means,
        (ONLY_ZEROS, REPEATS),
        partial(list_case, grades=(0, 1, 1), repeats=True),
    ),
    "sklearn": ("scikit-learn", libraries.sklearn_means, (ALL_ZERO_ROW,), full_case),
}
"""Convention: the package, what asks it, chosen cases, and what makes random ones."""
N_RANDOM = 6


def record() -> None:
    """Ask every library and write what it says."""
    warnings.simplefilter("ignore")  # what libraries say of inputs at the edge
    libraries_said = []
    for convention, (package, means, chosen, make) in SOURCES.items():
        rows = []
        for case in (*chosen, *(make(np.random.default_rng((77, number))) for number in range(N_RANDOM))):
            try:
                rows.append({"case": asdict(case), "means": means(case)})
            except libraries.NoAnswer:
                continue
        libraries_said.append(
            {"convention": convention, "package": package, "version": version(package), "rows": rows}
        )
    PAGE.write_text(json.dumps(libraries_said, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
