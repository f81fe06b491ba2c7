"""What a paper must cite, as BibTeX: read from docstrings and data cards, where each source is said once."""

import inspect
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from recgauge.errors import ConfigError
from recgauge.metrics import metric_class
from recgauge.report.latex import escaped
from recgauge.runs.record import RunRecord
from recgauge.runs.targets import TARGET, find_class
from recgauge.utils.docstrings import section_of

_NO_WORDS = ("a", "an", "the", "on", "http", "https", "www")
_QUOTED = re.compile(r'(?P<authors>.+?), "(?P<title>.+?),?",? ?(?P<rest>.*)')
_DATED = re.compile(r"(?P<authors>.+?)\. (?P<year>\d{4})\. (?P<title>.+?)\. (?P<rest>.*)")
_YEAR = re.compile(r"\b(1[89]|20)\d\d\b")
_VOLUME = re.compile(r"(?P<journal>.*[^\d,]) (?P<volume>\d+)(\(|, )?(?P<number>[\d–-]*)\)?(, (?P<more>.*))?")


Source = tuple[str, str]
"""Key and BibTeX entry of a publication."""


def source(text: str) -> Source:
    r"""Return a citation in words as BibTeX; what is no authors, title and year becomes a note.

    Examples
    --------
    >>> print(source('H. Steck, "Embarrassingly shallow autoencoders", WWW 2019.')[1])
    @inproceedings{steck2019embarrassingly,
      author = {H. Steck},
      title = {{Embarrassingly shallow autoencoders}},
      booktitle = {WWW},
      year = {2019},
    }
    >>> source("A website")[0]
    'website'
    """
    line = " ".join(text.split())
    if found := _QUOTED.fullmatch(line):
        dated = _YEAR.search(found["rest"])
        venue = found["rest"][: dated.start()] if dated else found["rest"]
        more = found["rest"][dated.end() :] if dated else ""
        fields = _fields(found["authors"], found["title"], venue, dated[0] if dated else "", more)
    elif found := _DATED.fullmatch(line):
        fields = _fields(found["authors"], found["title"], found["rest"], found["year"], "")
    else:
        fields = {"": "misc", "note": escaped(line)}
    key = _key(fields, line)
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if name and value]
    return key, "\n".join([f"@{fields['']}{{{key},", *lines, "}"])


def _fields(authors: str, title: str, venue: str, year: str, more: str) -> dict[str, str]:
    """Return the fields of an entry; its type has no name."""
    text = re.sub(r" et al\.?$", ", others", authors)
    people = filter(None, re.split(r", (?:and )?| and ", text))
    venue, note = venue.strip(" .,;"), more.strip(" .,;:")
    place = {"": "misc", "howpublished": venue, "note": note}
    if found := _VOLUME.fullmatch(venue):
        place = {"": "article", "journal": found["journal"], "volume": found["volume"]}
        place |= {"number": found["number"] or "", "note": found["more"] or note}
    elif re.fullmatch(r"[A-Z][\w@.-]*( [A-Z][\w@.-]*){0,3}", venue):
        place = {"": "inproceedings", "booktitle": venue, "note": note}
    fields = {"author": " and ".join(people), **place, "year": year}
    fields = {name: escaped(value) if name else value for name, value in fields.items()}
    return {"": fields[""], "author": fields["author"], "title": f"{{{escaped(title)}}}"} | fields


def _key(fields: Mapping[str, str], line: str) -> str:
    title = fields.get("title") or line
    words = [word for word in re.findall(r"[^\W\d_]+", title.lower()) if word not in _NO_WORDS]
    first = fields.get("author", "").partition(" and ")[0].split(" ")[-1]
    key = f"{first}{fields.get('year', '')}{words[0] if words else ''}".lower()
    return re.sub(r"[^a-z0-9]+", "", unicodedata.normalize("NFKD", key)) or "source"


def sources_of(document: str | None) -> list[Source]:
    """Return the sources that a docstring names under References."""
    text = section_of(inspect.cleandoc(document or ""), "References")
    return [source(part) for part in re.split(r"^\.\. \[\d+\] ", text, flags=re.MULTILINE) if part.strip()]


def data_sources(citation: str | None) -> list[Source]:
    """Return the sources of a data set; several are parted by semicolons, each after what it is of."""
    parts = (citation or "").split("; ")
    return [source(re.sub(r"^[^:\"]{1,40}: (?=.*\")", "", part)) for part in parts if part.strip()]


def model_class(settings: Mapping[str, Any]) -> type | None:
    """Return the class of a run's model if it is one of recgauge's own; nothing else is imported."""
    try:
        return find_class((settings.get("model") or {}).get(TARGET), "model", ("recgauge.models",))
    except ConfigError:
        return None


def cited(records: Iterable[RunRecord], citations: Iterable[str | None]) -> dict[str, list[Source]]:
    """Return what is to be cited of data sets, models and metrics; each source once, where first needed."""
    known = list(records)
    models = dict.fromkeys(kind for record in known if (kind := model_class(record.settings)) is not None)
    names = dict.fromkeys(entry.name for record in known for entry in record.results)
    metrics = [kind for name in names if (kind := metric_class(name)) is not None]
    groups = {
        "data": [source for text in dict.fromkeys(citations) for source in data_sources(text)],
        "models": [source for kind in models for source in sources_of(kind.__doc__)],
        "metrics": [source for kind in metrics for source in sources_of(kind.__doc__)],
    }
    seen: set[str] = set()
    first: dict[str, list[Source]] = {}
    for what, sources in groups.items():
        for key, entry in sources:
            if key not in seen:
                seen.add(key)
                first.setdefault(what, []).append((key, entry))
    return first
