"""Digests of the files that define a user's own classes, since only recgauge's have a numeric version."""

import inspect
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hydra.utils import get_object


def foreign_sources(settings: Any) -> dict[str, str]:
    """Return ``{target: digest of its file}`` of every ``_target_`` outside recgauge.

    Parameters
    ----------
    settings : Any
        The resolved configuration.

    Notes
    -----
    What the file imports is not looked at. A class without a file, such as a compiled one, has the text
    "no source" for a digest. A target that cannot be imported is left to the message of `compose`.
    """
    return {target: _digest(target) for target in sorted(set(_targets(settings)))}


def _targets(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        target = node.get("_target_")
        if isinstance(target, str) and not target.startswith("recgauge."):
            yield target
        for value in node.values():
            yield from _targets(value)
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from _targets(value)


def _digest(target: str) -> str:
    try:
        path = inspect.getsourcefile(get_object(target))
    except Exception:  # whatever importing a user's module raises
        return "not importable"
    return "no source" if path is None else sha256(Path(path).read_bytes()).hexdigest()
