"""The worked examples of five articles: what they print, what their code gives, and ours.

An article's own code decides what its definition is: ours is compared with its value. What the article prints
is compared with that value too, since a few printed numbers and a few functions are wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, Study, distinct, folded, table, where
from recgauge.studies.published_table import NOT_REPRODUCED, REPRODUCED, tally

from .cases import Case, expected_values, read_cases, same, tolerance
from .ours import agrees, compute

# results.csv has 12 digits, since versions of libraries round the digits beyond them differently
_ROUNDING = 1e-12
_UNSEEDED = {"diversity-seed0": "its features are drawn without a seed"}


@dataclass(frozen=True)
class WorkedExamples(Study):
    """Compares every case of cases.json."""

    needs_runs: ClassVar[bool] = False
    name: str

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:  # noqa: ARG002 - needs none
        """Return one row per case, in the order of the file."""
        cases = read_cases(source / "cases.json")
        return [_row(case, cases) for case in cases]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return counts per article, where an article is wrong and why, and every case."""
        without_value = [row for row in rows if row["code"] == "NaN" or row["code"].endswith("Error")]
        others = [row | {"why": f"{row['why']}. {row['note']}"} for row in _not_reproduced(rows)]
        return "\n\n".join(
            [
                f"{len(rows)} worked examples: {tally(row['verdict'] for row in rows)}. Ours is compared "
                "with what the article's own code computes; the printed number is compared with that, too.",
                _counts(rows),
                "### Where a printed number is wrong or cannot be repeated",
                _wrong_prints(rows),
                "### Where an article's code has no value",
                _table(where(without_value, verdict=REPRODUCED), "article", "case", "code", "ours", "note"),
                "### Left out on purpose",
                _table(others, "article", "case", "code", "why"),
                "### Every example",
                *(_every(article, rows) for article in distinct(rows, "article")),
            ]
        )


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


def _not_reproduced(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["verdict"] != REPRODUCED]


def _wrongly_printed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["printed"] and row["print"] != "right"]


def _counts(rows: Sequence[Row]) -> str:
    lines = []
    for article in distinct(rows, "article"):
        own = where(rows, article=article)
        n_others, n_wrong = len(_not_reproduced(own)), len(_wrongly_printed(own))
        n_printed = sum(bool(row["printed"]) for row in own)
        counts = (len(own), len(own) - n_others, n_others, n_printed, n_wrong)
        lines.append([article, *map(str, counts)])
    header = ["article", "examples", "reproduced", "left out", "printed numbers", "wrong or not repeatable"]
    return markdown_table(lines, header, right=header[1:])


TITLES = {
    "case": "example",
    "variant": "definition",
    "code": "its code gives",
    "note": "why",
}
"""Columns of results.csv with another title on the page."""


def _table(rows: Sequence[Row], *names: str, right: Sequence[str] = ()) -> str:
    return table(rows, {name: TITLES.get(name, name) for name in names}, right)


def _wrong_prints(rows: Sequence[Row]) -> str:
    wrong = [
        row | {"why": "; ".join(filter(None, (row["print"], row["note"])))} for row in _wrongly_printed(rows)
    ]
    names = ("article", "case", "printed", "code", "ours", "why")
    return _table(wrong, *names, right=("printed", "its code gives", "ours"))


def _every(article: str, rows: Sequence[Row]) -> str:
    names = ("case", "variant", "printed", "code", "ours", "verdict")
    right = ("printed", "its code gives", "ours")
    return folded(article, _table(where(rows, article=article), *names, right=right))
