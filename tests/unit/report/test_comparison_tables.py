"""A comparison as Markdown, LaTeX, HTML and figure: equal numbers, escaped names, best and second marked."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recgauge.comparison import Procedure, RunGroup, RunValues, UserValues, compare_values
from recgauge.report.comparison_tables import interval, number
from recgauge.report.latex import escaped
from recgauge.runs.finished import FinishedRun
from records import record_with

NAMES = ("svd n_factors=32", "a|b_c & 50%", "<i>{x}</i>")


@pytest.fixture(scope="module")
def comparison():
    noise = np.random.default_rng(0).normal(0, 0.1, 80)
    users = np.arange(80)
    runs = {
        name: RunValues(users, {"ndcg_at_10": value + np.roll(noise, place)})
        for place, (name, value) in enumerate(zip(NAMES, (0.7, 0.6, 0.2), strict=True))
    }
    record = record_with(seconds={"fit": 1.25, "recommend": 0.5}, memory={"peak_bytes": 200_000_000})
    groups = {("d_1", NAMES[0]): RunGroup((FinishedRun(record, Path()),), ())}
    compared = compare_values([UserValues.of(runs, dataset="d_1")], Procedure(n_resamples=200))
    return replace(compared, groups=groups)


def test_markdown_marks_the_best_and_the_second_and_escapes_bars(comparison):
    text = comparison.to_markdown()
    best, second, _ = comparison.results[0].rows
    assert f"| svd n_factors=32 | **{number(best.mean)}** {interval(best)} a | 1.25 | 0.50 | 200.0 |" in text
    assert f"a\\|b_c & 50% | _{number(second.mean)}_ " in text
    assert "&lt;i>{x}&lt;/i>" in text
    assert "model MB" not in text, "no run says it"
    assert all(claim in text for claim in comparison.claims)
    assert f"{number(best.mean)}* a" in str(comparison)
    assert comparison.claims[0] in str(comparison)


def test_latex_has_names_escaped_best_bold_second_underlined(comparison):
    text = comparison.to_latex()
    best, second, last = comparison.results[0].rows
    assert f"svd n\\_factors=32 & \\bfseries {number(best.mean)} & {{\\footnotesize {interval(best)}" in text
    assert f"a|b\\_c \\& 50\\% & {{\\underline{{{number(second.mean)}}}}} &" in text
    assert f"$<$i$>$\\{{x\\}}$<$/i$>$ & {number(last.mean)} &" in text
    assert "\\caption{d\\_1: 3 runs, 80 users." in text
    for line in text.splitlines():
        assert line.count("{") - line.count("\\{") == line.count("}") - line.count("\\}") or "tabular" in line
    assert text.count("\\toprule") == text.count("\\bottomrule") == 2
    assert escaped("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
