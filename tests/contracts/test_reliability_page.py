"""docs/reliability.md counts the tests that there are."""

from fault_counts import COMMAND, PAGE, page_with, table


def test_the_counts_are_those_of_the_tests():
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- cases -->") == 1
    assert text == page_with(text, table()), f"the tests have changed; run: {COMMAND}"
