"""docs/metrics.md says what the code says."""

from pathlib import Path

from recgauge.report.metric_docs import metric_docs

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == metric_docs(), "run: make docs"


def test_page_has_formula_parameters_and_source_of_each_metric() -> None:
    text = metric_docs()
    assert text.count("$$\n") >= 2 * 12
    assert "- `denominator` ({" in text
    assert "Source: K. Järvelin" in text
