"""The worked examples of five articles: what they print, what their code gives, and ours.

An article's own code is the judge of its definition: ours is compared with its value. What the article prints
is compared with that value, too, since a few prints and a few functions are not what they say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from recgauge.studies import Row, Study, StudyRun
from recgauge.studies.verdicts import NOT_REPRODUCED, REPRODUCED
from recgauge.studies.worked_examples.beyond import METRICS, compute_beyond
from recgauge.studies.worked_examples.cases import (
    Case,
    Computed,
    expected_values,
    read_cases,
    same,
    tolerance,
)
from recgauge.studies.worked_examples.page import page
from recgauge.studies.worked_examples.rankings import compute_ranking
from recgauge.studies.worked_examples.ratings import (
    RATINGS,
    compute_classes,
    compute_ratings,
    compute_two_systems,
)

# numbers have 12 digits, and versions of libraries round what lies below them differently
_ROUNDING = 1e-12
_UNSEEDED = {"diversity-seed0": "its features are drawn without a seed"}


@dataclass(frozen=True)
class WorkedExamples(Study):
    """Compares every case of cases.json.

    Parameters
    ----------
    name : str
        Name of the experiment.
    """

    needs_runs: ClassVar[bool] = False
    name: str

    def check(self, source: Path) -> None:
        """Read the cases."""
        read_cases(source / "cases.json")

    def rows(self, runs: Sequence[StudyRun], source: Path) -> list[Row]:  # noqa: ARG002 - needs none
        """Return one row a case, in the order of the file."""
        cases = read_cases(source / "cases.json")
        return [_row(case, cases) for case in cases]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return counts an article, what is wrong in the articles, and every case."""
        return page(rows)


def compute(case: Case) -> Computed:
    """Return what recgauge makes of a case, under the article's convention."""
    if case["metric"] in METRICS:
        return compute_beyond(case)
    if case["metric"] in RATINGS:
        return compute_ratings(case)
    if case["metric"] == "precision_recall":
        return compute_two_systems(case)
    return compute_classes(case) if "average=" in case["variant"] else compute_ranking(case)


def agrees(case: Case, ours: Computed) -> bool:
    """Whether ours is the value of the article's code; where that has none, ours must have none either."""
    theirs = expected_values(case)
    if ours.left_out:
        return False
    if not theirs or any(value != value for value in theirs):  # a crash or NaN
        return not ours.values
    return same(ours.values, theirs, tolerance(case))


def _row(case: Case, cases: Sequence[Case]) -> Row:
    ours = compute(case)
    theirs = expected_values(case)
    difference = max((abs(a - b) for a, b in zip(ours.values, theirs, strict=False)), default=None)
    if difference is not None and difference < _ROUNDING:
        difference = 0.0
    return {
        "article": case["article"].removeprefix("article_"),
        "case": case["id"],
        "metric": case["metric"],
        "variant": case["variant"],
        "printed": case.get("printed", ""),
        "code": _shown(theirs) or case.get("expected_error", "").split(":")[0],
        "ours": _shown(ours.values) or ("left out" if ours.left_out else "no value"),
        "difference": "" if difference is None or difference != difference else f"{difference:.1e}",
        "tolerance": f"{tolerance(case):.0e}",
        "verdict": REPRODUCED if agrees(case, ours) else NOT_REPRODUCED,
        "print": _judge_print(case, cases),
        "why": ours.reason,
        "note": case.get("note", "").removeprefix("WRONG in the article").removeprefix(": "),
    }


def _judge_print(case: Case, cases: Sequence[Case]) -> str:
    """Say whether the printed number is what the code gives, and if not, which case gives it."""
    if "printed" not in case:
        return ""
    if case["id"] in _UNSEEDED:
        return f"not repeatable: {_UNSEEDED[case['id']]}"
    if case["printed_matches"]:
        return "right"
    for other in cases:
        if _same_inputs(case, other) and same(expected_values(other), (float(case["printed"]),)):
            return f"wrong: it is the value of {other['id']}"
    return "wrong"


def _same_inputs(case: Case, other: Case) -> bool:
    """Whether two cases of an article differ in the method at most."""
    inputs = [{k: v for k, v in one["inputs"].items() if k != "method"} for one in (case, other)]
    return bool(case["article"] == other["article"]) and inputs[0] == inputs[1]


def _shown(values: Sequence[float]) -> str:
    return "; ".join("NaN" if value != value else f"{value:.12g}" for value in values)
