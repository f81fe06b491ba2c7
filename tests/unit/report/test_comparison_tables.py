"""A comparison as Markdown, LaTeX, HTML and figure: equal numbers, escaped names, best and second marked."""

import numpy as np
import pandas as pd
import pytest

from recgauge.comparison import compare
from recgauge.report.comparison_tables import interval, number
from recgauge.report.latex import escaped

NAMES = ("svd n_factors=32", "a|b_c & 50%", "<i>{x}</i>")


@pytest.fixture(scope="module")
def comparison():
    noise, users = np.random.default_rng(0).normal(0, 0.1, 80), pd.Index(range(80), name="user")
    runs = {
        name: mean + np.roll(noise, place)
        for place, (name, mean) in enumerate(zip(NAMES, (0.7, 0.6, 0.2), strict=True))
    }
    return compare(
        {name: pd.DataFrame({"ndcg@10": values}, users) for name, values in runs.items()}, n_resamples=200
    )


def test_markdown_marks_the_best_and_the_second_and_escapes_bars(comparison):
    text = comparison.to_markdown()
    best, second, _ = comparison.results[0].rows
    assert f"| svd n_factors=32 | **{number(best.mean)}** {interval(best)} a |" in text
    assert f"a\\|b_c & 50% | _{number(second.mean)}_ " in text
    assert "&lt;i>{x}&lt;/i>" in text
    assert all(claim in text for claim in comparison.claims)
    assert f"{number(best.mean)}* a" in str(comparison)
    assert comparison.claims[0] in str(comparison)


def test_latex_has_names_escaped_best_bold_second_underlined(comparison):
    text = comparison.to_latex()
    best, second, last = comparison.results[0].rows
    assert f"svd n\\_factors=32 & \\textbf{{{number(best.mean)}}} {{\\footnotesize {interval(best)}" in text
    assert f"a|b\\_c \\& 50\\% & \\underline{{{number(second.mean)}}} {{" in text
    assert f"$<$i$>$\\{{x\\}}$<$/i$>$ & {number(last.mean)} {{" in text
    assert "\\caption{3 runs, 80 users." in text
    for line in text.splitlines():
        assert line.count("{") - line.count("\\{") == line.count("}") - line.count("\\}") or "tabular" in line
    assert text.count("\\toprule") == text.count("\\bottomrule") == 2
    assert escaped("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
