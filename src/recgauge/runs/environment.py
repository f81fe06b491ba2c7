"""What a run's numbers may depend on beyond its settings: versions, machine, commit, code and files."""

import glob
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from getpass import getuser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import recgauge
from recgauge._version import NUMERIC_VERSION, __version__
from recgauge.datasets.prepared import digests_of
from recgauge.datasets.table import join_digests
from recgauge.errors import ConfigError
from recgauge.files.columns import Roles
from recgauge.files.stored import find_stored, is_stored
from recgauge.models import adapters
from recgauge.runs.folder import file_digest
from recgauge.runs.settings import NUMERIC, fingerprint, part
from recgauge.runs.sources import is_own, own_sources, sources_of
from recgauge.runs.targets import TARGET, allowed_packages, find_class
from recgauge.utils.files import user_number, user_path

CHECKOUT = Path(recgauge.__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "hydra-core", "omegaconf", "mlflow")
FILE_SETTINGS = ("path", "test", "validation", "train")
"""Settings of recgauge's own components that name files."""


def environment() -> dict[str, Any]:
    """Return versions, machine and the commit of recgauge's own checkout, None where it is installed.

    All jobs of a process run the code that it began with, whatever is committed meanwhile: the commit is that
    of the first call.
    """
    from llvmlite.binding import get_host_cpu_name
    from threadpoolctl import threadpool_info

    commit, dirty = _commit()
    blas = {
        f"{library['internal_api']} {library.get('architecture') or ''}".strip()
        + f", threads: {library['num_threads']}"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return {
        "recgauge": __version__,
        "numeric_version": NUMERIC_VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "n_cpus": os.cpu_count(),
        # the CPU that numba compiles for, BLAS's kernels and threads: each may change last digits
        "kernels": {"numba": get_host_cpu_name(), "blas": "; ".join(sorted(blas))},
        "packages": {name: _version(name) for name in PACKAGES},
        "git_commit": commit,
        "git_dirty": dirty,
    }


@cache
def _commit() -> tuple[str | None, bool | None]:
    """Return the commit of recgauge's own checkout, and whether files differ from it."""
    commit = _git("rev-parse", "HEAD")
    return commit, None if commit is None else bool(_git("status", "--porcelain"))


def environment_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `environment` and what else a run with these settings depends on.

    These are ``sources`` (`read_beside`), and the library that trains the model among ``packages``.
    """
    facts = dict(environment()) | {"sources": read_beside(settings)}
    return facts | {"packages": facts["packages"] | _trained_by(settings.get("model"))}


def user_name() -> str:
    """Return the user's name; the number where the system has none, as in containers."""
    try:
        return getuser()
    except (ImportError, KeyError, OSError):  # which one depends on Python's version and the system
        return str(user_number())


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    if not (CHECKOUT / ".git").exists():
        return None
    try:
        command = ["git", "-C", str(CHECKOUT), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def read_beside(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of recgauge's sources, of those of other classes, and of named files.

    Beside them stands the version of the library that trains a model of `recgauge.models.adapters`. Those of
    libraries in environments of their own are pinned in recgauge's sources.

    Notes
    -----
    `recgauge.runs.sources` says what the sources of a class are. Files of the data set are left to its own
    digest. A text among the other settings names a file if it is the value of a setting for files
    (`FILE_SETTINGS`), or if it looks like a path, with a folder or an ending: a file that happens to be
    called ``train`` changes nothing. A folder or an address that recgauge's own model or split reads has one
    digest, of those of its Parquet files in the order of their names; where it cannot be read that is a
    DataError.
    """
    numeric = part(settings, *NUMERIC)
    elsewhere = {key: node for key, node in numeric.items() if key != "dataset"}
    files = {path for key, text in _texts(elsewhere) for path in _files(key, text)}
    targets = {text for key, text in _texts(numeric) if key == TARGET and not is_own(text)}
    packages = allowed_packages(settings.get("allowed_targets", ()))
    stored = {
        text: join_digests(digests_of(find_stored(text, Roles({}, ()), key).files))
        for node in (numeric.get("model"), numeric.get("split"))
        if isinstance(node, Mapping) and str(node.get(TARGET)).startswith("recgauge.")
        for key, text in _texts(node)
        if key in FILE_SETTINGS and is_stored(text)
    }
    digests = {"recgauge": own_sources()}
    for target in sorted(targets):
        try:
            digests[target] = sources_of(find_class(target, "", packages))
        except ConfigError:  # compose says what is wrong
            digests[target] = "not importable"
    digests |= {path: file_digest(Path(path)) for path in sorted(files)} | stored
    return digests | _trained_by(numeric.get("model"))


def fingerprint_of(settings: Mapping[str, Any], data_sha256: str) -> str:
    """Return the fingerprint of a run, with the files beside its data as they are now."""
    return fingerprint(settings, data_sha256, NUMERIC_VERSION, read_beside(settings))


def _trained_by(model: Any) -> dict[str, str]:
    """Return the installed library that trains a model, with its version; empty where compose refuses it."""
    target = str(model.get(TARGET)) if isinstance(model, Mapping) else ""
    if not target.startswith(f"{adapters.__name__}."):
        return {}
    try:
        name = getattr(find_class(target, f"model.{TARGET}", allowed_packages(())), "library", "")
    except ConfigError:
        return {}
    return {name: str(_version(name))}


def _texts(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield all texts with their keys; the parts of a list are under the list's key."""
    if isinstance(node, str):
        yield key, node
    elif isinstance(node, Mapping):
        for name, part in node.items():
            yield from _texts(part, str(name))
    elif isinstance(node, (list, tuple)):
        for part in node:
            yield from _texts(part, key)


def _files(key: str, text: str) -> list[str]:
    if key not in FILE_SETTINGS and not Path(text).suffix and Path(text).name == text:
        return []
    path = user_path(text)
    try:
        files = [str(path)] if path.is_file() else glob.glob(str(path)) if glob.has_magic(text) else []  # noqa: PTH207
    except (OSError, ValueError):  # too long for a name, or no text that a path may be
        return []
    return [name for name in files if Path(name).is_file()]
