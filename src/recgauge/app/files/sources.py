"""Digests of what a run reads besides its data: the user's own classes, and files that settings name."""

import glob
import inspect
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from recgauge.app.files.artifacts import file_digest
from recgauge.app.targets import allowed_packages, find_class
from recgauge.errors import ConfigError
from recgauge.runs.settings import free_settings
from recgauge.utils.files import user_path

FILE_SETTINGS = ("path", "test", "validation", "train")
"""Settings of recgauge's own components that name files."""


def read_beside(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of classes outside recgauge, whose version nobody keeps, and of named files.

    Parameters
    ----------
    settings : mapping of str to Any
        The resolved configuration.

    Returns
    -------
    dict of str to str
        By ``_target_``, the digest of the file that defines the class; by path, the digest of the file.

    Notes
    -----
    What a class's file imports is not looked at. A class without a file, such as a compiled one, has the
    text "no source" for a digest. Files of the data set are left to its own digest. A text among the other
    settings names a file if it is the value of a setting for files (`FILE_SETTINGS`), or if it looks like a
    path, with a folder or an ending: a file that happens to be called ``train`` changes nothing.
    """
    counted = {key: node for key, node in settings.items() if key not in free_settings()}
    texts = list(_texts({key: node for key, node in counted.items() if key != "dataset"}))
    files = sorted({path for text in texts for path in _files(text)})
    packages = allowed_packages(settings.get("allowed_targets", ()))
    return {target: _source_digest(target, packages) for target in sorted(set(_targets(counted)))} | {
        path: file_digest(Path(path)) for path in files
    }


def _targets(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        target = node.get("_target_")
        if isinstance(target, str) and not target.startswith("recgauge."):
            yield target
    for part in _parts(node):
        yield from _targets(part)


def _texts(node: Any, key: str = "") -> Iterator[str]:
    """Yield the texts that may name files; the parts of a list are under the list's key."""
    if isinstance(node, str) and (key in FILE_SETTINGS or Path(node).suffix or Path(node).name != node):
        yield node
    elif isinstance(node, Mapping):
        for name, part in node.items():
            yield from _texts(part, str(name))
    else:
        for part in _parts(node):
            yield from _texts(part, key)


def _parts(node: Any) -> list[Any]:
    if isinstance(node, Mapping):
        return list(node.values())
    return list(node) if isinstance(node, (list, tuple)) else []


def _files(text: str) -> list[str]:
    path = user_path(text)
    try:
        found = [str(path)] if path.is_file() else glob.glob(str(path)) if glob.has_magic(text) else []  # noqa: PTH207
    except (OSError, ValueError):  # too long for a name, or no text that a path may be
        return []
    return [name for name in found if Path(name).is_file()]


def _source_digest(target: str, packages: Sequence[str]) -> str:
    try:
        path = inspect.getsourcefile(find_class(target, "", packages))
    except (ConfigError, TypeError, OSError):  # compose says what is wrong; compiled classes have no file
        return "not importable"
    return "no source" if path is None else sha256(Path(path).read_bytes()).hexdigest()
