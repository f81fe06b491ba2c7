"""docs/metrics.md says what the code says."""

import re
from pathlib import Path

from metrics_page import metrics_page

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == metrics_page(), "run: make docs"


def test_every_link_of_the_contents_leads_to_a_heading():
    text = metrics_page()
    headings = [line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")]
    anchors = {re.sub(r"[^\w\s-]", "", heading).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert len(links) > 60
    assert set(links) <= anchors
