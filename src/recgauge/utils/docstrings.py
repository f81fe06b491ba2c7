"""Reads what docstrings say."""

import re


def section_of(text: str, title: str) -> str:
    """Return the content of a section of a docstring, empty if there is none."""
    start = re.search(rf"^{title}\n-+\n", text, re.MULTILINE)
    if not start:
        return ""
    rest = text[start.end() :]
    end = re.search(r"^\w[\w ]*\n-{3,}\n", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest
