"""Reads a report as a browser does, as far as tests need it: elements that close, ids, headings, tables."""

from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
LOADS = {"src", "srcset", "data", "action", "background", "poster", "xlink:href"}


class Page(HTMLParser):
    """What is in a page; `problems` is empty if it is as it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self.problems: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.elements: list[str] = []
        self.pictures: list[str] = []
        self._ids: list[str] = []
        self._targets: list[str] = []
        self._open: list[str] = []
        self._caption = ""
        self.feed(text)
        self.close()
        self.problems += [f"not closed: {tag}" for tag in self._open]
        self.problems += [f"id twice: {one}" for one in set(self._ids) if self._ids.count(one) > 1]
        self.problems += [f"link to nowhere: {one}" for one in self._targets if one[1:] not in self._ids]
        levels = [level for level, _ in self.headings]
        if levels.count(1) != 1 or any(b > a + 1 for a, b in pairwise(levels)):
            self.problems.append(f"headings: {levels}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.headings.append((int(tag[1]), ""))
        elif tag == "caption":
            self._caption = ""
        elif tag == "tr":
            self.tables.setdefault(self._caption, []).append([])
        elif tag in ("th", "td"):
            self.tables[self._caption][-1].append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        for name, value in attrs:
            if name in LOADS or name.startswith("on"):
                self.problems.append(f"{tag} has {name}")
            if name in ("id", "href"):
                (self._ids if name == "id" else self._targets).append(str(value))
        if ("role", "img") in attrs:
            self.pictures.append(dict(attrs)["aria-label"] or "")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"{tag} closes what is not open")

    def handle_data(self, data: str) -> None:
        where = set(self._open)
        if "style" in where and ("url(" in data or "@import" in data):
            self.problems.append("a style loads something")
        if {"h1", "h2", "h3"} & where:
            self.headings[-1] = (self.headings[-1][0], self.headings[-1][1] + data)
        if "caption" in where:
            self._caption += data
        elif {"th", "td"} & where and data.strip():
            cell = self.tables[self._caption][-1][-1]
            if self.elements[-1] == "wbr" and cell:
                cell[-1] += data.strip()
            else:
                cell.append(data.strip())


def read_page(path: Path) -> Page:
    """Return a page that was written to a file."""
    return Page(path.read_text(encoding="utf-8"))
