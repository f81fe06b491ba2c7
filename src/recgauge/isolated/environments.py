"""Environments of other libraries in the cache folder: made whole or not at all, found, listed, removed."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from recgauge.errors import ConfigError, MissingDataError, MissingLibraryError
from recgauge.isolated import LIBRARIES, Library, library_of
from recgauge.isolated.installing import checked_interpreter, fill, interpreter_in
from recgauge.utils.files import cache_folder, exclusive
from recgauge.utils.progress import Progress

ABOUT = "environment.json"
"""Says what is in an environment; written last, so that one without it is never used."""
TOLD = ("torch", "numpy")
"""Packages whose versions stand beside the library's own."""


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment that can be used."""

    library: str
    folder: Path
    python: str
    packages: Mapping[str, str] = field(default_factory=dict)
    requirements_sha256: str = ""

    @property
    def interpreter(self) -> Path:
        """Its Python."""
        return interpreter_in(self.folder)

    def versions(self) -> dict[str, str]:
        """Return the versions of the library, of what its numbers hang on, and of Python."""
        named = {name: self.packages[name] for name in (self.library, *TOLD) if name in self.packages}
        return named | {"python": self.python}

    def identity(self) -> str:
        """Return one line that differs between environments that may give other numbers."""
        digest = sha256(json.dumps([self.python, dict(self.packages)], sort_keys=True).encode()).hexdigest()
        return f"{', '.join(f'{name} {one}' for name, one in self.versions().items())}; packages {digest}"


def environments_folder() -> Path:
    """Return the folder of all environments, below ``RECGAUGE_CACHE`` or the user's own cache folder.

    What lies there is run as a program, so no setting says where it is: settings can come from a stranger.
    """
    return cache_folder(os.environ.get("RECGAUGE_CACHE") or None).absolute() / "environments"


def find_environment(name: str) -> Environment:
    """Return the environment of a library."""
    library = library_of(name)
    folder = environments_folder() / name
    state = _state(library, folder)
    if isinstance(state, Environment):
        return state
    again = "" if state == "missing" else " --again"
    raise MissingLibraryError(
        f"{library.called} needs an environment of its own, and {_STATES[state].format(folder=folder)}. "
        f"Make it once: recgauge env make {name}{again}"
    )


def make_environment(
    name: str, progress: Progress, *, python: str | None = None, again: bool = False
) -> tuple[Environment, bool]:
    """Make the environment of a library; leave alone one that is there and as it should be."""
    library, root = library_of(name), environments_folder()
    interpreter = checked_interpreter(library, python)
    with _locked(root, name, progress):
        folder = root / name
        state = _state(library, folder)
        if isinstance(state, Environment) and not again:
            return state, False
        for left in root.glob(f".*-{name}-*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        progress.note(f"{library.called} goes to {folder} ({library.space}); this takes some minutes.")
        hidden = Path(mkdtemp(prefix=f".making-{name}-", dir=root))
        try:
            digest = {"library": name, "requirements_sha256": library.requirements_sha256()}
            about = digest | fill(library, hidden, interpreter, progress)
            (hidden / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
            _clear(folder)
            hidden.rename(folder)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
    return find_environment(name), True


def remove_environment(name: str, progress: Progress) -> Path:
    """Remove the environment of a library, whatever state it is in; return where it was."""
    library_of(name)
    root = environments_folder()
    if not (root / name).exists():
        raise ConfigError(f"env: there is no environment of {name} in {root}; nothing was removed.")
    with _locked(root, name, progress):
        _clear(root / name)
    return root / name


def every_state() -> dict[str, Environment | str]:
    """Return the environment of every library, or why there is none: missing, broken or outdated."""
    root = environments_folder()
    return {name: _state(library, root / name) for name, library in LIBRARIES.items()}


def size_of(folder: Path) -> int:
    """Return the bytes that a folder's files take."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


_STATES = {
    "missing": "it is not in {folder}",
    "broken": "that in {folder} cannot be used (its Python or its files are gone)",
    "outdated": "that in {folder} was made from other versions of packages",
}


def _state(library: Library, folder: Path) -> Environment | str:
    if not folder.is_dir():
        return "missing"
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        found = Environment(folder=folder, **about)
    except (OSError, ValueError, TypeError):
        return "broken"
    if not found.interpreter.exists():  # its base Python is gone
        return "broken"
    return found if found.requirements_sha256 == library.requirements_sha256() else "outdated"


@contextmanager
def _locked(root: Path, name: str, progress: Progress) -> Iterator[None]:
    """Hold the environment of a library; an error of files names the folder."""
    waiting = partial(progress.note, f"another process makes or removes the environment of {name}; waiting")
    try:
        root.mkdir(parents=True, exist_ok=True)
        with exclusive(root / f"{name}.lock", waiting):
            yield
    except OSError as error:
        raise MissingDataError(
            f"env: the environment of {name} cannot be kept in {root}: {error.strerror or error}. Let "
            "RECGAUGE_CACHE name another cache folder."
        ) from error


def _clear(folder: Path) -> None:
    """Remove a folder so that nobody finds a half of it."""
    if folder.exists():
        aside = Path(mkdtemp(prefix=f".removed-{folder.name}-", dir=folder.parent)) / "old"
        folder.rename(aside)
        shutil.rmtree(aside.parent, ignore_errors=True)
