"""Digests of what a run reads beside its data set: the user's own classes, and files that settings name."""

import glob
import inspect
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from recgauge.app.targets import allowed_packages, find_class
from recgauge.datasets._fetch.verify import digest_of
from recgauge.errors import ConfigError
from recgauge.fingerprints import FREE_SETTINGS


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
    text "no source" for a digest. Every text among the settings that names a file, or a pattern of files,
    counts as one; those of the data set are left to its own digest.
    """
    counted = {key: node for key, node in settings.items() if key not in FREE_SETTINGS}
    texts = list(_texts({key: node for key, node in counted.items() if key != "dataset"}))
    files = sorted({path for text in texts for path in _files(text)})
    packages = allowed_packages(settings.get("allowed_targets", ()))
    return {target: _source_digest(target, packages) for target in sorted(set(_targets(counted)))} | {
        path: _file_digest(path) for path in files
    }


def _targets(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        target = node.get("_target_")
        if isinstance(target, str) and not target.startswith("recgauge."):
            yield target
    for part in _parts(node):
        yield from _targets(part)


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for part in _parts(node):
        yield from _texts(part)


def _parts(node: Any) -> list[Any]:
    if isinstance(node, Mapping):
        return list(node.values())
    return list(node) if isinstance(node, (list, tuple)) else []


def _files(text: str) -> list[str]:
    path = Path(text).expanduser()
    try:
        found = [str(path)] if path.is_file() else glob.glob(str(path)) if glob.has_magic(text) else []  # noqa: PTH207
    except (OSError, ValueError):  # too long for a name, or no text that a path may be
        return []
    return [name for name in found if Path(name).is_file()]


def _file_digest(path: str) -> str:
    with Path(path).open("rb") as stream:
        return digest_of(stream)


def _source_digest(target: str, packages: Sequence[str]) -> str:
    try:
        path = inspect.getsourcefile(find_class(target, "", packages))
    except (ConfigError, TypeError, OSError):  # compose says what is wrong; compiled classes have no file
        return "not importable"
    return "no source" if path is None else sha256(Path(path).read_bytes()).hexdigest()
