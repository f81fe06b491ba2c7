"""What a paper must cite: read from docstrings and data cards, where each source is said once."""

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from recgauge.errors import ConfigError
from recgauge.metrics import metric_class
from recgauge.runs.record import RunRecord
from recgauge.runs.targets import TARGET, find_class


def section_of(text: str, title: str) -> str:
    """Return the content of a section of a docstring, empty if there is none."""
    start = re.search(rf"^{title}\n-+\n", text, re.MULTILINE)
    if not start:
        return ""
    rest = text[start.end() :]
    end = re.search(r"^\w[\w ]*\n-{3,}\n", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def sources_of(document: str | None) -> list[str]:
    """Return the sources that a docstring names under References."""
    text = section_of(inspect.cleandoc(document or ""), "References")
    parts = re.split(r"^\.\. \[\d+\] ", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in parts if part.strip()]


def model_class(settings: Mapping[str, Any]) -> type | None:
    """Return the class of a run's model if it is one of recgauge's own; nothing else is imported."""
    try:
        return find_class((settings.get("model") or {}).get(TARGET), "model", ("recgauge.models",))
    except ConfigError:
        return None


def cited(records: Iterable[RunRecord], citations: Iterable[str | None]) -> list[str]:
    """Return the sources of data sets, models and metrics, each once."""
    known = list(records)
    models = dict.fromkeys(model_class(record.settings) for record in known)
    metrics = dict.fromkeys(metric_class(entry.name) for record in known for entry in record.results)
    kinds = [kind for kind in (*models, *metrics) if kind is not None]
    sources = [*filter(None, citations), *(source for kind in kinds for source in sources_of(kind.__doc__))]
    return list(dict.fromkeys(sources))
