"""What a run's numbers may depend on beyond its configuration: versions, machine, commit; and who ran it."""

import os
import platform
import subprocess
from functools import cache
from getpass import getuser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import recgauge
from recgauge._version import NUMERIC_VERSION, __version__
from recgauge.utils.files import user_number

CHECKOUT = Path(recgauge.__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "hydra-core", "omegaconf", "mlflow")


@cache
def environment() -> dict[str, Any]:
    """Return versions, machine and the commit of recgauge's own checkout, None where it is installed.

    Looked up once: all jobs of a process run the code that it began with, whatever is committed meanwhile.
    """
    commit = _git("rev-parse", "HEAD")
    return {
        "recgauge": __version__,
        "numeric_version": NUMERIC_VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "n_cpus": os.cpu_count(),
        "packages": {name: _version(name) for name in PACKAGES},
        "git_commit": commit,
        "git_dirty": None if commit is None else bool(_git("status", "--porcelain")),
    }


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
